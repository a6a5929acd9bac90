import type { Reply } from '@stockade/client'
import type { Tone } from '../../kit/state.tsx'

export type SummaryRow = Reply<'GET /servers/summary'>['servers'][number]
const healths = ['unprotected', 'degraded', 'offline', 'unknown', 'pending', 'protected'] as const
/** How a server is, in one word: what is not online can't be protected. The order is that of urgency. */
export type Health = (typeof healths)[number]

export const healthOf = ({ status, protection }: Pick<SummaryRow, 'status' | 'protection'>): Health =>
  status === 'online' ? protection : status

export const healthTones: Readonly<Record<Health, Tone>> = {
  unprotected: 'danger',
  degraded: 'warn',
  offline: 'neutral',
  unknown: 'neutral',
  pending: 'neutral',
  protected: 'ok',
}

const urgent: ReadonlySet<Health> = new Set(['unprotected', 'offline', 'degraded'])
/** Servers that need a person, the most urgent first, then by name. */
export const needingAttention = (servers: readonly SummaryRow[]): readonly SummaryRow[] =>
  servers
    .filter(server => urgent.has(healthOf(server)))
    .sort((a, b) => healths.indexOf(healthOf(a)) - healths.indexOf(healthOf(b)) || a.hostname.localeCompare(b.hostname))

export const countHealths = (servers: readonly SummaryRow[]): Readonly<Record<Health, number>> => {
  const counts = { unprotected: 0, offline: 0, degraded: 0, unknown: 0, pending: 0, protected: 0 }
  for (const server of servers) counts[healthOf(server)] += 1
  return counts
}

export interface FleetGroup {
  readonly name: string
  readonly servers: readonly SummaryRow[]
}
/** The role of a server as its name tells it: `web-01.example.com` is a `web`. */
export const roleOf = (hostname: string): string => {
  const first = hostname.split('.')[0] ?? ''
  return first.replace(/[-_]?\d+$/, '') || first || '?'
}
/** Servers by role, the largest group first; groups of one come last. */
export const groupsOf = (servers: readonly SummaryRow[]): readonly FleetGroup[] => {
  const groups = new Map<string, SummaryRow[]>()
  for (const server of servers) {
    const name = roleOf(server.hostname)
    const group = groups.get(name)
    if (group) group.push(server)
    else groups.set(name, [server])
  }
  return [...groups]
    .map(([name, members]) => ({ name, servers: members }))
    .sort((a, b) => b.servers.length - a.servers.length || a.name.localeCompare(b.name))
}
/** The most urgent health of a group. */
export const worstHealth = (servers: readonly SummaryRow[]): Health =>
  healths.find(health => servers.some(server => healthOf(server) === health)) ?? 'protected'
