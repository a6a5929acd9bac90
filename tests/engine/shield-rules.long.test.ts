import { describeShieldRules } from './shield-rules.ts'

describeShieldRules('nft')
