import { atLeast, permissionOf, sees } from '../../core/actor.ts'
import type { KeyActor, Principal, Role } from '../../core/actor.ts'
import type { Author } from '../../core/author.ts'
import { authorOf } from '../../core/author.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { parseJson } from '../../core/json-text.ts'
import { forbidden, invalid, notFound } from '../../core/problem.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { accessTagsOf } from '../users/access-tags.store.ts'
import type { UsersService } from '../users/users.service.ts'
import { createKeyActors } from './key-actors.ts'
import { createKeyAdding, makeKey } from './key-adding.ts'
import type { KeyInput, KeyLimits, KeyShown, Permission } from './key-adding.ts'
import {
  agentKeysOf,
  expireKey,
  findKey,
  insertKey,
  keysOf,
  keysOfServer,
  removeKey,
  removeKeysOf,
  removeKeysOfServer,
  removeOldKeyChanges,
  touchKeys,
} from './keys.store.ts'
import type { KeyRow } from './keys.store.ts'
import { createKnownKeys, keptKeyChanges } from './known-keys.ts'

export interface MadeKey {
  readonly id: number
  readonly key: string
  readonly row: KeyRow
}

export interface KeyView extends KeyLimits {
  readonly id: number
  readonly name: string
  readonly prefix: string
  readonly permissions: Permission
  readonly server_id: string | null
  readonly expires_at: string | null
  readonly last_used: string | null
  readonly last_used_from: string | null
  readonly created_at: string
}

export interface KeysService {
  create(actor: Principal, input: KeyInput): Promise<KeyShown>
  /** A key for a user: no more than the user may, and no more than the caller. */
  createFor(actor: Principal, user: { id: number; role: Role }, input: KeyInput): Promise<KeyShown>
  /** A user's keys, without what opens anything. */
  listOf(userId: number): Promise<KeyView[]>
  /** The keys that are bound to a server, without what opens anything. */
  listOfServer(serverNo: number): Promise<(Omit<KeyView, 'server_id'> & { readonly kind: KeyRow['kind'] })[]>
  remove(actor: Principal, id: number): Promise<void>
  /** A key for a host, made inside the change that registers or enrols it; call `remember` after the commit. */
  createForServer(
    change: Change,
    author: Author,
    kind: 'agent' | 'server',
    serverNo: number,
    name: string,
  ): Promise<MadeKey>
  remember(row: KeyRow): void
  /** Ends the keys of a server's earlier agents at that time; with `unused` also the key of its registration, if it was never used. */
  retireAgentKeys(change: Change, serverNo: number, except: number, at: number, unused?: boolean): Promise<void>
  removeForServer(change: Change, serverNo: number): Promise<void>
  /** Inside a change: revokes what a user has, and says how many; call `reload` after the commit. */
  revokeOf(change: Change, author: Author, userId: number): Promise<number>
  /** Re-reads the keys that changed: after changes here, and when another process changed one. */
  reload(): Promise<void>
  reloadAll(): Promise<void>
  byKey(key: string, ip: string): KeyActor | null | Promise<KeyActor | null>
  flush(): Promise<void>
  /** Removes what no process needs any more to know which keys changed. */
  sweep(): Promise<void>
}

