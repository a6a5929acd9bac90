import { permissionOf } from '../../core/actor.ts'
import type { Role, ServerScope } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Change } from '../../events/events.ts'
import type { Author } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { hashPassword, requirePolicy } from './passwords.ts'
import { countUsers, findUser, insertUser, serversOf } from './users.store.ts'
import type { UserRow } from './users.store.ts'

/** What a user may do now; read at each use, never from a token. */
export interface Grant {
  readonly user: UserRow
  readonly permission: 'read' | 'write' | 'admin'
  readonly servers: ServerScope
}

export interface UsersService {
  /** Null when the user is gone. */
  grantOf(userId: number): Promise<Grant | null>
  none(): Promise<boolean>
  /** Checks and hashes before a change, because a transaction must not wait for it. */
  preparePassword(path: string, password: string): Promise<string>
  create(
    change: Change,
    author: Author,
    user: { username: string; email: string; passwordHash: string; role: Role },
  ): Promise<UserRow>
}

export const createUsers = (db: Database, clock: Clock, settings: Pick<SettingsService, 'get'>): UsersService => ({
  async grantOf(userId) {
    const user = await findUser(db.read, userId)
    if (!user) return null
    const servers = user.role === 'Admin' || user.server_access === 'all' ? 'all' : await serversOf(db.read, userId)
    return { user, permission: permissionOf[user.role], servers }
  },
  async none() {
    return (await countUsers(db.read)) === 0
  },
  async preparePassword(path, password) {
    requirePolicy(path, password, settings.get('security.password_min_length'))
    return hashPassword(password)
  },
  async create(change, author, { username, email, passwordHash, role }) {
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
      created_at: at,
      updated_at: at,
    })
    await change.record({ name: 'user.create', author, data: { id: user.id, username, email, role } })
    return user
  },
})
