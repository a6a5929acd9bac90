import { firstBan } from './first-ban.ts'

firstBan('desktop')
