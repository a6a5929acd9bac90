import { times } from '@stockade/contract/limits.ts'
import type { PasskeyResponse, ProofMethod } from '@stockade/contract'
import { keysOf } from '@stockade/contract/records.ts'
import type { UserActor } from '../../core/actor.ts'
import { iso, second } from '../../core/clock.ts'
import { badRequest, conflict, unauthorized } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import { requirePasswordOf } from '../users/passwords.ts'
import type { Throttle } from '../users/throttle.ts'
import { findUser } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import { findSession, noteProof } from './sessions.store.ts'
import type { SessionRow } from './sessions.store.ts'

/** Whether a session's last proof of identity is still good. */
export const isProved = (session: Pick<SessionRow, 'proved_at'>, now: number): boolean =>
  session.proved_at + times.proof * second > now

/** In which ways a user can prove who it is: each of them is enough. A further way of signing in is one line here. */
export const methodsOf = (user: UserRow): ProofMethod[] => {
  const has: Record<ProofMethod, boolean> = {
    password: user.password_hash !== null,
    totp: user.mfa_enabled === 1,
    passkey: user.passkeys > 0,
    provider_a: user.oauth_provider === 'provider_a',
    provider_b: user.oauth_provider === 'provider_b',
  }
  return keysOf(has).filter(method => has[method])
}

export interface Proofs {
  /** What somebody typed to prove who it is. @throws Problem 400 for nothing, 401 for what is wrong, 409 for what the account has not. */
  prove(
    actor: UserActor,
    typed: { password?: string; code?: string; passkey?: PasskeyResponse },
  ): Promise<{ proved_until: string }>
  /** Another way has proved it, such as a provider's sign-in. Until when it holds. */
  renew(actor: UserActor, method: ProofMethod): Promise<{ proved_until: string }>
  /** The same, when the cookie is of a living session of that user. False when it is not. */
  renewByCookie(actor: UserActor | null, user: UserRow, method: ProofMethod): Promise<boolean>
}

export const createProofs = (
  needs: StoreAccess & {
    mfa: Pick<MfaService, 'requireCode'>
    passkeys: Pick<PasskeysService, 'verify'>
    throttle: Pick<Throttle, 'login'>
  },
): Proofs => {
  const { db, clock, events, mfa, passkeys, throttle } = needs
  const renew: Proofs['renew'] = async (actor, method) => {
    const now = clock()
    await events.change(async change => {
      await noteProof(change.sql, actor.sessionId, now)
      await change.record({
        name: 'auth.step_up',
        author: { name: actor.name, userId: actor.userId, ip: actor.ip },
        data: { session_id: actor.sessionId, method },
      })
    })
    return { proved_until: iso(now + times.proof * second) }
  }
  return {
    renew,
    async renewByCookie(actor, user, method) {
      const session = actor && (await findSession(db.read, 'id', actor.sessionId))
      if (!session || actor.userId !== user.id) return false
      await renew(actor, method)
      return true
    },
    async prove(actor, { password, code, passkey }) {
      const user = await findUser(db.read, actor.userId)
      if (!user) throw unauthorized('This session has ended. Sign in again.')
      if (password === undefined && code === undefined && passkey === undefined)
        throw badRequest('Send password, code or passkey.')
      if (password !== undefined) await requirePasswordOf(user, password, actor.ip, throttle)
      if (code !== undefined) {
        if (user.mfa_enabled === 0) throw conflict('2FA is off. Send the password.')
        await mfa.requireCode(user, code, actor.ip)
      }
      if (passkey !== undefined) await passkeys.verify('proof', passkey, user.id)
      return renew(actor, passkey ? 'passkey' : password === undefined ? 'totp' : 'password')
    },
  }
}
