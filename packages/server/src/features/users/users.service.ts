import { users as contract } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { permissionOf } from '../../core/actor.ts'
import type { Role, ServerScope } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Change } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { isFactorMissing } from './factors.ts'
import { isCommonPassword } from './common-passwords.ts'
import { noInvite } from './invites.ts'
import type { Invite } from './invites.ts'
import { hashPassword, requirePolicy } from './passwords.ts'
import { accessTagsOf, serversWithTags } from './access-tags.store.ts'
import { adminsByProvider, countUsers, findUser, insertUser, serversOf, takenName } from './users.store.ts'
import type { UserRow } from './users.store.ts'

/** What a user may do now; read at each use, never from a token. */
export interface Grant {
  readonly user: UserRow
  readonly permission: 'read' | 'write' | 'admin'
  readonly servers: ServerScope
  /** Tags that the access is by; empty with access to all servers. */
  readonly accessTags: ReadonlySet<string>
}

export interface NewUser {
  readonly username: string
  readonly email: string
  /** Null for somebody who signs in through a provider only, or is invited. */
  readonly passwordHash: string | null
  readonly role: Role
  readonly mfaRequired?: boolean
  readonly invite?: Invite
  readonly provider?: {
    readonly id: 'provider_a' | 'provider_b'
    readonly subject: string
    readonly admittedAs: string
  }
}

export interface UsersService {
  /** Null when the user is gone. */
  grantOf(userId: number): Promise<Grant | null>
  none(): Promise<boolean>
  /** A second factor is required of this user, and none is on. */
  lacksFactor(user: UserRow): boolean
  /** Whether the provider that vouches for this user is on, and its allow-lists still hold what let the user in. */
  isVouchedFor(user: UserRow): boolean
  /** Whether an administrator signs in through a provider: without one, passwords stay. */
  adminByProvider(): Promise<boolean>
  /**
   * Checks and hashes before a change, because a transaction must not wait for it. The most common passwords are refused
   * where the settings or the request say so.
   */
  preparePassword(path: string, password: string, refuseCommon?: boolean): Promise<string>
  /** @throws Problem 409 when the username or the e-mail address is taken. */
  create(change: Change, author: Author, user: NewUser): Promise<UserRow>
}

export const createUsers = (db: Database, clock: Clock, settings: Pick<SettingsService, 'get'>): UsersService => ({
  async grantOf(userId) {
    const user = await findUser(db.read, userId)
    if (!user) return null
    const permission = permissionOf[user.role]
    if (user.role === 'Admin' || user.server_access === 'all')
      return { user, permission, servers: 'all', accessTags: new Set() }
    const tags = accessTagsOf(user)
    const servers = await serversOf(db.read, userId)
    const tagged = await serversWithTags(db.read, tags)
    return { user, permission, servers: new Set([...servers, ...tagged]), accessTags: new Set(tags) }
  },
  lacksFactor: user => isFactorMissing(user, settings.get),
  isVouchedFor({ oauth_provider: id, oauth_admitted_as: entry }) {
    if (id !== 'provider_a' && id !== 'provider_b') return false
    if (!settings.get(`oauth.${id}.enabled`)) return false
    // Users from before this was noted: their next sign-in does.
    if (entry === null) return true
    const org = settings.get('oauth.provider_a.allowed_org')
    const lists = {
      provider_a: [...settings.get('oauth.provider_a.allowed_users'), ...(org === null ? [] : [`org:${org}`])],
      provider_b: settings.get('oauth.provider_b.allowed_domains'),
    }
    return lists[id].some(allowed => allowed.toLowerCase() === entry)
  },
  async none() {
    return (await countUsers(db.read)) === 0
  },
  async adminByProvider() {
    return (await adminsByProvider(db.read)) > 0
  },
  async preparePassword(path, password, refuseCommon = false) {
    requirePolicy(path, password, settings.get('security.password_min_length'))
    if ((refuseCommon || settings.get('security.refuse_common_passwords')) && isCommonPassword(password))
      throw invalid(path, 'The password is one of the most common ones, which are tried first. Choose another one.')
    return hashPassword(password)
  },
  async create(change, author, { username, email, passwordHash, role, provider, mfaRequired = false, invite }) {
    const takenField = await takenName(change.sql, { username, email })
    if (takenField)
      throw conflict(
        `This ${takenField === 'email' ? 'e-mail address' : 'username'} is taken.`,
        takenField === 'email' ? 'email-taken' : 'username-taken',
      )
    admit(contract.createUser.leaves, { all: await countUsers(change.sql) })
    const at = clock()
    const user = await insertUser(change.sql, {
      username,
      username_key: username.toLowerCase(),
      email,
      email_key: email.toLowerCase(),
      password_hash: passwordHash,
      role,
      server_access: 'all',
      mfa_enabled: 0,
      mfa_required: mfaRequired ? 1 : 0,
      ...(invite ?? noInvite),
      oauth_provider: provider?.id ?? null,
      oauth_subject: provider?.subject ?? null,
      oauth_admitted_as: provider?.admittedAs ?? null,
      created_at: at,
      updated_at: at,
    })
    await change.record({
      name: 'user.create',
      author,
      data: {
        id: user.id,
        username,
        email,
        role,
        ...(invite ? { invited: true } : {}),
        ...(mfaRequired ? { mfa_required: true } : {}),
      },
    })
    return user
  },
})
