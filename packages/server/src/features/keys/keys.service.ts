import { bounds } from '@stockade/contract/limits.ts'
import type { KeyScope } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { atLeast, lower, permissionOf, sees } from '../../core/actor.ts'
import type { KeyActor, Principal, Role } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'
import { createLatest } from '../../core/latest.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { timeOf } from '../../core/page.ts'
import { conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Change, Events } from '../../events/events.ts'
import { accessTagsOf, serversWithTags } from '../users/access-tags.store.ts'
import type { UsersService } from '../users/users.service.ts'
import {
  agentKeysOf,
  countKeysOf,
  allKeys,
  expireKey,
  findKey,
  findKeyByHash,
  insertKey,
  keysOf,
  keysOfServer,
  removeKey,
  removeKeysOf,
  removeKeysOfServer,
  touchKeys,
} from './keys.store.ts'
import type { KeyRow } from './keys.store.ts'

type Permission = 'read' | 'write' | 'admin'
/** What limits a key to some servers. */
interface Bound {
  readonly servers: ReadonlySet<number>
  readonly tags: readonly string[]
}
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

/** What a key is to be like. */
export interface KeyInput {
  readonly name: string
  readonly permissions?: Permission
  /** The only server that it is for. */
  readonly server?: { readonly no: number; readonly id: string } | null
  /** ISO 8601. */
  readonly expires_at?: string
  readonly scopes?: readonly KeyScope[] | null
  readonly source_networks?: readonly string[] | null
  /** Servers with one of these tags are reached too. */
  readonly tags?: readonly string[] | null
}
/** What limits a key beside its permission; null for no limit. */
interface KeyLimits {
  readonly scopes: KeyScope[] | null
  readonly source_networks: string[] | null
  readonly tags: string[] | null
}
/** A key as its maker sees it, once. */
export interface KeyShown extends KeyLimits {
  id: number
  name: string
  key: string
  permissions: Permission
  server_id: string | null
  expires_at: string | null
  created_at: string
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
  /** Re-reads all keys: after changes here, and when another process changed one. */
  reload(): Promise<void>
  byKey(key: string, ip: string): KeyActor | null | Promise<KeyActor | null>
  flush(): Promise<void>
}

/** The networks in their canonical form. @throws Problem 400 */
const networksOf = (given: readonly string[] | null): string[] | null =>
  given &&
  given.map((text, index) => {
    const range = parseRange(text)
    if (!range) throw invalid(`source_networks.${index}`, `source_networks.${index} must be an address or a CIDR.`)
    return range.text
  })
/** @throws Problem 403 where the key is used from elsewhere. */
const requireSource = ({ source_networks }: KeyRow, ip: string): void => {
  if (source_networks === null) return
  const from = parseIp(ip)
  const allowed = parseJson(source_networks).flatMap(text => parseRange(text) ?? [])
  if (!from || !allowed.some(range => covers(range, from)))
    throw forbidden(`This API key is not for requests from ${ip}: it names the networks that it may be used from.`)
}

