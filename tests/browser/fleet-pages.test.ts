import { selectedServers } from './fleet-pages.ts'

selectedServers('desktop')
