import { feeds as contract } from '@stockade/contract'
import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, QueryOf, ReplyOf } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { day, iso, isoOrNull, minute, second } from '../../core/clock.ts'
import { randomText, sha256 } from '../../core/ids.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import { readSearch } from '../../db/search.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { createFeedBudgets } from './budgets.ts'
import { contentsOf } from './contents.ts'
import type { Contents, Loaded, ReadFeed } from './contents.ts'
import {
  allFeeds,
  countFeeds,
  deleteFeed,
  findFeed,
  findFeedBy,
  followedFeeds,
  insertFeed,
  noteFeedContents,
  noteTold,
  updateFeed,
} from './feeds.store.ts'
import type { FeedRow } from './feeds.store.ts'
import { renderFeed } from './formats.ts'
import type { Entries } from './formats.ts'

type NewFeed = ReplyOf<typeof contract.createFeed>
type ContentsInput = Partial<Contents>
type Asked = QueryOf<typeof contract.readFeed>

/** A feed as it is sent. */
export interface Served {
  /** Another body has another version. */
  readonly version: string
  readonly changedAt: number
  readonly isJson: boolean
  readonly text: string
  readonly gzip: Buffer
}
/** What a feed holds, and since when. */
type Shown = Loaded & { readonly changedAt: number }
export interface FeedsService {
  list(): Promise<ReplyOf<typeof contract.listFeeds>>
  /** @throws Problem 400, 409 where the name is taken or there are too many */
  create(actor: Principal, input: BodyOf<typeof contract.createFeed>): Promise<NewFeed>
  /** @throws Problem 400 for a search that does not parse */
  preview(input: BodyOf<typeof contract.previewFeed>): Promise<ReplyOf<typeof contract.previewFeed>>
  change(actor: Principal, id: number, input: BodyOf<typeof contract.changeFeed>): Promise<contract.Feed>
  rotate(actor: Principal, id: number): Promise<NewFeed>
  /** Answers the name. */
  remove(actor: Principal, id: number): Promise<string>
  /** @throws Problem 404 for an unknown token, 429 beyond the budget of the feed */
  read(token: string, ip: string, asked: Asked): Promise<Served>
  /** The feed with the token; undefined for none. */
  find(token: string): Promise<FeedRow | undefined>
  /** Feeds that bouncers follow and that somebody read since then. */
  usedSince(time: number): Promise<FeedRow[]>
  /** Notes that a bouncer at this address asked. */
  noteBouncer(row: FeedRow, ip: string): Promise<void>
  /** What it holds, for bouncers. */
  hold(row: FeedRow): Promise<Loaded>
}

const usual: Contents = { q: '', bans: true, fleet_bans: true, family: 'both', maximum: 100_000 }
const useNoted = 5 * minute
/** Texts that are kept, so that many consumers of one feed cost one text. */
const mostTexts = 16
const packed = promisify(gzip)

