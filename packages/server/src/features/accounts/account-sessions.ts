import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { notFound } from '../../core/problem.ts'
import type { Events } from '../../events/events.ts'
import type { SessionView, SessionsService } from '../sessions/sessions.model.ts'
import type { UserRow } from '../users/users.store.ts'

/** The sessions of any account. */
export interface AccountSessions {
  sessions(actor: Principal, id: number): Promise<SessionView[]>
  endSession(actor: Principal, id: number, sessionId: string): Promise<void>
  endSessions(actor: Principal, id: number, exceptCurrent: boolean): Promise<number>
}

/** The caller's own session, when it is one. */
export const currentOf = (actor: Principal) => (actor.kind === 'user' ? actor.sessionId : null)

export const createAccountSessions = (needs: {
  events: Events
  sessions: Pick<SessionsService, 'listOf' | 'end' | 'endAll'>
  get: (id: number) => Promise<UserRow>
}): AccountSessions => {
  const { events, sessions, get } = needs
  return {
    async sessions(actor, id) {
      await get(id)
      return sessions.listOf(id, currentOf(actor))
    },
    async endSession(actor, id, sessionId) {
      await get(id)
      if (!(await sessions.end(authorOf(actor), id, sessionId.toLowerCase())))
        throw notFound('This user has no such session.')
    },
    async endSessions(actor, id, exceptCurrent) {
      const user = await get(id)
      return events.change(async change => {
        const ended = await sessions.endAll(change, id, exceptCurrent ? currentOf(actor) : null)
        await change.record({
          name: 'session.end',
          author: authorOf(actor),
          data: { user_id: id, username: user.username, ended },
        })
        return ended
      })
    },
  }
}
