import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf, servers as contract } from '@stockade/contract'
import { atLeast, sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import { forbidden, invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Change, Events } from '../../events/events.ts'
import { accessTags } from '../users/access-tags.store.ts'
import type { Registry } from './registry.ts'
import type { ServerRow } from './servers.store.ts'
import { addTag, lockServers, removeTag, saveTags, tagsOf } from './tags.store.ts'
import { trustedTags } from './trusted-tags.store.ts'

/** A server whose tags changed. */
export interface Retagged {
  readonly serverNo: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
}
export type RetagHook = (change: Pick<Change, 'sql'>, retagged: readonly Retagged[]) => Promise<void>

/** Who changes tags, with what that person may do. */
export type Tagger = Pick<Principal, 'name' | 'userId' | 'ip' | 'permission' | 'servers'>

export interface ServerTags {
  /** Adds and removes tags of many servers. @throws Problem 400, 403 */
  change(actor: Principal, input: BodyOf<typeof contract.changeServerTags>): Promise<number>
  list(actor: Principal): Promise<ReplyOf<typeof contract.listServerTags>>
  /**
   * Within a change: gives servers the tags that `next` makes of theirs. Pass the rows to `take` after the commit.
   * @throws Problem 400 beyond the bound, 403 for tags that access depends on, and for those that something else names where the caller is limited
   */
  edit(
    change: Change,
    actor: Tagger,
    serverNos: readonly number[],
    next: (tags: readonly string[]) => readonly string[],
  ): Promise<ServerRow[]>
  take(rows: readonly ServerRow[]): Promise<void>
  /** Runs `hook` in the transaction of each change of tags, and `after` with the servers when it is committed. */
  onRetag(hook: RetagHook, after: (rows: readonly ServerRow[]) => Promise<void>): void
}

const sorted = (tags: Iterable<string>): string[] => [...new Set(tags)].sort()

export const createServerTags = (needs: {
  db: Database
  clock: Clock
  events: Pick<Events, 'change'>
  registry: Pick<Registry, 'all' | 'byId' | 'put'>
}): ServerTags => {
  const { db, clock, events, registry } = needs
  const hooks: RetagHook[] = []
  const listeners: ((rows: readonly ServerRow[]) => Promise<void>)[] = []

  /** Else an operator could give servers to other people, or to himself. */
  const refuseAccessTags = async (change: Change, actor: Tagger, changed: ReadonlySet<string>) => {
    if (atLeast(actor.permission, 'admin') && actor.servers === 'all') return
    const used = await accessTags(change.sql, clock(), db.engine)
    const refused = sorted(changed).filter(tag => used.has(tag))
    if (refused.length === 0) return
    throw forbidden(
      `The access of users or API keys depends on the tag ${refused.join(', ')}. Only an administrator with access to all servers changes which servers have it.`,
    )
  }
  /** Else a server could be made one whose reports rules believe, or one that they pass over. */
  const refuseTrustedTags = async (change: Change, actor: Tagger, changed: ReadonlySet<string>) => {
    if (actor.servers === 'all') return
    const [trusted] = await trustedTags(change.sql, sorted(changed), clock())
    if (trusted === undefined) return
    const [tag, what] = trusted
    throw forbidden(
      `The tag ${tag} is named by ${what}. Only somebody with access to all servers changes which servers have it.`,
    )
  }
  const write = async (change: Change, rows: readonly { no: number; before: readonly string[]; after: string[] }[]) => {
    const byText = new Map<string, { nos: number[]; tags: string[] }>()
    const added = new Map<string, number[]>()
    const removed = new Map<string, number[]>()
    const note = (map: Map<string, number[]>, tag: string, no: number) => {
      const nos = map.get(tag)
      if (nos) nos.push(no)
      else map.set(tag, [no])
    }
    for (const { no, before, after } of rows) {
      const group = byText.get(after.join()) ?? { nos: [], tags: after }
      byText.set(after.join(), group)
      group.nos.push(no)
      for (const tag of after) if (!before.includes(tag)) note(added, tag, no)
      for (const tag of before) if (!after.includes(tag)) note(removed, tag, no)
    }
    const saved: ServerRow[] = []
    for (const { nos, tags } of byText.values()) saved.push(...(await saveTags(change.sql, nos, tags, clock())))
    for (const [tag, nos] of added) await addTag(change.sql, tag, nos)
    for (const [tag, nos] of removed) await removeTag(change.sql, tag, nos)
    return saved
  }
  const edit: ServerTags['edit'] = async (change, actor, serverNos, next) => {
    const changed = (await lockServers(change.sql, db.engine, serverNos)).flatMap(row => {
      const before = tagsOf(row)
      const after = sorted(next(before))
      if (after.length > bounds.tagsPerServer)
        throw invalid(
          'tags',
          `${row.hostname} would have ${after.length} tags; a server has at most ${bounds.tagsPerServer}.`,
        )
      return after.join() === before.join() ? [] : [{ no: row.no, before, after }]
    })
    if (changed.length === 0) return []
    const retagged = changed.map(({ no, before, after }) => ({
      serverNo: no,
      added: after.filter(tag => !before.includes(tag)),
      removed: before.filter(tag => !after.includes(tag)),
    }))
    const tags = new Set(retagged.flatMap(({ added, removed }) => [...added, ...removed]))
    await refuseAccessTags(change, actor, tags)
    await refuseTrustedTags(change, actor, tags)
    const rows = await write(change, changed)
    for (const hook of hooks) await hook(change, retagged)
    const byNo = new Map(rows.map(row => [row.no, row]))
    await change.recordMany(
      retagged.map(({ serverNo, added, removed }) => {
        const row = byNo.get(serverNo)
        const data = { id: row?.id, hostname: row?.hostname, added, removed }
        return { name: 'server.tags' as const, author: authorOf(actor), serverNo, data }
      }),
    )
    return rows
  }

  const take = async (rows: readonly ServerRow[]) => {
    if (rows.length === 0) return
    for (const row of rows) registry.put(row)
    for (const listener of listeners) await listener(rows)
  }

  return {
    edit,
    take,
    async change(actor, { server_ids, add = [], remove = [] }) {
      const both = add.find(tag => remove.includes(tag))
      if (both !== undefined) throw invalid('remove', `${both} is in add and in remove.`)
      const nos = server_ids.map(id => {
        const server = registry.byId(id)
        if (!server) throw invalid('server_ids', `There is no server ${id}.`)
        if (!sees(actor, server.row.no)) throw forbidden('You have no access to this server.')
        return server.row.no
      })
      const gone = new Set(remove)
      const next = (tags: readonly string[]) => [...tags, ...add].filter(tag => !gone.has(tag))
      const rows = await events.change(change => edit(change, actor, nos, next))
      await take(rows)
      return rows.length
    },
    async list(actor) {
      const counts = new Map<string, number>()
      for (const { row } of registry.all())
        if (sees(actor, row.no)) for (const tag of tagsOf(row)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
      const used = await accessTags(db.read, clock())
      const tags = sorted(counts.keys())
      return { tags: tags.map(tag => ({ tag, servers: counts.get(tag) ?? 0, grants_access: used.has(tag) })) }
    },
    onRetag(hook, after) {
      hooks.push(hook)
      listeners.push(after)
    },
  }
}
