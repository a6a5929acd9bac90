import { createHash } from 'node:crypto'
import type { ReplyOf, feeds as contract } from '@stockade/contract'
import { isWider, widest } from '@stockade/contract/reach.ts'
import { SpanCollector } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'
import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/clock.ts'
import { entriesOf } from '../../core/entries.ts'
import { parseRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { inSlices } from '../../core/slices.ts'
import type { Database } from '../../db/database.ts'
import { readSearch } from '../../db/search.ts'
import { narrow } from '../bans/narrow.store.ts'
import { matchingSearch } from '../bans/search.store.ts'
import type { SearchContext } from '../bans/search.store.ts'
import type { Protection } from '../reach/protected.ts'
import type { Registry } from '../servers/registry.ts'
import { activeEntries, fleetEntries, noteAllowed } from './feeds.store.ts'
import type { FeedRow } from './feeds.store.ts'
import type { Entries } from './formats.ts'
import { collect, idOf, isIpv4, packRange, textsOf, unpack } from './packed.ts'
import type { PackedEntry } from './packed.ts'

/** What a feed holds, as it is stored. */
export type Contents = Pick<ReplyOf<typeof contract.changeFeed>, 'q' | 'bans' | 'fleet_bans' | 'family' | 'maximum'>
export const contentsOf = (row: Pick<FeedRow, 'contents'>): Contents => parseJson(row.contents)

export interface Loaded {
  /** Single addresses and the ranges that were banned as such. */
  readonly single: Entries
  /** Neighbours joined into ranges. */
  readonly collapsed: () => Promise<Entries>
  readonly isTruncated: boolean
  /** What it does not hold, and why. */
  readonly left_out: ReplyOf<typeof contract.previewFeed>['left_out']
  /** Names what it holds. */
  readonly digest: string
  readonly loadedAt: number
}
/** What is read of a feed. An older reading than `changed_at` is out of date: another process saw a change since. */
export type ReadFeed = Pick<FeedRow, 'id' | 'contents' | 'changed_at' | 'allowed' | 'allowed_at'>

/** A consumer that asks each second gets the same text for so long. */
const fresh = 5 * second

/** A feed grows to twice as much in a step, and by some thousand in any case; the next step comes with a reading a minute later. */
const stepAfter = minute
const leastStep = 5000
const grown = (size: number): number => Math.max(size * 2, size + leastStep)
/** The part of a feed that bans of one server may be: a quarter, and more where there are fewer servers than four. */
const partOfOne = (maximum: number, servers: number): number =>
  Math.max(1000, Math.ceil(maximum / Math.min(4, Math.max(1, servers))))

/** Reads what feeds hold. Several requests at once wait for one reading. */
export const createFeedReader = (needs: {
  readonly db: Database
  readonly clock: Clock
  readonly registry: Pick<Registry, 'all'>
  readonly protection: Pick<Protection, 'now'>
  readonly contextAt: (now: number) => SearchContext
}): ((row: ReadFeed) => Promise<Loaded>) => {
  const { db, clock } = needs
  const loaded = new Map<string, Loaded>()
  const underWay = new Map<string, Promise<Loaded>>()

  const hostEntries = async ({ q, maximum }: Contents, now: number) => {
    const context = needs.contextAt(now)
    const search = await narrow(db.read, { servers: 'all' }, readSearch(q, 'bans'), context)
    if (!search) return { entries: [], wide: 0, crowded: 0 }
    const among = q.trim() === '' ? null : matchingSearch(search, context)
    const all = needs.registry.all()
    const distrusted = all.filter(({ row }) => row.quarantined_at !== null)
    const activeReply = await activeEntries(db, {
      among,
      now,
      most: maximum + 1,
      without: distrusted.map(({ row }) => row.no),
      ofOne: partOfOne(maximum, all.length - distrusted.length),
    })
    const entries: PackedEntry[] = []
    if (activeReply.packed !== '')
      await inSlices(activeReply.packed.split(' '), text => void entries.push(unpack(text)))
    return { ...activeReply, entries }
  }
  const read = async (contents: Contents, now: number) => {
    const fleet = contents.fleet_bans ? await fleetEntries(db.read, now) : { entries: [], partial: 0 }
    const hosts = contents.bans ? await hostEntries(contents, now) : { entries: [], wide: 0, crowded: 0 }
    // Nothing wider than a ban: not even what an older version let in.
    const ofFleet = fleet.entries
      .flatMap(text => parseRange(text) ?? [])
      .filter(range => !isWider(range, widest.banned))
      .map(packRange)
    const fleetIds = new Set(ofFleet.map(idOf))
    const ofFamily = (entries: readonly PackedEntry[]) => entries.filter(entry => isOfFamily(contents.family, entry))
    return {
      ofFleet: ofFamily(ofFleet),
      ofHosts: ofFamily(hosts.entries.filter(entry => !fleetIds.has(idOf(entry)))),
      left: { wide: hosts.wide, of_one_server: hosts.crowded, of_some_servers: fleet.partial },
    }
  }
  /** How many entries the feed may hold now: a wave comes in by steps, so that one reading does not bring it all. */
  const allowedNow = async (row: ReadFeed, count: number, now: number): Promise<number> => {
    if (row.id === 0) return Infinity
    const isDue = row.allowed_at === null || now - row.allowed_at >= stepAfter || now < row.allowed_at
    const allowed = row.allowed ?? Infinity
    if (isDue) await noteAllowed(db.write, row, { allowed: grown(Math.min(count, allowed)), allowed_at: now })
    return allowed
  }
  const load = async (row: ReadFeed): Promise<Loaded> => {
    const now = clock()
    const contents = contentsOf(row)
    const { ofFleet, ofHosts, left } = await read(contents, now)
    const held_back = Math.max(0, ofHosts.length - (await allowedNow(row, ofHosts.length, now)))
    // The newest of hosts are those that wait; what people ban on all servers does not.
    const feedEntries = [...ofFleet, ...ofHosts.slice(held_back)]
    const collector = new SpanCollector()
    await inSlices(feedEntries, entry => collect(collector, entry))
    const { spans, counts } = (await needs.protection.now()).cut(collector.spans())
    const { maximum } = contents
    const { ipv4, ipv6 } = await textsOf(feedEntries.slice(0, maximum), spans, maximum + 1)
    // The fewest ranges are never more than these.
    const isTruncated = Math.max(feedEntries.length, ipv4.length + ipv6.length) > maximum
    const single = { ipv4: ipv4.slice(0, maximum), ipv6: ipv6.slice(0, maximum - Math.min(maximum, ipv4.length)) }
    const hash = createHash('sha256').update(`${ipv4.join()} ${ipv6.join()} ${spans.v6.join()} `).update(spans.v4)
    const cut = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return {
      single,
      collapsed: createCollapsed(spans, maximum),
      isTruncated,
      left_out: { ...left, held_back, protected: cut },
      digest: hash.digest('hex').slice(0, 32),
      loadedAt: now,
    }
  }

  return row => {
    const key = `${row.id} ${row.contents}`
    const cached = loaded.get(key)
    const isFresh = cached && cached.loadedAt >= row.changed_at && Math.abs(clock() - cached.loadedAt) < fresh
    if (isFresh) return Promise.resolve(cached)
    const running =
      underWay.get(key) ??
      load(row)
        .then(next => {
          // Another contents of the feed is not asked for any more.
          for (const other of loaded.keys()) if (other.startsWith(`${row.id} `)) loaded.delete(other)
          loaded.set(key, next)
          return next
        })
        .finally(() => underWay.delete(key))
    underWay.set(key, running)
    return running
  }
}

const isOfFamily = (family: Contents['family'], entry: PackedEntry): boolean =>
  family === 'both' || (family === 'ipv4') === isIpv4(entry)

/** The fewest ranges that hold all of it. They are made when somebody wants them: bouncers do not. */
const createCollapsed = (spans: Spans, most: number): (() => Promise<Entries>) => {
  const collapse = async (): Promise<Entries> => {
    const [ipv4, ipv6]: [string[], string[]] = [[], []]
    await inSlices(entriesOf(spans, { most, widest: widest.banned }), text =>
      (text.includes(':') ? ipv6 : ipv4).push(text),
    )
    return { ipv4, ipv6 }
  }
  let collapsed: Promise<Entries> | null = null
  return () => (collapsed ??= collapse())
}