export const createFeeds = (
  needs: StoreAccess & {
    /** Several processes share the database. */
    readonly isShared: boolean
    readonly baseUrl: () => string
    readonly load: (row: ReadFeed) => Promise<Loaded>
  },
): FeedsService => {
  const { db, clock, events } = needs
  const texts = new Map<string, Promise<Served>>()

  const view = (row: FeedRow): contract.Feed => ({
    id: row.id,
    name: row.name,
    ...contentsOf(row),
    created_by: row.created_by,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    used_at: isoOrNull(row.used_at),
    used_from: row.used_from,
  })
  const viewNew = (row: FeedRow, token: string): NewFeed => ({
    ...view(row),
    token,
    url: `${needs.baseUrl()}/api/v1/feeds/${token}`,
  })
  const contentsWith = (before: Contents, { q, bans, fleet_bans, family, maximum }: ContentsInput): Contents => {
    // A search that does not parse is refused here and not at each download.
    readSearch(q, 'bans')
    return {
      q: q ?? before.q,
      bans: bans ?? before.bans,
      fleet_bans: fleet_bans ?? before.fleet_bans,
      family: family ?? before.family,
      maximum: maximum ?? before.maximum,
    }
  }
  const record = (change: Change, name: FeedEvent, actor: Principal, row: FeedRow) =>
    change.record({ name, author: authorOf(actor), data: { id: row.id, name: row.name, ...contentsOf(row) } })
  const refuseTakenName = async (change: Pick<Change, 'sql'>, name: string, id: number | null) => {
    const other = await findFeedBy(change.sql, 'name', name)
    if (other && other.id !== id) throw conflict(`There is a feed with the name ${name}.`)
  }
  const feedById = async (change: Pick<Change, 'sql'>, id: number): Promise<FeedRow> => {
    const row = await findFeed(change.sql, id)
    if (!row) throw notFound(`There is no feed ${id}.`)
    return row
  }
  const update = (actor: Principal, id: number, name: FeedEvent, setOf: (row: FeedRow) => Partial<FeedRow>) =>
    events.change(async change => {
      const before = await feedById(change, id)
      const set = setOf(before)
      if (set.name !== undefined) await refuseTakenName(change, set.name, id)
      const after = (await updateFeed(change.sql, id, { ...set, updated_at: clock() })) ?? before
      await record(change, name, actor, after)
      return after
    })

  const spend = createFeedBudgets(needs)
  const noteUse = async (row: FeedRow, ip: string) => {
    const now = clock()
    if (row.used_at !== null && row.used_from === ip && now - row.used_at < useNoted && now >= row.used_at) return
    await updateFeed(db.write, row.id, { used_at: now, used_from: ip })
  }
  /** When uses by bouncers were noted. Hundreds of addresses take turns: the last one, each five minutes, will do. */
  const bouncersNoted = new Map<number, number>()
  const noteBouncer = async (row: FeedRow, ip: string) => {
    const now = clock()
    if (Math.abs(now - (bouncersNoted.get(row.id) ?? -Infinity)) < useNoted) return
    bouncersNoted.set(row.id, now)
    await noteUse(row, ip)
  }

  /** `Last-Modified` counts in seconds: a change is at least one second later than the one before. */
  const changedAtOf = async (row: FeedRow, { digest, loadedAt }: Loaded): Promise<number> => {
    if (row.digest === digest) return row.changed_at
    const nextSecond = (Math.floor(row.changed_at / second) + 1) * second
    return noteFeedContents(db.write, row.id, digest, Math.max(loadedAt, nextSecond))
  }
  /** Once a day: what hosts reported and no feed takes, and what came at once. */
  const tellLeftOut = async (row: FeedRow, { left_out }: Loaded): Promise<void> => {
    const { wide, of_one_server, held_back } = left_out
    if (wide + of_one_server + held_back === 0 || (row.told_at !== null && clock() - row.told_at < day)) return
    await events.change(async change => {
      if (!(await noteTold(change.sql, row, clock()))) return
      await change.record({ name: 'feed.limit', data: { id: row.id, name: row.name, wide, of_one_server, held_back } })
    })
  }
  const render = async (row: FeedRow, loaded: Shown, asked: Asked, version: string): Promise<Served> => {
    const { format = 'plain', family = 'both', set = 'stockade-feed' } = asked
    const isCollapsed = asked.collapse === true || alwaysCollapsed.has(format)
    const loadedEntries = isCollapsed ? await loaded.collapsed() : loaded.single
    const entries: Entries = {
      ipv4: family === 'ipv6' ? [] : loadedEntries.ipv4,
      ipv6: family === 'ipv4' ? [] : loadedEntries.ipv6,
    }
    const text = format === 'json' ? asJson(row, loaded, entries) : renderFeed(format, entries, set)
    return { version, changedAt: loaded.changedAt, isJson: format === 'json', text, gzip: await packed(text) }
  }

  return {
    async list() {
      const rows = await allFeeds(db.read)
      return { feeds: rows.map(view), total: rows.length }
    },
    async create(actor, { name: typed, ...input }) {
      const name = tame(typed, bounds.name * 4)
      const contents = jsonText(contentsWith(usual, input))
      const token = `feed_${randomText(40)}`
      const row = await events.change(async change => {
        admit(contract.createFeed.leaves, { all: await countFeeds(change.sql) })
        await refuseTakenName(change, name, null)
        const now = clock()
        const added = await insertFeed(change.sql, {
          name,
          token_hash: sha256(token),
          contents,
          created_by: actor.name,
          created_at: now,
          updated_at: now,
          used_at: null,
          used_from: null,
          allowed: null,
          allowed_at: null,
          told_at: null,
        })
        await record(change, 'feed.create', actor, added)
        return added
      })
      return viewNew(row, token)
    },
    async preview(input) {
      // No feed has the id 0, so the reading of a preview never replaces that of a feed.
      const contents = jsonText(contentsWith(usual, input))
      const loaded = await needs.load({ id: 0, contents, changed_at: 0, allowed: null, allowed_at: null })
      return previewOf(loaded, await loaded.collapsed())
    },
    async change(actor, id, { name, ...input }) {
      return view(
        await update(actor, id, 'feed.update', row => {
          const contents = jsonText(contentsWith(contentsOf(row), input))
          return {
            ...(name === undefined ? {} : { name: tame(name, bounds.name * 4) }),
            contents,
            // What somebody asks for is there at once.
            ...(contents === row.contents ? {} : { allowed: null, allowed_at: null }),
          }
        }),
      )
    },
    async rotate(actor, id) {
      const token = `feed_${randomText(40)}`
      return viewNew(await update(actor, id, 'feed.rotate', () => ({ token_hash: sha256(token) })), token)
    },
    async remove(actor, id) {
      return events.change(async change => {
        const row = await feedById(change, id)
        await deleteFeed(change.sql, id)
        await record(change, 'feed.delete', actor, row)
        return row.name
      })
    },
    find: token => findFeedBy(db.read, 'token_hash', sha256(token)),
    usedSince: time => followedFeeds(db.read, time),
    noteBouncer,
    async hold(row) {
      const contents = await needs.load(row)
      await tellLeftOut(row, contents)
      return contents
    },
    async read(token, ip, asked) {
      const row = await findFeedBy(db.read, 'token_hash', sha256(token))
      if (!row) throw notFound('There is no such feed. Its token may have been replaced.')
      await spend(row.id)
      await noteUse(row, ip)
      const contents = await needs.load(row)
      const loaded = { ...contents, changedAt: await changedAtOf(row, contents) }
      await tellLeftOut(row, contents)
      const { format = 'plain', collapse = false, family = 'both', set = 'stockade-feed' } = asked
      const version = sha256(`${loaded.digest} ${row.name} ${format} ${collapse} ${family} ${set}`).slice(0, 32)
      const served = texts.get(version) ?? render(row, loaded, asked, version)
      texts.delete(version)
      texts.set(version, served)
      for (const old of texts.keys())
        if (texts.size > mostTexts) texts.delete(old)
        else break
      served.catch(() => texts.delete(version))
      return { ...(await served), changedAt: loaded.changedAt }
    },
  }
}

const sampled = 10
const previewOf = (
  { single, isTruncated, left_out }: Loaded,
  collapsed: Entries,
): ReplyOf<typeof contract.previewFeed> => ({
  total: single.ipv4.length + single.ipv6.length,
  ipv4: single.ipv4.length,
  ipv6: single.ipv6.length,
  collapsed: collapsed.ipv4.length + collapsed.ipv6.length,
  truncated: isTruncated,
  left_out,
  samples: [...single.ipv4.slice(0, sampled), ...single.ipv6.slice(0, sampled)].slice(0, sampled),
})

type FeedEvent = 'feed.create' | 'feed.update' | 'feed.rotate' | 'feed.delete'

/** Sets of ranges refuse entries that overlap. */
const alwaysCollapsed = new Set<string>(['cidr', 'nft', 'ipset'])

const asJson = ({ name }: FeedRow, loaded: Shown, { ipv4, ipv6 }: Entries): string => {
  const entries = [...ipv4, ...ipv6]
  return JSON.stringify({
    name,
    generated_at: iso(loaded.changedAt),
    total: entries.length,
    truncated: loaded.isTruncated,
    left_out: loaded.left_out,
    entries,
  })
}
