import { keys as contract } from '@stockade/contract'
import type { KeyScope } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'
import { parseRange } from '../../core/ip.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { timeOf } from '../../core/page.ts'
import { invalid } from '../../core/problem.ts'
import type { Events } from '../../events/events.ts'
import { countKeysOf, insertKey } from './keys.store.ts'
import type { KeyRow } from './keys.store.ts'

export type Permission = 'read' | 'write' | 'admin'
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
export interface KeyLimits {
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

/** The networks in their canonical form. @throws Problem 400 */
const networksOf = (given: readonly string[] | null): string[] | null =>
  given &&
  given.map((text, index) => {
    const range = parseRange(text)
    if (!range) throw invalid(`source_networks.${index}`, `source_networks.${index} must be an address or a CIDR.`)
    return range.text
  })
/** A new key, with what is stored of it. */
export const makeKey = () => {
  const key = `svc_${randomText(32)}`
  return { key, hash: sha256(key), prefix: key.slice(0, 8) }
}

/** Makes a key for a user, or for none. */
export const createKeyAdding = (needs: {
  clock: Clock
  events: Events
  remember: (row: KeyRow) => void
}): ((actor: Principal, userId: number | null, input: KeyInput) => Promise<KeyShown>) => {
  const { clock, events, remember } = needs
  return async (
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
  ) => {
    const limits = {
      scopes: scopes && [...scopes],
      source_networks: networksOf(source_networks),
      tags: tags && [...new Set(tags)].sort(),
    }
    const expires = expires_at === undefined ? null : timeOf('expires_at', expires_at)
    if (expires !== null && expires <= clock()) throw invalid('expires_at', 'expires_at is past.')
    const { key, hash, prefix } = makeKey()
    const row = await events.change(async change => {
      admit(contract.createKey.leaves, { all: await countKeysOf(change.sql, userId) })
      const newKey = await insertKey(change.sql, {
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
          id: newKey.id,
          name: newKey.name,
          permissions: newKey.permissions,
          server_id: server?.id ?? null,
          user_id: newKey.user_id,
          expires_at: isoOrNull(expires),
          ...limits,
        },
      })
      return newKey
    })
    remember(row)
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
}
