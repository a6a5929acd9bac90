import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

/** `said`: the number as it is written. */
const counted = (one: string, others: string) => (said: string, count: number) =>
  plural(count, { one: `1 ${one}`, other: `${said} ${others}` })
const servers = counted('server', 'servers')
const bans = counted('ban', 'bans')

const en = {
  what: 'the attackers',
  show: 'Show',
  attackers: 'Attackers',
  single: 'Single bans',
  count: counted('attacker', 'attackers'),
  bans,
  bannedNow: (said: string, count: number) =>
    plural(count, { one: '1 address banned now', other: `${said} addresses banned now` }),
  sums: (ofBans: string, ofAddresses: string) => `${ofBans}, ${ofAddresses}`,
  drag: 'Drag to choose a time range',
  columns: {
    attacker: 'Attacker',
    network: 'Network',
    why: 'Why, from the log',
    where: 'Where',
    hours: '24 hours',
    when: 'First – last',
    state: 'State',
  },
  order: 'Order',
  orders: {
    '-last': 'Newest first',
    last: 'Longest quiet first',
    '-first': 'Latest arrivals first',
    first: 'First seen first',
    '-bans': 'Most bans first',
    '-servers': 'Most servers first',
  },
  servers,
  jails: counted('jail', 'jails'),
  inHours: (said: string, count: number) =>
    count === 0 ? 'No bans in the last 24 hours' : `${bans(said, count)} in the last 24 hours`,
  between: (first: string, last: string) => `${first} – ${last}`,
  by: (name: string) => `by ${name}`,
  atMost: (left: string) => `≤ ${left}`,
  unfold: (ip: string) => `Bans of ${ip}`,
  more: (ofBans: string, onServers: string) => `${ofBans} on ${onServers}`,
  moreBans: counted('more ban', 'more bans'),
  unban: 'Unban everywhere',
  unbanOf: (ip: string) => `Unban everywhere: ${ip}`,
  copyOf: (ip: string) => `Copy ${ip}`,
  menuOf: (ip: string) => `More for ${ip}`,
  ban: 'Ban on all servers…',
  inForce: (said: string, count: number) =>
    plural(count, { one: 'with 1 active ban', other: `with ${said} active bans` }),
  selectAll: (total: string) => `Select all ${total}`,
  selectNewest: (most: string, total: string) => `Select the first ${most} of ${total} (maximum per run)`,
  reading: (read: string) => `${read} bans read`,
  views: 'Views',
  any: 'Any',
  remove: (name: string) => `Clear ${name}`,
}
export const attackersTexts: Catalogue<typeof en> = { name: 'attackers', en }
