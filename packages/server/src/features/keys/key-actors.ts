import type { KeyScope } from '@stockade/contract'
import { lower, sees } from '../../core/actor.ts'
import type { KeyActor } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { forbidden } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { accessTagsOf, serversWithTags } from '../users/access-tags.store.ts'
import { standingOf } from '../users/standing.ts'
import type { UsersService } from '../users/users.service.ts'
import type { KeyRow } from './keys.store.ts'

/** What limits a key to some servers. */
interface Bound {
  readonly servers: ReadonlySet<number>
  readonly tags: readonly string[]
}

/** An agent's key is for what agents do, and a host that is lost with it loses nothing else. */
const scopesOf = ({ kind, scopes }: KeyRow): ReadonlySet<KeyScope> | null => {
  if (kind === 'agent') return new Set(['agent'])
  return scopes === null ? null : new Set(parseJson(scopes))
}
/** @throws Problem 403 where the key is used from elsewhere. */
const requireSource = ({ source_networks }: KeyRow, ip: string): void => {
  if (source_networks === null) return
  const from = parseIp(ip)
  const allowed = parseJson(source_networks).flatMap(text => parseRange(text) ?? [])
  if (!from || !allowed.some(range => covers(range, from)))
    throw forbidden(`This API key is not for requests from ${ip}: it names the networks that it may be used from.`)
}

/** Who speaks with a key; null when it is good for nothing any more. */
export const createKeyActors = (needs: {
  db: Pick<Database, 'read'>
  clock: Clock
  users: Pick<UsersService, 'grantOf' | 'isVouchedFor' | 'lacksFactor'>
  noteUse: (id: number, from: string) => void
}) => {
  const { db, clock, users, noteUse } = needs
  const actorOf = (row: KeyRow, ip: string): KeyActor | null | Promise<KeyActor | null> => {
    const now = clock()
    if (row.expires_at !== null && row.expires_at <= now) return null
    requireSource(row, ip)
    noteUse(row.id, ip)
    const tags = accessTagsOf(row)
    const own = {
      kind: 'key',
      name: `key:${row.name}`,
      ip,
      keyId: row.id,
      userId: row.user_id,
      serverNo: row.server_no,
      isBound: row.server_no !== null || tags.length > 0,
      isOfHost: row.kind !== 'user',
      scopes: scopesOf(row),
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
      const standing = standingOf(users, grant.user)
      if (!standing) return null
      return {
        ...own,
        ...standing,
        permission: lower(row.permissions, grant.permission),
        servers: bound ? new Set([...bound.servers].filter(no => sees(grant, no))) : grant.servers,
        accessTags: bound
          ? new Set(bound.tags.filter(tag => grant.servers === 'all' || grant.accessTags.has(tag)))
          : grant.accessTags,
      }
    })
  }
  return actorOf
}
