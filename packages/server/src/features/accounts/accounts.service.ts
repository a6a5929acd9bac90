import { randomInt } from 'node:crypto'
import type { BodyOf, QueryOf, ReplyOf, users as contract } from '@stockade/contract'
import { roleNamed } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText } from '../../core/ids.ts'
import { jsonText } from '../../core/json-text.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Change, Events } from '../../events/events.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import { removeTokensOf } from '../mfa/mfa.store.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { SessionsService, SessionView } from '../sessions/sessions.model.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { accessTagsOf, serversWithTags } from '../users/access-tags.store.ts'
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
  setPassword,
  setServersOf,
  takenName,
  updateUser,
} from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'

/** Keys of the account stay valid only when the administrator says so. */
interface KeepKeys {
  readonly keep_keys?: boolean
}

/** What an administrator does with accounts, and everybody with their own. */
export interface AccountsService {
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
  /** The made password; null when one was given. */
  resetPassword(
    actor: Principal,
    id: number,
    input: { new_password?: string; refuse_common?: boolean } & KeepKeys,
  ): Promise<{ temporary_password: string | null; revoked_keys: number }>
  resetMfa(actor: Principal, id: number, keep?: KeepKeys): Promise<{ revoked_keys: number }>
  setServerAccess(
    actor: Principal,
    id: number,
    input: BodyOf<typeof contract.putServerAccess>,
  ): Promise<{ access_type: 'all' | 'specific'; server_count: number }>
  sessions(actor: Principal, id: number): Promise<SessionView[]>
  endSession(actor: Principal, id: number, sessionId: string): Promise<void>
  endSessions(actor: Principal, id: number, exceptCurrent: boolean): Promise<number>
  /** For endpoints about a user: 404 when there is none. */
  get(id: number): Promise<UserRow>
}

/** A password that meets every policy: upper, lower and digit, 20 characters or as many as the settings want. */
const temporaryPassword = (minimum: number): string => {
  const digit = String(randomInt(10))
  const letters = `${'abcdefghijkmnopqrstuvwxyz'.charAt(randomInt(25))}${'ABCDEFGHJKLMNPQRSTUVWXYZ'.charAt(randomInt(24))}`
  return `${randomText(9)}${digit}${letters}${randomText(Math.max(20, minimum) - 12)}`
}
/** The caller's own session, when it is one. */
const currentOf = (actor: Principal) => (actor.kind === 'user' ? actor.sessionId : null)

export const createAccounts = (needs: {
  db: Database
  clock: Clock
  events: Events
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
}): AccountsService => {
  const { db, clock, events, settings, users, mfa, passkeys, throttle, sessions, keys, servers, registry, baseUrl } =
    needs
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
  /** A change of an account after which its keys are gone, unless they are to be kept. */
  const revoking = async <T extends object>(
    actor: Principal,
    id: number,
    { keep_keys: keep = false }: KeepKeys,
    work: (change: Change) => Promise<T>,
  ): Promise<T & { revoked_keys: number }> => {
    const done = await events.change(async change => ({
      ...(await work(change)),
      revoked_keys: keep ? 0 : await keys.revokeOf(change, authorOf(actor), id),
    }))
    if (done.revoked_keys > 0) await keys.reload()
    return done
  }
  const setupUrl = (code: string) => `${baseUrl()}/invite?code=${code}`
  const accessOf = (user: UserRow) => (user.role === 'Admin' ? 'all' : user.server_access)
  const lastAdmin = conflict('This is the last administrator. Make another one first.')

  return {
    get,
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
      const made = invite ? newInvite(clock()) : null
      const user = await events.change(change =>
        users.create(change, authorOf(actor), {
          username,
          email,
          passwordHash,
          role: roleNamed(role),
          mfaRequired,
          ...(made ? { invite: made.columns } : {}),
        }),
      )
      return {
        id: user.id,
        username,
        email,
        role: user.role,
        created_at: iso(user.created_at),
        setup_url: made ? setupUrl(made.code) : null,
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
    async setServerAccess(actor, id, { access_type, server_ids = [], tags: given = [] }) {
      const user = await get(id)
      const nos =
        access_type === 'all' ? [] : server_ids.map(serverId => servers.named(actor, 'server_ids', serverId).no)
      const tags = access_type === 'all' ? [] : [...new Set(given)].sort()
      await events.change(async change => {
        await updateUser(change.sql, id, {
          server_access: access_type,
          access_tags: tags.length === 0 ? null : jsonText(tags),
          updated_at: clock(),
        })
        await setServersOf(change.sql, id, nos)
        await change.record({
          name: 'user.server_access',
          author: authorOf(actor),
          data: {
            ...{ id, username: user.username, access_type, server_ids: [...server_ids] },
            ...(tags.length === 0 ? {} : { tags }),
          },
        })
      })
      const everything = access_type === 'all' || user.role === 'Admin'
      const seen = everything ? null : new Set([...nos, ...(await serversWithTags(db.read, tags))])
      return { access_type, server_count: seen ? seen.size : registry.all().length }
    },
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
