import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${count} servers` })
const jails = (count: number) => plural(count, { one: '1 jail', other: `${count} jails` })

const en = {
  title: 'Overview',
  what: 'the statistics',
  whatTop: 'the most frequent networks and addresses',
  whatLast: 'the last bans',
  whatFleet: 'the servers',
  key: (period: string) => `Show the last ${period}`,
  figures: {
    bans: (period: string) => `Bans, last ${period}`,
    now: 'Banned now',
    servers: 'Servers online',
    you: 'Your address',
  },
  change: {
    same: (period: string) => `As many as in the ${period} before`,
    more: (percent: string, period: string) => `${percent} more than in the ${period} before`,
    less: (percent: string, period: string) => `${percent} fewer than in the ${period} before`,
    none: (period: string) => `None in the ${period} before`,
    manifold: (times: string, period: string) => `${times} times the ${period} before`,
  },
  of: (online: string, all: string) => `${online} of ${all}`,
  offline: (count: number) => plural(count, { one: '1 is offline', other: `${count} are offline` }),
  pending: (count: number) => plural(count, { one: '1 has not reported yet', other: `${count} have not reported yet` }),
  allWell: 'All report',
  everywhere: 'On all servers, whenever it began',
  free: 'Not banned',
  banned: (count: number) => plural(count, { one: 'Banned on 1 server', other: `Banned on ${count} servers` }),
  askOperator: 'An Operator can lift it.',
  whitelisted: 'Whitelisted',
  chart: (period: string) => `Bans of the last ${period}`,
  tops: { label: 'Most bans by', jails: 'Jails', countries: 'Countries', networks: 'Networks', addresses: 'Addresses' },
  top: {
    jails: 'Top jails',
    countries: 'Top countries',
    networks: 'Top networks',
    addresses: 'Top addresses',
  },
  unknownNetwork: 'Unknown network',
  quietTitle: (period: string) => `No bans in the last ${period}.`,
  watching: (count: number, watched: number) =>
    plural(count, {
      one: `1 server watches ${jails(watched)}.`,
      other: `${servers(count)} watch ${jails(watched)}.`,
    }),
  testBan: 'Make a test ban',
  testHelp: (server: string) =>
    `Bans 192.0.2.1, which is nobody’s address, on ${server} for 60 seconds. It shows that reports get here.`,
  testReason: 'Test from the overview',
  none: 'No bans yet.',
  fleet: 'Servers',
  last: 'Last bans',
  allBans: 'All bans',
  map: (period: string) => `Where the bans of the last ${period} came from`,
  showMap: 'Show the map',
  emptyTitle: 'No servers yet',
  empty:
    'Stockade shows and controls the bans of your servers. Each one runs a small agent beside fail2ban. Adding one takes a name here and one command there.',
  emptyForOthers: 'No server was added yet, or you have access to none. Ask an admin.',
  add: 'Add a server',
}
export const overviewTexts: Catalogue<typeof en> = { name: 'overview', en }
