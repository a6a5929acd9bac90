import type { QueryOf, ReplyOf, users as contract } from '@stockade/contract'
import { roleNamed } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { SessionsService } from '../sessions/sessions.model.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { accessTagsOf } from '../users/access-tags.store.ts'
import { newInvite } from '../users/invites.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import {
  countUserRows,
  findUser,
  listUserRows,
  otherAdmins,
  removeUser,
  serversOf,
  takenName,
  updateUser,
} from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import { createAccountResets } from './account-resets.ts'
import type { AccountResets } from './account-resets.ts'
import { createAccountSessions } from './account-sessions.ts'
import type { AccountSessions } from './account-sessions.ts'
import { createRevoking } from './revoking.ts'
import type { KeepKeys } from './revoking.ts'
import { createServerAccess } from './server-access.ts'
import type { ServerAccess } from './server-access.ts'

/** What an administrator does with accounts, and everybody with their own. */
export interface AccountsService extends AccountResets, AccountSessions, ServerAccess {
  list(query: QueryOf<typeof contract.listUsers>): Promise<ReplyOf<typeof contract.listUsers>>
  read(id: number): Promise<ReplyOf<typeof contract.getUser>>
  create(
    actor: Principal,
    input: {
      username: string
      email: string
      password?: string
      role?: string
      invite?: boolean
      mfa_required?: boolean
      refuse_common?: boolean
    },
  ): Promise<ReplyOf<typeof contract.createUser>>
  /** For somebody who has never signed in; what opened the account before is void. */
  invite(
    actor: Principal,
    id: number,
    keep?: KeepKeys,
  ): Promise<{ setup_url: string; invite_expires_at: string; revoked_keys: number }>
  update(
    actor: Principal,
    id: number,
    input: { email?: string; role?: string; mfa_required?: boolean } & KeepKeys,
  ): Promise<ReplyOf<typeof contract.updateUser>>
  remove(actor: Principal, id: number): Promise<void>
  /** For endpoints about a user: 404 when there is none. */
  get(id: number): Promise<UserRow>
}

