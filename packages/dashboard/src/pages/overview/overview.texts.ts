import { plural } from '../../texts/catalogue.ts'
import type { Catalogue } from '../../texts/catalogue.ts'

const en = {
  title: 'Overview',
  what: 'the statistics',
  figures: {
    bans: (period: string) => `Bans, last ${period}`,
    now: 'Banned now',
    servers: 'Servers online',
    you: 'Your address',
  },
  before: (count: string) => `${count} in the time before`,
  unique: (count: string, n: number) => (n === 1 ? '1 address' : `${count} addresses`),
  of: (online: number, all: number) => `${online} of ${all}`,
  offline: (count: number) => plural(count, { one: '1 is offline', other: `${count} are offline` }),
  pending: (count: number) => plural(count, { one: '1 has not reported yet', other: `${count} have not reported yet` }),
  allWell: 'All report',
  everywhere: 'On all servers, whenever it began',
  free: 'Not banned',
  banned: (count: number) => plural(count, { one: 'Banned on 1 server', other: `Banned on ${count} servers` }),
  whitelisted: 'Whitelisted',
  chart: 'Bans over time',
  chartOf: (period: string) => `Bans of the last ${period}`,
  jails: 'Top jails',
  countries: 'Top countries',
  none: 'No bans in this time.',
  fleet: 'Servers',
  more: (count: number) => `and ${count} more`,
  last: 'Last bans',
  allBans: 'All bans',
  emptyTitle: 'No servers yet',
  empty:
    'Stockade shows and controls the bans of your servers. Each one runs a small agent beside fail2ban. Adding one takes a name here and one command there.',
  emptyForOthers: 'No server was added yet, or you have access to none. Ask an admin.',
  add: 'Add a server',
}
export const overviewTexts: Catalogue<typeof en> = { name: 'overview', en }
