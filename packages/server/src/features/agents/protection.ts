import { hour, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Events } from '../../events/events.ts'
import { levelOf } from '../servers/protection.ts'
import type { Registry } from '../servers/registry.ts'
import { moveProtection } from '../servers/servers.store.ts'

/** An agent that restarts reports `unknown` for a minute. Only one that lasts so long is recorded. */
const lastingUnknown = 5 * minute
/** Changes of one server that are recorded within an hour; a host that reports another level each time fills no log. */
const mostChanges = 12

/** Records the changes of level that reports bring: once for each change, whichever process heard of it first. */
export const createProtectionWatch = ({
  clock,
  events,
  registry,
}: {
  clock: Clock
  events: Events
  registry: Registry
}): ((serverNo: number) => Promise<void>) => {
  const recordedAt = new Map<number, readonly number[]>()
  const watch = async (serverNo: number, isRetry = false): Promise<void> => {
    const server = registry.byNo(serverNo)
    if (!server?.protection) return
    const { row, protection } = server
    const { since, summary, checks } = protection
    const before = row.protection_level
    const now = clock()
    const level = levelOf(server)
    if (level === before) return
    if (level === 'unknown' && (before === null || now - since < lastingUnknown)) return
    const recent = (recordedAt.get(serverNo) ?? []).filter(at => at > now - hour)
    if (recent.length >= mostChanges) return
    const updated = await events.change(async change => {
      const done = await moveProtection(change.sql, serverNo, before, {
        protection_level: level,
        protection_since: since,
      })
      // A new host that is protected is no news.
      if (done && (before !== null || level !== 'protected'))
        await change.record({
          name: 'server.protection',
          serverNo,
          data: {
            id: row.id,
            hostname: row.hostname,
            from: before,
            from_since: row.protection_since,
            to: level,
            since,
            summary,
            checks: checks.slice(0, 5).map(({ id, subject, state, detail }) => ({ id, subject, state, detail })),
          },
        })
      return done
    })
    if (updated) {
      recordedAt.set(serverNo, [...recent, now])
      registry.put(updated)
      return
    }
    // The row in memory was old: another process recorded a change.
    await registry.refresh(serverNo)
    if (!isRetry) await watch(serverNo, true)
  }
  return serverNo => watch(serverNo)
}