export const createKeys = async (needs: {
  db: Database
  clock: Clock
  events: Events
  users: Pick<UsersService, 'grantOf' | 'isVouchedFor' | 'lacksFactor'>
}): Promise<KeysService> => {
  const { db, clock, events, users } = needs
  const latest = createLatest()
  // Every key by its hash: an agent's request costs no query, and an unknown key none either.
  let known = new Map<string, KeyRow>()
  const used = new Map<number, { readonly at: number; readonly from: string }>()

  const make = () => {
    const key = `svc_${randomText(32)}`
    return { key, hash: sha256(key), prefix: key.slice(0, 8) }
  }
  const actorOf = (row: KeyRow, ip: string): KeyActor | null | Promise<KeyActor | null> => {
    const now = clock()
    if (row.expires_at !== null && row.expires_at <= now) return null
    requireSource(row, ip)
    used.set(row.id, { at: now, from: ip })
    const tags = accessTagsOf(row)
    const own = {
      kind: 'key',
      name: `key:${row.name}`,
      ip,
      keyId: row.id,
      userId: row.user_id,
      serverNo: row.server_no,
      isBound: row.server_no !== null || tags.length > 0,
      scopes: row.scopes === null ? null : new Set(parseJson(row.scopes)),
    } as const
    // The keys of hosts, and those of the fleet, cost no query.
    if (tags.length === 0) return grantedTo(row, own, boundTo(row, new Set()))
    return serversWithTags(db.read, tags).then(tagged => grantedTo(row, own, boundTo(row, tagged)))
  }
  const boundTo = (row: KeyRow, tagged: ReadonlySet<number>): Bound | null =>
    row.server_no === null && row.access_tags === null
      ? null
      : { servers: new Set([...(row.server_no === null ? [] : [row.server_no]), ...tagged]), tags: accessTagsOf(row) }
  /** @param bound what the key is bound to; null: to nothing */
  const grantedTo = (
    row: KeyRow,
    own: Omit<KeyActor, 'permission' | 'servers' | 'accessTags' | 'mfaMissing'>,
    bound: Bound | null,
  ): KeyActor | null | Promise<KeyActor | null> => {
    if (row.user_id === null) {
      const accessTags = new Set(bound?.tags)
      return { ...own, mfaMissing: false, permission: row.permissions, servers: bound?.servers ?? 'all', accessTags }
    }
    // A person's key is never more than the person is now.
    return users.grantOf(row.user_id).then(grant => {
      if (!grant) return null
      // With tags as well: as an agent's, the key speaks for this server.
      if (row.server_no !== null && !sees(grant, row.server_no)) return null
      // A user without a password loses access when the sign-in provider is switched off.
      const byProvider = grant.user.oauth_provider !== null && grant.user.password_hash === null
      if (byProvider && !users.isVouchedFor(grant.user)) return null
      const mfaMissing = !byProvider && users.lacksFactor(grant.user)
      return {
        ...own,
        mfaMissing,
        permission: lower(row.permissions, grant.permission),
        servers: bound ? new Set([...bound.servers].filter(no => sees(grant, no))) : grant.servers,
        accessTags: bound
          ? new Set(bound.tags.filter(tag => grant.servers === 'all' || grant.accessTags.has(tag)))
          : grant.accessTags,
      }
    })
  }

  const add = async (
    actor: Principal,
    userId: number | null,
    {
      name,
      permissions = 'read',
      server = null,
      expires_at,
      scopes = null,
      source_networks = null,
      tags = null,
    }: KeyInput,
  ): Promise<KeyShown> => {
    const limits = {
      scopes: scopes && [...scopes],
      source_networks: networksOf(source_networks),
      tags: tags && [...new Set(tags)].sort(),
    }
    const expires = expires_at === undefined ? null : timeOf('expires_at', expires_at)
    if (expires !== null && expires <= clock()) throw invalid('expires_at', 'expires_at is past.')
    const { key, hash, prefix } = make()
    const row = await events.change(async change => {
      if (userId !== null && (await countKeysOf(change.sql, userId)) >= bounds.keysPerUser)
        throw conflict(`This user has ${bounds.keysPerUser} API keys. Revoke some that are not used first.`)
      const made = await insertKey(change.sql, {
        name,
        permissions,
        scopes: limits.scopes && jsonText(limits.scopes),
        source_networks: limits.source_networks && jsonText(limits.source_networks),
        access_tags: limits.tags && jsonText(limits.tags),
        user_id: userId,
        server_no: server?.no ?? null,
        expires_at: expires,
        hash,
        prefix,
        kind: 'user',
        created_at: clock(),
      })
      await change.record({
        name: 'key.create',
        author: authorOf(actor),
        ...(server ? { serverNo: server.no } : {}),
        data: {
          id: made.id,
          name: made.name,
          permissions: made.permissions,
          server_id: server?.id ?? null,
          user_id: made.user_id,
          expires_at: isoOrNull(expires),
          ...limits,
        },
      })
      return made
    })
    known.set(row.hash, row)
    return {
      id: row.id,
      name,
      key,
      permissions,
      server_id: server?.id ?? null,
      expires_at: isoOrNull(expires),
      ...limits,
      created_at: iso(row.created_at),
    }
  }
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
      known.delete(row.hash)
    },
    async createForServer(change, author, kind, serverNo, name) {
      const { key, hash, prefix } = make()
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
    remember: row => void known.set(row.hash, row),
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
    reload: () =>
      latest(
        () => allKeys(db.read),
        rows => (known = new Map(rows.map(row => [row.hash, row]))),
      ),
    byKey(key, ip) {
      if (key.length !== 36) return null
      const hash = sha256(key)
      const row = known.get(hash)
      if (row) return actorOf(row, ip)
      // Another process may have made it a moment ago; a single one knows them all.
      if (db.engine === 'sqlite') return null
      const before = latest.taken()
      return findKeyByHash(db.read, hash).then(found => {
        if (!found) return null
        if (latest.taken() === before) known.set(hash, found)
        return actorOf(found, ip)
      })
    },
    async flush() {
      const batch = new Map(used)
      used.clear()
      if (batch.size > 0) await db.write.transaction().execute(sql => touchKeys(sql, batch))
    },
  }
  await service.reload()
  return service
}
