import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../config.ts'
import type { EventInput, Events } from '../../events/events.ts'
import type { Registry, Server } from '../servers/registry.ts'
import { updateServer } from '../servers/servers.store.ts'
import type { ServerRow } from '../servers/servers.store.ts'

/** Hosts in one transaction: the outage of a network silences thousands at the same moment. Few, since a host that is heard meanwhile waits a heartbeat to be online again. */
const hostsAtOnce = 50

/** Declares silent servers offline. */
export const createSilenceWatch = (needs: {
  clock: Clock
  config: Pick<Config, 'heartbeatInterval' | 'offlineAfter'>
  events: Events
  registry: Pick<Registry, 'all' | 'byNo' | 'put'>
  isShared: boolean
}): (() => Promise<void>) => {
  const { clock, config, events, registry } = needs
  const declareOffline = async (servers: readonly Server[], now: number) => {
    const updated = await events.change(async change => {
      const rows: ServerRow[] = []
      const recorded: EventInput[] = []
      for (const { row, lastHeartbeat } of servers) {
        const done = await updateServer(change.sql, row.no, { status: 'offline', updated_at: now }, 'online')
        if (!done) continue
        rows.push(done)
        const data = { id: row.id, hostname: row.hostname, last_heartbeat: lastHeartbeat }
        recorded.push({ name: 'server.offline', serverNo: row.no, data })
      }
      await change.recordMany(recorded)
      return rows
    })
    for (const row of updated) registry.put(row)
  }
  const startedAt = clock()
  return async () => {
    const now = clock()
    // Our own outage must not make everybody else's: hosts get two intervals to call again.
    if (now < startedAt + Math.max(2 * config.heartbeatInterval, config.offlineAfter) * second) return
    const silent = now - config.offlineAfter * second - (needs.isShared ? 5 * second : 0)
    const isSilent = (server: Server) =>
      server.row.status === 'online' && (server.lastHeartbeat ?? server.row.created_at) <= silent
    const nos = registry.all().flatMap(server => (isSilent(server) ? [server.row.no] : []))
    // Rows are locked in the order of their numbers, as heartbeats do.
    nos.sort((a, b) => a - b)
    for (let start = 0; start < nos.length; start += hostsAtOnce) {
      // Hosts that were heard meanwhile are left out.
      const servers = nos.slice(start, start + hostsAtOnce).flatMap(no => registry.byNo(no) ?? [])
      await declareOffline(servers.filter(isSilent), now)
    }
  }
}
