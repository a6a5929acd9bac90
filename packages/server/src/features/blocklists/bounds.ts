import { bounds } from '@stockade/contract/limits.ts'
import { publicSharesOf } from '@stockade/contract/reach.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import type { BlocklistRow } from './blocklists.store.ts'
import type { Built, Change } from './content.ts'

/* What no list may do, whatever its source answers. */

/** The enforced lists of one server together cover at most this share of all public addresses, of either family. */
const mostOfAll = 0.25
/** Changes of so few entries are always taken: of a short list they are a large share. Their addresses are judged all the same. */
const fewEntries = 20
/** A list without a bound of its own takes ten times of what its first version covers, and at least a /12 of IPv4 and a /32 of IPv6. */
const firstBound = { times: 10, addresses: 2 ** 20, networks: 2 ** 32 } as const

const inWords = (value: number): string => value.toLocaleString('en')
const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`

export const maxAddressesAfter = (addresses: number): number =>
  Math.min(bounds.blocklists.addresses, Math.max(firstBound.addresses, addresses * firstBound.times))
export const maxNetworksAfter = (networks: number): number => Math.max(firstBound.networks, networks * firstBound.times)

/** Why a version is not applied; null if it is. */
export const refusalOf = (
  row: BlocklistRow,
  built: Pick<Built, 'entries' | 'addresses' | 'networks' | 'change'>,
  accepts: boolean,
) => {
  const { entries, addresses, networks, change } = built
  if (entries === 0) {
    // Publishers empty a list that they give up. Whoever has taken that once is not told again.
    if (row.version > 0 && (row.entries === 0 || accepts)) return null
    return row.entries > 0
      ? `The new version holds no entry, and the ${inWords(row.entries)} of the last one stay in force. If the publisher has emptied the list, look again with accept_change.`
      : 'The list holds no entry that servers may take.'
  }
  if (addresses > row.max_addresses)
    return `The new version covers ${inWords(addresses)} addresses, and the list takes ${inWords(row.max_addresses)}.`
  if (row.max_networks > 0 && networks > row.max_networks)
    return `The new version covers ${inWords(networks)} networks of IPv6, and the list takes ${inWords(row.max_networks)}.`
  return change === null || accepts ? null : changeRefusal(row.max_change, change)
}
const changeRefusal = (most: number, { longer, entries, ipv4, ipv6 }: Change): string | null => {
  if (longer > fewEntries && entries > most)
    return `The new version changes ${percent(entries)} of the entries, and the list takes ${percent(most)}.`
  if (Math.max(ipv4, ipv6) <= most) return null
  const [share, family] = ipv4 > most ? [ipv4, 'IPv4'] : [ipv6, 'IPv6']
  return `Of the ${family} addresses of the new version ${percent(share)} are new, and the list takes ${percent(most)}.`
}

type Covering = Pick<BlocklistRow, 'id' | 'mode' | 'target' | 'addresses' | 'networks'>
/**
 * Why a list must not be enforced as it is: with the other enforced lists of one of its servers, or of one that may come, it covers too much. What two
 * lists cover counts twice.
 */
export const shareRefusal = (
  targeting: Pick<Targeting, 'serversOf' | 'concerns'>,
  changed: Covering,
  all: readonly Covering[],
): string | null => {
  if (changed.mode !== 'enforce') return null
  const own = targetsOf(changed.target)
  const others = all
    .filter(({ id, mode }) => mode === 'enforce' && id !== changed.id)
    .map(row => ({ row, targets: targetsOf(row.target) }))
  const shareWith = (beside: typeof others): number => {
    const rows = [changed, ...beside.map(({ row }) => row)]
    const sum = (field: 'addresses' | 'networks') => rows.reduce((total, row) => total + row[field], 0)
    const { ipv4, ipv6 } = publicSharesOf({ ipv4: sum('addresses'), ipv6: sum('networks') })
    return Math.max(ipv4, ipv6)
  }
  const ofNewServer = others.filter(
    ({ targets }) => targets === 'all' || (own !== 'all' && [...own.tags].some(tag => targets.tags.has(tag))),
  )
  const ofServers = targeting
    .serversOf(own)
    .map(({ row }) => others.filter(({ targets }) => targeting.concerns(targets, row.no)))
  const share = Math.max(...[ofNewServer, ...ofServers].map(shareWith))
  return share <= mostOfAll
    ? null
    : `The enforced lists of a server would cover ${percent(share)} of all public addresses together. At most ${percent(mostOfAll)} are taken.`
}
