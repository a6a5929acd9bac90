import { describeShieldLink } from './shield-link.ts'

describeShieldLink('nft')
