import { iso, isoOrNull } from '../../core/clock.ts'
import { unauthorized } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { requirePasswordOf } from '../users/passwords.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import { findUser, setPassword } from '../users/users.store.ts'
import { createFirstUse } from './first-use.ts'
import { createHolding } from './holding.ts'
import type { SessionsService } from './sessions.model.ts'
import { removeSessionsOf } from './sessions.store.ts'
import { createSignIn } from './sign-in.ts'
import type { Tokens } from './tokens.ts'

export const createSessions = (
  needs: StoreAccess & {
    tokens: Tokens
    settings: Pick<SettingsService, 'get' | 'set' | 'reload'>
    users: UsersService
    mfa: Pick<MfaService, 'begin' | 'finish' | 'codesLeft' | 'waiting' | 'use'>
    passkeys: Pick<PasskeysService, 'begin' | 'verify'>
    throttle: Pick<Throttle, 'login'>
  },
): SessionsService => {
  const { db, clock, events, users, mfa, throttle } = needs
  const { requirePasswords, ...signIn } = createSignIn(needs)

  return {
    ...signIn,
    ...createHolding(needs),
    ...createFirstUse({ ...needs, begin: signIn.begin, requirePasswords }),
    async changePassword(actor, { current_password, new_password, refuse_common }) {
      const user = await findUser(db.read, actor.userId)
      if (!user) throw unauthorized('This session has ended. Sign in again.')
      await requirePasswordOf(user, current_password, actor.ip, throttle, 'The current password is wrong.')
      const hash = await users.preparePassword('new_password', new_password, refuse_common)
      await events.change(async change => {
        await setPassword(change.sql, user.id, hash, clock())
        await removeSessionsOf(change.sql, user.id, actor.sessionId)
        await change.record({
          name: 'auth.password_change',
          author: { name: actor.name, userId: actor.userId, ip: actor.ip },
          data: { id: user.id, username: user.username },
        })
      })
    },
    async me(actor, version) {
      const grant = await users.grantOf(actor.userId)
      if (!grant) throw unauthorized('This session has ended. Sign in again.')
      const { user } = grant
      return {
        id: user.id,
        username: user.username,
        email: user.email,
        role: user.role,
        mfa_enabled: user.mfa_enabled === 1,
        backup_codes_left: user.mfa_enabled === 1 ? await mfa.codesLeft(user.id) : null,
        created_at: iso(user.created_at),
        last_login: isoOrNull(user.last_login),
        ip_address: actor.ip,
        version,
        server_access: user.role === 'Admin' ? 'all' : user.server_access,
        tags: [...grant.accessTags].sort(),
      }
    },
  }
}
