import { describeShieldLink } from './shield-link.ts'

/* Both drivers load the same rules; shield-link.long.test.ts repeats this with the other one. */
describeShieldLink('netlink')
