import type { FleetBanState } from '@stockade/contract'
import type { Server } from '../servers/registry.ts'
import type { Targeting, Targets } from '../servers/targets.ts'
import type { FleetHostRow } from './fleet.store.ts'
import type { HostSets } from './host-sets.ts'
import { parseJson } from '../../core/json-text.ts'

/** What a host holds of one ban, with the reason where it does not, or where fail2ban does instead of the kernel. */
export interface HostProgress {
  readonly state: FleetBanState
  readonly reason: string | null
  readonly at: number | null
}
export interface Counts {
  readonly applied: number
  readonly in_jail: number
  readonly pending: number
  readonly failed: number
  readonly not_covered: number
}
interface Watched {
  readonly id: number
  readonly version: number
  readonly targets: Targets
}
interface Host {
  readonly server: Server
  readonly row: FleetHostRow | undefined
  readonly refused: ReadonlyMap<number, string>
  readonly notCovered: string | null
}

export interface ServerProgress {
  readonly server: Server
  readonly progress: HostProgress
}
export interface Progress {
  counts(ban: Watched): Counts
  servers(ban: Watched): ServerProgress[]
  /** The servers of these targets that have not confirmed the version yet at which the ban was lifted. */
  lifting(ban: Watched): ServerProgress[]
  hasState(ban: Watched, state: FleetBanState): boolean
}

const noShield = 'The server has no shield: its kernel has no nftables, or the agent may not use it.'

/** How far the bans are on these servers. Made once for a request; the counts of a ban for all servers cost a search each. */
export const createProgress = (
  servers: readonly Server[],
  rows: readonly FleetHostRow[],
  needs: { targeting: Pick<Targeting, 'concerns'>; sets: Pick<HostSets, 'joinedAt'> },
): Progress => {
  const rowOf = new Map(rows.map(row => [row.server_no, row]))
  const hosts = servers.map(server => hostOf(server, rowOf.get(server.row.no)))
  const covered = hosts.filter(({ notCovered }) => notCovered === null)
  /** What the kernels of covered hosts are proved to hold, in rising order. */
  const versions = covered.map(({ row }) => row?.version ?? -1).sort((a, b) => a - b)
  const withoutShield = covered.filter(({ row }) => (row?.fallback ?? null) !== null)
  const refusing = new Map<number, Host[]>()
  for (const host of covered)
    for (const id of host.refused.keys()) refusing.set(id, [...(refusing.get(id) ?? []), host])

  /** Servers with the tags of many bans are looked up once. */
  const byTags = new Map<string, readonly Host[]>()
  const hostsOf = (targets: Targets): readonly Host[] => {
    const find = () => hosts.filter(({ server }) => needs.targeting.concerns(targets, server.row.no))
    if (targets === 'all' || targets.nos.size > 0) return find()
    const key = [...targets.tags].join()
    const targetHosts = byTags.get(key) ?? find()
    byTags.set(key, targetHosts)
    return targetHosts
  }
  const progressOf = (host: Host, ban: Watched): HostProgress =>
    stateOf(host, ban, Math.max(ban.version, needs.sets.joinedAt(ban.targets, host.server.row.no)))
  const countsOf = (list: readonly HostProgress[]): Counts => {
    const count = (state: FleetBanState) => list.filter(one => one.state === state).length
    return {
      applied: count('held'),
      in_jail: list.filter(isInJail).length,
      pending: count('pending'),
      failed: count('refused'),
      not_covered: count('not_covered'),
    }
  }
  const counts = (ban: Watched): Counts => {
    if (ban.targets !== 'all') return countsOf(hostsOf(ban.targets).map(host => progressOf(host, ban)))
    const refusals = refusing.get(ban.id) ?? []
    const reached = versions.length - firstAtLeast(versions, ban.version)
    const applied = reached - refusals.filter(({ row }) => (row?.version ?? -1) >= ban.version).length
    return {
      applied,
      in_jail: withoutShield.filter(host => isInJail(progressOf(host, ban))).length,
      pending: covered.length - applied - refusals.length,
      failed: refusals.length,
      not_covered: hosts.length - covered.length,
    }
  }
  return {
    counts,
    servers: ban => hostsOf(ban.targets).map(host => ({ server: host.server, progress: progressOf(host, ban) })),
    lifting: ban =>
      hostsOf(ban.targets).flatMap(host => {
        const { state, reason, at } = stateOf(host, { id: 0 }, ban.version)
        return state === 'pending' ? [{ server: host.server, progress: { state, reason, at } }] : []
      }),
    hasState(ban, state) {
      const { applied, pending, failed, not_covered } = counts(ban)
      return { held: applied, pending, refused: failed, not_covered }[state] > 0
    },
  }
}

const hostOf = (server: Server, row: FleetHostRow | undefined): Host => {
  const refused = new Map(row?.refused ? parseJson(row.refused) : [])
  const isWithout = server.row.status !== 'pending' && server.row.shield_supported !== 1
  return { server, row, refused, notCovered: row?.not_covered ?? (isWithout && !row?.fallback ? noShield : null) }
}

const isInJail = ({ state, reason }: HostProgress): boolean => state === 'held' && reason !== null

/** @param version that the host must hold */
const stateOf = (
  { server, row, refused, notCovered }: Host,
  ban: Pick<Watched, 'id'>,
  version: number,
): HostProgress => {
  const at = row?.acked_at ?? null
  if (notCovered !== null) return { state: 'not_covered', reason: notCovered, at }
  const refusal = refused.get(ban.id)
  if (refusal !== undefined) return { state: 'refused', reason: refusal, at }
  if ((row?.version ?? -1) >= version) return { state: 'held', reason: row?.fallback ?? null, at }
  const { status } = server.row
  const silence =
    status === 'pending'
      ? 'No agent has reported yet.'
      : status === 'offline'
        ? 'The server is offline.'
        : 'The server has not confirmed it yet.'
  return { state: 'pending', reason: row?.problem ?? silence, at }
}

/** The place of the first number that is not below the bound. */
const firstAtLeast = (rising: readonly number[], bound: number): number => {
  let low = 0
  let high = rising.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rising[middle] ?? 0) < bound) low = middle + 1
    else high = middle
  }
  return low
}