export const createKeys = async (
  needs: StoreAccess & {
    users: Pick<UsersService, 'grantOf' | 'isVouchedFor' | 'lacksFactor'>
  },
): Promise<KeysService> => {
  const { db, clock, events, users } = needs
  const knownKeys = createKnownKeys(db)
  const used = new Map<number, { readonly at: number; readonly from: string }>()

  const actorOf = createKeyActors({
    ...needs,
    noteUse: (id, from) => void used.set(id, { at: clock(), from }),
  })
  const add = createKeyAdding({ clock, events, remember: knownKeys.set })
  const viewOf = (row: KeyRow) => {
    const use = used.get(row.id)
    const recent = use && use.at >= (row.last_used ?? 0)
    return {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      permissions: row.permissions,
      expires_at: isoOrNull(row.expires_at),
      scopes: row.scopes === null ? null : [...parseJson(row.scopes)],
      source_networks: row.source_networks === null ? null : [...parseJson(row.source_networks)],
      tags: row.access_tags === null ? null : [...accessTagsOf(row)],
      last_used: isoOrNull(recent ? use.at : row.last_used),
      last_used_from: recent ? use.from : row.last_used_from,
      created_at: iso(row.created_at),
    }
  }
  const service: KeysService = {
    async create(actor, input) {
      const { permissions = 'read' } = input
      if (!atLeast(actor.permission, permissions))
        throw forbidden(`You have ${actor.permission} permission and can't give ${permissions}.`)
      return add(actor, actor.userId, input)
    },
    async createFor(actor, user, input) {
      const { permissions = 'read', server } = input
      const most = permissionOf[user.role]
      if (!atLeast(most, permissions) || !atLeast(actor.permission, permissions))
        throw forbidden(`A ${user.role} has ${most} permission; a key can't have more.`)
      const grant = server ? await users.grantOf(user.id) : null
      if (server && !(grant && sees(grant, server.no)))
        throw invalid('server_id', 'This user has no access to that server; the key would be good for nothing.')
      return add(actor, user.id, input)
    },
    async listOf(userId) {
      return (await keysOf(db.read, userId)).map(row => ({ ...viewOf(row), server_id: row.server_id }))
    },
    async listOfServer(serverNo) {
      return (await keysOfServer(db.read, serverNo, clock())).map(row => ({ ...viewOf(row), kind: row.kind }))
    },
    async remove(actor, id) {
      const row = await findKey(db.read, id)
      if (!row) throw notFound(`There is no API key ${id}.`)
      const own = actor.kind === 'user' ? row.user_id === actor.userId : row.id === actor.keyId
      if (!own && !atLeast(actor.permission, 'admin'))
        throw forbidden("Only an administrator can revoke somebody else's key.")
      await events.change(async change => {
        await removeKey(change.sql, id)
        await change.record({ name: 'key.delete', author: authorOf(actor), data: { id, name: row.name } })
      })
      knownKeys.delete(row.hash)
    },
    async createForServer(change, author, kind, serverNo, name) {
      const { key, hash, prefix } = makeKey()
      const row = await insertKey(change.sql, {
        name,
        hash,
        prefix,
        permissions: 'write',
        kind,
        server_no: serverNo,
        created_at: clock(),
      })
      await change.record({
        name: 'key.create',
        author,
        serverNo,
        data: { id: row.id, name, permissions: 'write', kind },
      })
      return { id: row.id, key, row }
    },
    remember: knownKeys.set,
    async retireAgentKeys(change, serverNo, except, at, unused = false) {
      for (const row of await agentKeysOf(change.sql, serverNo, except)) await expireKey(change.sql, row.id, at)
      if (!unused) return
      for (const { kind, id, last_used } of await keysOfServer(change.sql, serverNo, at))
        if (kind === 'server' && last_used === null && !used.has(id)) await expireKey(change.sql, id, at)
    },
    async revokeOf(change, author, userId) {
      const rows = await removeKeysOf(change.sql, userId)
      await change.recordMany(rows.map(({ id, name }) => ({ name: 'key.delete' as const, author, data: { id, name } })))
      return rows.length
    },
    removeForServer: (change, serverNo) => removeKeysOfServer(change.sql, serverNo),
    reload: knownKeys.readChanges,
    reloadAll: knownKeys.readAll,
    byKey(key, ip) {
      if (key.length !== 36) return null
      const hash = sha256(key)
      const row = knownKeys.get(hash)
      if (row) return actorOf(row, ip)
      // Another process may have made it a moment ago; a single one knows them all.
      if (db.engine === 'sqlite') return null
      return knownKeys.find(hash).then(found => (found ? actorOf(found, ip) : null))
    },
    async flush() {
      const batch = new Map(used)
      used.clear()
      if (batch.size > 0) await touchKeys(db.write, db.engine, batch)
    },
    sweep: () => removeOldKeyChanges(db.write, db.engine, keptKeyChanges),
  }
  await service.reloadAll()
  return service
}