export const createAccounts = (
  needs: StoreAccess & {
    settings: Pick<SettingsService, 'get'>
    users: Pick<UsersService, 'preparePassword' | 'create'>
    mfa: Pick<MfaService, 'clear'>
    passkeys: Pick<PasskeysService, 'clear'>
    throttle: Pick<Throttle, 'clearCodes'>
    sessions: Pick<SessionsService, 'listOf' | 'end' | 'endAll'>
    keys: Pick<KeysService, 'reload' | 'revokeOf'>
    servers: Pick<ServersService, 'named'>
    registry: Pick<Registry, 'byNo' | 'all'>
    baseUrl: () => string
  },
): AccountsService => {
  const { db, clock, events, users, keys, registry, baseUrl } = needs
  const lock = db.engine === 'postgres'

  const view = (user: UserRow) => ({
    id: user.id,
    username: user.username,
    email: user.email,
    role: user.role,
    mfa_enabled: user.mfa_enabled === 1,
    mfa_required: user.mfa_required === 1,
    invite_expires_at: isoOrNull(user.invite_expires_at),
    oauth_provider: user.oauth_provider,
    last_login: isoOrNull(user.last_login),
    created_at: iso(user.created_at),
    updated_at: iso(user.updated_at),
  })
  const get = async (id: number): Promise<UserRow> => {
    const user = await findUser(db.read, id)
    if (!user) throw notFound(`There is no user ${id}.`)
    return user
  }
  const revoking = createRevoking({ events, keys })
  const setupUrl = (code: string) => `${baseUrl()}/invite?code=${code}`
  const accessOf = (user: UserRow) => (user.role === 'Admin' ? 'all' : user.server_access)
  const lastAdmin = conflict('This is the last administrator. Make another one first.')

  return {
    get,
    ...createAccountResets({ ...needs, get, revoking }),
    ...createAccountSessions({ events, sessions: needs.sessions, get }),
    ...createServerAccess({ ...needs, get }),
    async list({ role, search, page = 1, limit = 20 }) {
      const filter = { ...(role ? { role: roleNamed(role) } : {}), ...(search === undefined ? {} : { search }) }
      const rows = await listUserRows(db.read, filter, (page - 1) * limit, limit)
      return { users: rows.map(view), total: await countUserRows(db.read, filter), page, limit }
    },
    async read(id) {
      const user = await get(id)
      const server_access = accessOf(user)
      const isLimited = server_access !== 'all'
      const nos = isLimited ? [...(await serversOf(db.read, id))] : []
      return {
        ...view(user),
        server_access,
        server_ids: nos.flatMap(no => registry.byNo(no)?.row.id ?? []),
        tags: isLimited ? [...accessTagsOf(user)] : [],
      }
    },
    async create(actor, input) {
      const { username, email, password, role, invite = false, mfa_required: mfaRequired = false } = input
      if (invite && password !== undefined)
        throw invalid('password', 'An invited user chooses the password: leave it out, or invite.')
      if (!invite && password === undefined) throw invalid('password', 'password is required.')
      const passwordHash =
        password === undefined ? null : await users.preparePassword('password', password, input.refuse_common)
      const invitation = invite ? newInvite(clock()) : null
      const user = await events.change(change =>
        users.create(change, authorOf(actor), {
          username,
          email,
          passwordHash,
          role: roleNamed(role),
          mfaRequired,
          ...(invitation ? { invite: invitation.columns } : {}),
        }),
      )
      return {
        id: user.id,
        username,
        email,
        role: user.role,
        created_at: iso(user.created_at),
        setup_url: invitation ? setupUrl(invitation.code) : null,
        invite_expires_at: isoOrNull(user.invite_expires_at),
      }
    },
    async invite(actor, id, keep = {}) {
      const { code, columns } = newInvite(clock())
      const { revoked_keys } = await revoking(actor, id, keep, async change => {
        const user = await findUser(change.sql, id)
        if (!user) throw notFound(`There is no user ${id}.`)
        if (user.last_login !== null || user.oauth_provider !== null)
          throw conflict(`${user.username} has signed in already. For a lost password there is reset-password.`)
        // Else the last administrator who can sign in could be turned into one who can't.
        if (user.role === 'Admin' && (await otherAdmins(change.sql, id, lock)) === 0) throw lastAdmin
        await updateUser(change.sql, id, { ...columns, password_hash: null, updated_at: clock() })
        await change.record({ name: 'user.invite', author: authorOf(actor), data: { id, username: user.username } })
        return {}
      })
      return { setup_url: setupUrl(code), invite_expires_at: iso(columns.invite_expires_at), revoked_keys }
    },
    async update(actor, id, { email, role, mfa_required, keep_keys }) {
      let user = await get(id)
      let revoked_keys = 0
      const set = {
        ...(email === undefined || email === user.email ? {} : { email, email_key: email.toLowerCase() }),
        ...(role === undefined || roleNamed(role) === user.role ? {} : { role: roleNamed(role) }),
        ...(mfa_required === undefined ? {} : { mfa_required: mfa_required ? 1 : 0 }),
      }
      // A key never exceeds the role of its owner: after a demotion it stays, unless the administrator says otherwise.
      if (Object.keys(set).length > 0 || keep_keys === false) {
        const changed = await revoking(actor, id, { keep_keys: keep_keys ?? true }, async change => {
          if (email !== undefined && (await takenName(change.sql, { email }, id)))
            throw conflict('This e-mail address is taken.')
          if (user.role === 'Admin' && 'role' in set && (await otherAdmins(change.sql, id, lock)) === 0) throw lastAdmin
          const done = await updateUser(change.sql, id, { ...set, updated_at: clock() })
          if (!done) throw notFound(`There is no user ${id}.`)
          await change.record({
            name: 'user.update',
            author: authorOf(actor),
            data: {
              id,
              username: done.username,
              ...(email === undefined ? {} : { email }),
              ...(role === undefined ? {} : { role: done.role, old_role: user.role }),
              ...(mfa_required === undefined ? {} : { mfa_required }),
            },
          })
          return { user: done }
        })
        user = changed.user
        revoked_keys = changed.revoked_keys
      }
      return {
        id,
        username: user.username,
        email: user.email,
        role: user.role,
        updated_at: iso(user.updated_at),
        revoked_keys,
      }
    },
    async remove(actor, id) {
      const user = await get(id)
      if (actor.userId === id) throw conflict("You can't delete your own account. Ask another administrator.")
      await events.change(async change => {
        if (user.role === 'Admin' && (await otherAdmins(change.sql, id, lock)) === 0) throw lastAdmin
        await removeUser(change.sql, id)
        await change.record({ name: 'user.delete', author: authorOf(actor), data: { id, username: user.username } })
      })
      await keys.reload()
    },
  }
}
