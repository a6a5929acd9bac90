import { randomInt } from 'node:crypto'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText } from '../../core/ids.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import { removeTokensOf } from '../mfa/mfa.store.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { SessionsService } from '../sessions/sessions.model.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import { setPassword } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import { currentOf } from './account-sessions.ts'
import type { KeepKeys, Revoking } from './revoking.ts'

/** For somebody who has lost a password or a second factor. */
export interface AccountResets {
  /** The made password; null when one was given. */
  resetPassword(
    actor: Principal,
    id: number,
    input: { new_password?: string; refuse_common?: boolean } & KeepKeys,
  ): Promise<{ temporary_password: string | null; revoked_keys: number }>
  resetMfa(actor: Principal, id: number, keep?: KeepKeys): Promise<{ revoked_keys: number }>
}

/** A password that meets every policy: upper, lower and digit, 20 characters or as many as the settings want. */
const temporaryPassword = (minimum: number): string => {
  const digit = String(randomInt(10))
  const letters = `${'abcdefghijkmnopqrstuvwxyz'.charAt(randomInt(25))}${'ABCDEFGHJKLMNPQRSTUVWXYZ'.charAt(randomInt(24))}`
  return `${randomText(9)}${digit}${letters}${randomText(Math.max(20, minimum) - 12)}`
}

export const createAccountResets = (needs: {
  clock: Clock
  settings: Pick<SettingsService, 'get'>
  users: Pick<UsersService, 'preparePassword'>
  mfa: Pick<MfaService, 'clear'>
  passkeys: Pick<PasskeysService, 'clear'>
  throttle: Pick<Throttle, 'clearCodes'>
  sessions: Pick<SessionsService, 'endAll'>
  get: (id: number) => Promise<UserRow>
  revoking: Revoking
}): AccountResets => {
  const { clock, settings, users, mfa, passkeys, throttle, sessions, get, revoking } = needs
  return {
    async resetPassword(actor, id, { new_password: given, refuse_common, ...keep }) {
      const user = await get(id)
      const password = given ?? temporaryPassword(settings.get('security.password_min_length'))
      const hash = await users.preparePassword('new_password', password, refuse_common)
      const { revoked_keys } = await revoking(actor, id, keep, async change => {
        await setPassword(change.sql, id, hash, clock())
        await sessions.endAll(change, id, actor.userId === id ? currentOf(actor) : null)
        await removeTokensOf(change.sql, id)
        await change.record({
          name: 'user.reset_password',
          author: authorOf(actor),
          data: { id, username: user.username },
        })
        return {}
      })
      return { temporary_password: given === undefined ? password : null, revoked_keys }
    },
    async resetMfa(actor, id, keep = {}) {
      const user = await get(id)
      const { revoked_keys } = await revoking(actor, id, keep, async change => {
        await mfa.clear(change, id)
        await passkeys.clear(change, id)
        // A holder of the old factor may have a session: all sessions end.
        await sessions.endAll(change, id, actor.userId === id ? currentOf(actor) : null)
        await change.record({ name: 'mfa.reset', author: authorOf(actor), data: { id, username: user.username } })
        return {}
      })
      await throttle.clearCodes(id)
      return { revoked_keys }
    },
  }
}
