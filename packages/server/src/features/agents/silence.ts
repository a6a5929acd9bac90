import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../config.ts'
import type { Events } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import { updateServer } from '../servers/servers.store.ts'

/** Declares silent servers offline. */
export const createSilenceWatch = (needs: {
  clock: Clock
  config: Pick<Config, 'heartbeatInterval' | 'offlineAfter'>
  events: Events
  registry: Pick<Registry, 'all' | 'put'>
  isShared: boolean
}): (() => Promise<void>) => {
  const { clock, config, events, registry } = needs
  const startedAt = clock()
  return async () => {
    const now = clock()
    // Our own outage must not make everybody else's: hosts get two intervals to call again.
    if (now < startedAt + Math.max(2 * config.heartbeatInterval, config.offlineAfter) * second) return
    const silent = now - config.offlineAfter * second - (needs.isShared ? 5 * second : 0)
    for (const { row, lastHeartbeat } of registry.all()) {
      if (row.status !== 'online' || (lastHeartbeat ?? row.created_at) > silent) continue
      const updated = await events.change(async change => {
        const done = await updateServer(change.sql, row.no, { status: 'offline', updated_at: now }, 'online')
        if (done)
          await change.record({
            name: 'server.offline',
            serverNo: row.no,
            data: { id: row.id, hostname: row.hostname, last_heartbeat: lastHeartbeat },
          })
        return done
      })
      if (updated) registry.put(updated)
    }
  }
}
