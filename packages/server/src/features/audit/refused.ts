import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { tame } from '../../core/text.ts'
import type { Events } from '../../events/events.ts'

export interface Refused {
  /** `DELETE /servers/{serverId}` */
  readonly endpoint: string
  /** As it was asked for, without the query. */
  readonly path: string
  /** What the caller was told. */
  readonly reason: string
}

/** So many are remembered before those whose minute is over are forgotten. */
const mostKept = 1000

/**
 * Records what a signed-in user or an API key was refused for want of permission, so that whoever reads the audit log sees who tried what:
 * one entry for each of them, endpoint and minute, of this process. Never of what was sent, which may hold secrets.
 */
export const createRefused = (needs: {
  events: Pick<Events, 'change'>
  clock: Clock
  /** Hears that an entry could not be written. The refusal stands all the same. */
  fail: (error: unknown) => void
}): { note(actor: Principal, refused: Refused): Promise<void> } => {
  const { events, clock, fail } = needs
  const noted = new Map<string, number>()
  return {
    async note(actor, { endpoint, path, reason }) {
      const key = `${actor.kind === 'key' ? `key ${actor.keyId}` : actor.userId} ${endpoint}`
      const now = clock()
      if (now - (noted.get(key) ?? -Infinity) < minute) return
      if (noted.size >= mostKept) for (const [old, at] of noted) if (now - at >= minute) noted.delete(old)
      noted.set(key, now)
      const data = { endpoint, path: tame(path, 300), reason: tame(reason, 300) }
      await events
        .change(change => change.record({ name: 'access.refused', author: authorOf(actor), data }))
        .catch(fail)
    },
  }
}
