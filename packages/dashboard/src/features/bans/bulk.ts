import { api } from '../../api/client.ts'
import { paced } from '../../api/paced.ts'
import type { Ban } from '../../api/queries.ts'
import type { Attacker } from './attackers-list.ts'
import { groupsOf } from './bulk-rows.ts'
import { attackersQueryOf, matchQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { light, mostAtOnce } from './selection.ts'

const pageSize = 100
/**
 * All that match at this moment, the newest first, `mostAtOnce` at most. Read from the last page to the first: what drops
 * out meanwhile moves rows to pages that are still to be read, so that none is missed.
 */
export const collect = async (
  search: BansSearch,
  total: number,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<readonly Ban[]> => {
  const now = Date.now()
  const query = { ...matchQueryOf(search, now), to: search.to ?? new Date(now).toISOString() }
  const last = Math.ceil(Math.min(total, mostAtOnce) / pageSize)
  const pages = Array.from({ length: last }, (_, index) => last - index)
  const banById = new Map<number, Ban>()
  await paced(pages, signal, async page => {
    const { bans } = await api.call('GET /bans', { query: { ...query, page, limit: pageSize }, signal })
    for (const ban of bans) banById.set(ban.id, light(ban))
    onRead(banById.size)
  })
  return [...banById.values()].sort((a, b) => b.id - a.id).slice(0, mostAtOnce)
}

/** The bans of these addresses, whatever the list is narrowed to; `active`: only those in force. */
export const collectOf = async (
  ips: readonly string[],
  active: boolean,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<readonly Ban[]> => {
  const to = new Date().toISOString()
  const banById = new Map<number, Ban>()
  await paced(groupsOf(ips), signal, async group => {
    const q = `${active ? 'state:active ' : ''}ip:${group.join(',')}`
    const read = async (page: number) => {
      const { bans, total } = await api.call('GET /bans', { query: { q, to, page, limit: pageSize }, signal })
      for (const ban of bans) banById.set(ban.id, light(ban))
      onRead(banById.size)
      return total
    }
    // From the last page to the first: a ban that ends meanwhile moves rows to pages that are still to be read.
    const last = Math.ceil(Math.min(await read(1), mostAtOnce) / pageSize)
    if (last > 1) for (let page = last; page >= 1 && banById.size < mostAtOnce; page--) await read(page)
  })
  return [...banById.values()].sort((a, b) => b.id - a.id).slice(0, mostAtOnce)
}

/** All attackers that match, in the order of the list, `mostAtOnce` at most. */
export const collectAttackers = async (
  search: BansSearch,
  total: number,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<readonly Attacker[]> => {
  const now = Date.now()
  const query = { ...attackersQueryOf(search, now), to: search.to ?? new Date(now).toISOString() }
  const pages = Array.from({ length: Math.ceil(Math.min(total, mostAtOnce) / pageSize) }, (_, index) => index + 1)
  const attackerByIp = new Map<string, Attacker>()
  await paced(pages, signal, async page => {
    const { attackers } = await api.call('GET /bans/attackers', { query: { ...query, page, limit: pageSize }, signal })
    for (const attacker of attackers) attackerByIp.set(attacker.ip, attacker)
    onRead(attackerByIp.size)
  })
  return [...attackerByIp.values()].slice(0, mostAtOnce)
}
