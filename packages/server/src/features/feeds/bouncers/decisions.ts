import { minute, second, day } from '../../../core/clock.ts'

/*
 * A decision as bouncers read it. Its end is nobody's end of a ban but a lease: a bouncer that missed a deletion drops the entry then by itself. Each
 * entry's leases end at the same time of every day, by a hash of its value, so that each process, and each after a restart, says the same.
 */

/** A lease lasts for so long. */
export const lease = day
/** Before its lease ends an entry is told again, for bouncers that then hold it for longer. */
export const leaseRenewedBefore = 10 * minute
/** Leases end together in slices of so long. */
export const leaseSlice = 10 * second
/** Texts are kept for so long; a lease in a text ends earlier by that. */
export const textKept = 20 * second

const seeds = [0x811c9dc5, 0x2545f491] as const
/** FNV-1a of 32 bits. */
const hashed = (text: string, seed: number): number => {
  let hash = seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
const slicesOfDay = lease / leaseSlice
const sliceOfHash = (hash: number): number => hash % slicesOfDay
/** The slice of the day in which the leases of an entry end. */
export const sliceOf = (entry: string): number => sliceOfHash(hashed(entry, seeds[0]))

/** Milliseconds until the lease ends that an entry is told now. */
const leaseLeft = (slice: number, now: number): number => {
  const left = (((slice * leaseSlice - now) % lease) + lease) % lease
  return left < leaseRenewedBefore + minute ? left + lease : left
}
const asDuration = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / second)
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`
}
export const scopeOf = (entry: string): 'Ip' | 'Range' => (entry.includes('/') ? 'Range' : 'Ip')
const origin = 'stockade'
const scenario = 'stockade/feed'
/** As JSON. Entries are canonical addresses and ranges: nothing in them is to be escaped. The id has 52 bits: all clients read it. */
const text = (entry: string, hash: number, duration: string): string =>
  `{"duration":"${duration}","id":${(hashed(entry, seeds[1]) & 0xfffff) * 2 ** 32 + hash},"origin":"${origin}","scenario":"${scenario}","scope":"${scopeOf(entry)}","type":"ban","value":"${entry}"}`
/** What writes decisions as they are told at this time. */
export const decisionsAt = (now: number): ((entry: string) => string) => {
  const durations = new Map<number, string>()
  const durationOf = (slice: number) => {
    const cachedDuration = durations.get(slice)
    if (cachedDuration !== undefined) return cachedDuration
    const duration = asDuration(leaseLeft(slice, now) - textKept)
    durations.set(slice, duration)
    return duration
  }
  return entry => {
    const hash = hashed(entry, seeds[0])
    return text(entry, hash, durationOf(sliceOfHash(hash)))
  }
}
export const deletionText = (entry: string): string => text(entry, hashed(entry, seeds[0]), '-1s')

export interface Filters {
  readonly scopes?: string | undefined
  readonly origins?: string | undefined
  readonly scenarios_containing?: string | undefined
  readonly scenarios_not_containing?: string | undefined
}
/** Which scopes a bouncer wants; none where its other filters leave nothing. */
export const scopesWanted = (filters: Filters): 'both' | 'Ip' | 'Range' | 'none' => {
  const words = (list: string | undefined) => (list ?? '').split(',').flatMap(word => word.trim().toLowerCase() || [])
  const [origins, holding, without, scopes] = [
    words(filters.origins),
    words(filters.scenarios_containing),
    words(filters.scenarios_not_containing),
    words(filters.scopes),
  ]
  if (origins.length > 0 && !origins.includes(origin)) return 'none'
  if (holding.length > 0 && !holding.some(word => scenario.includes(word))) return 'none'
  if (without.some(word => scenario.includes(word))) return 'none'
  const [ip, range] = [scopes.includes('ip'), scopes.includes('range')]
  if (scopes.length === 0 || (ip && range)) return 'both'
  return ip ? 'Ip' : range ? 'Range' : 'none'
}
