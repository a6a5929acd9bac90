import { system } from '../../core/author.ts'
import { iso } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { conflict, unauthorized } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { countUsers, findInvited, takeInvite } from '../users/users.store.ts'
import { isFactorMissing } from './sign-in.ts'
import type { SessionsService } from './sessions.model.ts'
import { isSetupCode, takeSetupCode } from './setup-code.store.ts'

/** How accounts get their first password: the set-up of the installation, and invitations. */
export const createFirstUse = (
  needs: StoreAccess & {
    settings: Pick<SettingsService, 'set' | 'reload'>
    users: Pick<UsersService, 'none' | 'preparePassword' | 'create' | 'lacksFactor'>
    begin: SessionsService['begin']
    /** @throws Problem 403 where nobody signs in with a password */
    requirePasswords: () => Promise<void>
  },
): Pick<SessionsService, 'setupRequired' | 'setUp' | 'invited' | 'acceptInvite'> => {
  const { db, clock, events, settings, users, begin, requirePasswords } = needs
  const badInvite = () =>
    unauthorized('This invitation was used, was replaced by another one, or is older than 72 hours. Ask for a new one.')

  return {
    setupRequired: () => users.none(),
    async setUp(input, from) {
      if (!(await users.none())) throw conflict('Stockade is set up already. Sign in.')
      if (!(await isSetupCode(db, input.code))) {
        // Another set-up may have used the code since.
        if (!(await users.none())) throw conflict('Stockade is set up already. Sign in.')
        throw unauthorized(
          'This set-up code is not the one that was printed last. Make a new one where the server runs: npx stockade admin setup-code',
        )
      }
      const passwordHash = await users.preparePassword('password', input.password, input.refuse_common)
      const user = await events.change(async change => {
        const at = clock()
        // Of two set-ups at the same moment, only the first finds the code.
        if (!(await takeSetupCode(change.sql)) || (await countUsers(change.sql)) > 0)
          throw conflict('Stockade is set up already. Sign in.')
        const newUser = await users.create(
          change,
          { ...system, ip: from.ip },
          { ...input, passwordHash, role: 'Admin' },
        )
        await settings.set(
          change,
          {
            ...(input.site_url === undefined ? {} : { 'service.site_url': input.site_url.replace(/\/+$/, '') }),
            ...(input.timezone === undefined ? {} : { 'service.timezone': input.timezone }),
          },
          at,
        )
        return newUser
      })
      await settings.reload()
      return begin(user, from, 'password')
    },
    async invited(code) {
      await requirePasswords()
      const user = await findInvited(db.read, sha256(code), clock())
      if (!user) throw badInvite()
      return {
        username: user.username,
        expires_at: iso(user.invite_expires_at ?? 0),
        mfa_required: isFactorMissing(users, user, 'password'),
      }
    },
    async acceptInvite({ code, password, refuse_common }, from) {
      await requirePasswords()
      const hash = sha256(code)
      // Hashing is dear: not for anybody who has no invitation.
      if (!(await findInvited(db.read, hash, clock()))) throw badInvite()
      const passwordHash = await users.preparePassword('password', password, refuse_common)
      const user = await events.change(async change => {
        const invitedUser = await takeInvite(change.sql, hash, passwordHash, clock())
        if (!invitedUser) throw badInvite()
        const author = { name: invitedUser.username, userId: invitedUser.id, ip: from.ip }
        await change.record({
          name: 'user.accept_invite',
          author,
          data: { id: invitedUser.id, username: invitedUser.username },
        })
        return invitedUser
      })
      return begin(user, from, 'password')
    },
  }
}
