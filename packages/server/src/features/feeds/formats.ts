import type { FeedFormat } from '@stockade/contract'

/** What a feed holds, in canonical form and in the order of addresses. Entries do not overlap. */
export interface Entries {
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
}

type Render = (entries: Entries, set: string) => string

const lines = (texts: readonly string[]): string => (texts.length === 0 ? '' : `${texts.join('\n')}\n`)
const each =
  (line: (entry: string) => string): Render =>
  ({ ipv4, ipv6 }) =>
    lines([...ipv4, ...ipv6].map(line))
const withPrefix = (entry: string): string =>
  entry.includes('/') ? entry : `${entry}/${entry.includes(':') ? 128 : 32}`

/** A script for `nft -f`: one transaction. Rules of the table and what else it holds stay. */
const nft: Render = ({ ipv4, ipv6 }, table) => {
  const set = (name: string, type: string, entries: readonly string[]) => [
    `add set inet ${table} ${name} { type ${type}; flags interval; }`,
    `flush set inet ${table} ${name}`,
    ...(entries.length > 0 ? [`add element inet ${table} ${name} {`, `  ${entries.join(',\n  ')}`, '}'] : []),
  ]
  return lines([`add table inet ${table}`, ...set('banned4', 'ipv4_addr', ipv4), ...set('banned6', 'ipv6_addr', ipv6)])
}

/** For `ipset restore -exist`: the new set is filled beside the old one, and they change places. */
const ipset: Render = ({ ipv4, ipv6 }, set) => {
  const one = (name: string, family: string, entries: readonly string[]) => {
    const options = `hash:net family ${family} maxelem 262144`
    return [
      `create ${name} ${options}`,
      `create ${name}-new ${options}`,
      `flush ${name}-new`,
      ...entries.map(entry => `add ${name}-new ${entry}`),
      `swap ${name}-new ${name}`,
      `destroy ${name}-new`,
    ]
  }
  return lines([...one(`${set}4`, 'inet', ipv4), ...one(`${set}6`, 'inet6', ipv6)])
}

/** A script for RouterOS: the list is emptied and filled again. */
const mikrotik: Render = ({ ipv4, ipv6 }, list) => {
  const one = (menu: string, entries: readonly string[]) => [
    `/${menu} firewall address-list remove [find list="${list}"]`,
    ...entries.map(entry => `/${menu} firewall address-list add list="${list}" address=${entry}`),
  ]
  return lines([...one('ip', ipv4), ...one('ipv6', ipv6)])
}

const texts: Readonly<Record<Exclude<FeedFormat, 'json'>, Render>> = {
  plain: each(entry => entry),
  cidr: each(withPrefix),
  nft,
  ipset,
  nginx: each(entry => `deny ${entry};`),
  apache: each(entry => `Require not ip ${entry}`),
  haproxy: each(entry => `${entry} 1`),
  mikrotik,
  pf: each(entry => entry),
}

/** The text of a feed in a format for programs. */
export const renderFeed = (format: Exclude<FeedFormat, 'json'>, entries: Entries, set: string): string =>
  texts[format](entries, set)
