import { times } from '@stockade/contract/limits.ts'
import type { UserActor } from '../../core/actor.ts'
import { day, iso, second } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { unauthorized } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { isProved, methodsOf } from './proof.ts'
import type { SessionsService } from './sessions.model.ts'
import {
  findSession,
  removeEnded,
  removeSession,
  removeSessionsOf,
  sessionsOf,
  setAccessHash,
  touchSessions,
} from './sessions.store.ts'
import type { SessionRow } from './sessions.store.ts'
import { isFactorMissing } from './sign-in.ts'
import { accessSecret } from './tokens.ts'
import type { Tokens } from './tokens.ts'

type Holding = Pick<
  SessionsService,
  'listOf' | 'end' | 'endAll' | 'refresh' | 'logout' | 'byToken' | 'byCookie' | 'flush' | 'sweep'
>

/** Sessions that were begun: who holds one, and how they end. */
export const createHolding = (
  needs: StoreAccess & {
    tokens: Tokens
    settings: Pick<SettingsService, 'get'>
    users: Pick<UsersService, 'grantOf' | 'isVouchedFor' | 'lacksFactor'>
  },
): Holding => {
  const { db, clock, events, tokens, settings, users } = needs
  /** Activity is written at intervals, not on each request. */
  const lastSeen = new Map<string, number>()

  const alive = (session: SessionRow): boolean => {
    const active = Math.max(session.last_activity, lastSeen.get(session.id) ?? 0)
    const now = clock()
    return (
      active + settings.get('security.session_timeout') * second > now &&
      session.created_at + times.sessionMaximum * second > now
    )
  }
  const actorOf = async (
    session: SessionRow | undefined,
    ip: string,
    by: 'cookie' | 'token' = 'token',
    quietly = false,
  ): Promise<UserActor | null> => {
    if (!session || !alive(session)) return null
    const grant = await users.grantOf(session.user_id)
    if (!grant) return null
    if (session.method.startsWith('provider') && !users.isVouchedFor(grant.user)) return null
    if (!quietly) lastSeen.set(session.id, clock())
    return {
      kind: 'user',
      name: grant.user.username,
      ip,
      userId: grant.user.id,
      sessionId: session.id,
      role: grant.user.role,
      permission: grant.permission,
      servers: grant.servers,
      accessTags: grant.accessTags,
      mfaMissing: isFactorMissing(users, grant.user, session.method),
      mustProve: by === 'cookie' && !isProved(session, clock()) ? methodsOf(grant.user) : null,
    }
  }

  return {
    async listOf(userId, current) {
      const rows = (await sessionsOf(db.read, userId)).filter(alive)
      return rows.map(row => ({
        id: row.id,
        ip_address: row.ip_address,
        user_agent: row.user_agent,
        created_at: iso(row.created_at),
        last_activity: iso(Math.max(row.last_activity, lastSeen.get(row.id) ?? 0)),
        current: row.id === current,
      }))
    },
    async end(author, userId, sessionId) {
      return events.change(async change => {
        const gone = await removeSession(change.sql, sessionId, userId)
        if (gone) await change.record({ name: 'session.end', author, data: { user_id: userId, session_id: sessionId } })
        return gone
      })
    },
    endAll: (change, userId, except) => removeSessionsOf(change.sql, userId, except),
    async refresh(refreshToken) {
      const session = await findSession(db.read, 'refresh_hash', sha256(refreshToken))
      const actor = await actorOf(session, '')
      if (!session || !actor) throw unauthorized('This session has ended. Sign in again.')
      const secret = accessSecret(refreshToken)
      if (session.access_hash === '') await setAccessHash(db.write, session.id, sha256(secret))
      return {
        access_token: await tokens.sign(actor.userId, { id: session.id, secret }),
        expires_in: times.accessToken,
      }
    },
    async logout(actor) {
      await events.change(async change => {
        await removeSession(change.sql, actor.sessionId, actor.userId)
        await change.record({
          name: 'auth.logout',
          author: { name: actor.name, userId: actor.userId, ip: actor.ip },
          data: { session_id: actor.sessionId },
        })
      })
      lastSeen.delete(actor.sessionId)
    },
    async byToken(token, ip, quietly) {
      const claim = await tokens.verify(token)
      const session = claim && (await findSession(db.read, 'id', claim.id))
      return session && session.access_hash === sha256(claim.secret) ? actorOf(session, ip, 'token', quietly) : null
    },
    async byCookie(value, ip, quietly) {
      return actorOf(await findSession(db.read, 'cookie_hash', sha256(value)), ip, 'cookie', quietly)
    },
    async flush() {
      const batch = new Map(lastSeen)
      lastSeen.clear()
      if (batch.size > 0) await db.write.transaction().execute(sql => touchSessions(sql, batch))
    },
    async sweep() {
      const now = clock()
      await removeEnded(db.write, now - settings.get('security.session_timeout') * second, now - 90 * day)
    },
  }
}
