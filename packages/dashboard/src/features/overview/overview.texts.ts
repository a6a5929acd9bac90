import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })
const jails = (count: number) => plural(count, { one: '1 jail', other: `${number(count)} jails` })

const en = {
  title: 'Overview',
  wall: 'Wall view',
  what: 'the statistics',
  whatTop: 'the most frequent networks and addresses',
  whatAttacking: 'the attackers',
  whatFleet: 'the servers',
  key: (period: string) => `Show the last ${period}`,
  protection: 'Protection',
  sentence: {
    all: (count: number) =>
      plural(count, { one: 'Your server is protected', other: `All ${number(count)} servers protected` }),
    some: (well: string, all: string, count: number) =>
      plural(count, { one: 'Your server is not protected', other: `${well} of ${all} servers protected` }),
    unknown: (count: number) =>
      plural(count, {
        one: 'Waiting for the first report of your server',
        other: `Waiting for the first reports of ${number(count)} servers`,
      }),
  },
  exceptions: {
    unprotected: (count: number) => `${number(count)} unprotected`,
    degraded: (count: number) => `${number(count)} degraded`,
    offline: (count: number) => `${number(count)} offline`,
    unknown: (count: number) => `${number(count)} unknown`,
    pending: (count: number) => `${number(count)} pending`,
  },
  holds: 'What is banned does not get through.',
  problems: 'Servers that need attention',
  moreProblems: (count: number) => plural(count, { one: '1 more server', other: `${number(count)} more servers` }),
  offlineReason: 'No sign of life. Bans that are in its firewall hold; nothing new reaches it.',
  since: 'since',
  viewServer: 'View server',
  viewServerNamed: (name: string) => `View server ${name}`,
  figures: {
    bans: (period: string) => `Bans, last ${period}`,
    now: 'Banned now',
    nowUnit: (count: number) => plural(count, { one: 'ban', other: 'bans' }),
    you: 'Your address',
  },
  change: {
    same: 'as before',
    more: (percent: string) => `${percent} more`,
    less: (percent: string) => `${percent} fewer`,
    none: 'hardly any before',
    manifold: (times: string) => `${times} times as many`,
  },
  attacking: 'Attacking now',
  attackers: (count: number, shown: string) =>
    plural(count, { one: '1 address in 15 min', other: `${shown} addresses in 15 min` }),
  quietNow: 'No address was banned in the last 15 minutes.',
  hours: (shown: string, count: number) =>
    plural(count, { one: '1 ban in 24 hours', other: `${shown} bans in 24 hours` }),
  bansOf: (count: number, shown: string) => plural(count, { one: '1 ban', other: `${shown} bans` }),
  onServers: (count: number, shown: string) => plural(count, { one: '1 server', other: `${shown} servers` }),
  free: 'not banned',
  banned: (count: number) => plural(count, { one: 'banned on 1 server', other: `banned on ${number(count)} servers` }),
  askOperator: 'An operator can lift it.',
  whitelisted: 'whitelisted',
  chart: 'Bans over time',
  tops: { label: 'Most bans by', jails: 'Jails', countries: 'Countries', networks: 'Networks', servers: 'Servers' },
  others: {
    jails: (count: number) => plural(count, { one: 'Other, 1 jail', other: `Other, ${number(count)} jails` }),
    countries: (count: number) =>
      plural(count, { one: 'Other, 1 country', other: `Other, ${number(count)} countries` }),
    any: 'Other',
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
  allBans: 'All',
  map: (period: string) => `Where the bans of the last ${period} came from`,
  showMap: 'Show the map',
  emptyTitle: 'No servers yet',
  empty:
    'Stockade shows and controls the bans of your servers. Each one runs a small agent beside fail2ban. Adding one takes a name here and one command there.',
  emptyForOthers: 'No server was added yet, or you have access to none. Ask an admin.',
  add: 'Add a server',
}
export const overviewTexts: Catalogue<typeof en> = { name: 'overview', en }
