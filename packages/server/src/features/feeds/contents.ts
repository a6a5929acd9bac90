import { createHash } from 'node:crypto'
import type { ReplyOf, feeds as contract } from '@stockade/contract'
import { isWider, widest } from '@stockade/contract/reach.ts'
import { SpanCollector, touches, within } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'
import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/clock.ts'
import { entriesOf } from '../../core/entries.ts'
import { covers, ipText, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { inSlices, sortInSlices } from '../../core/slices.ts'
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

/** What a feed holds, as it is stored. */
export type Contents = Pick<ReplyOf<typeof contract.changeFeed>, 'q' | 'bans' | 'fleet_bans' | 'family' | 'maximum'>
export const contentsOf = (row: Pick<FeedRow, 'contents'>): Contents => parseJson(row.contents)

export interface Loaded {
  /** Single addresses and the ranges that were banned as such. */
  readonly single: Entries
  /** Neighbours joined into ranges. */
  readonly collapsed: Entries
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
    if (!search) return { ranges: [], wide: 0, crowded: 0 }
    const among = q.trim() === '' ? null : matchingSearch(search, context)
    const all = needs.registry.all()
    const distrusted = all.filter(({ row }) => row.quarantined_at !== null)
    const found = await activeEntries(db.scan, {
      among,
      now,
      most: maximum + 1,
      without: distrusted.map(({ row }) => row.no),
      ofOne: partOfOne(maximum, all.length - distrusted.length),
    })
    const ranges = found.entries.map(({ ip, prefix }) => ({ bytes: ip, prefix, text: ipText(ip, prefix) }))
    return { ...found, ranges }
  }
  const read = async (contents: Contents, now: number) => {
    const fleet = contents.fleet_bans ? await fleetEntries(db.read, now) : { entries: [], partial: 0 }
    const hosts = contents.bans ? await hostEntries(contents, now) : { ranges: [], wide: 0, crowded: 0 }
    // Nothing wider than a ban: not even what an older version let in.
    const ofFleet = fleet.entries
      .flatMap(text => parseRange(text) ?? [])
      .filter(range => !isWider(range, widest.banned))
    const fleetTexts = new Set(ofFleet.map(({ text }) => text))
    const wanted = (ranges: readonly IpRange[]) => ranges.filter(({ bytes }) => isOfFamily(contents.family, bytes))
    return {
      ofFleet: wanted(ofFleet),
      ofHosts: wanted(hosts.ranges.filter(({ text }) => !fleetTexts.has(text))),
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
    const taken = [...ofFleet, ...ofHosts.slice(held_back)]
    const collector = new SpanCollector()
    await inSlices(taken, range => collector.add(range))
    const { spans, counts } = (await needs.protection.now()).cut(collector.spans())
    const { maximum } = contents
    const most = maximum + 1
    const joined = await collected(entriesOf(spans, { most, widest: widest.banned }))
    const inOrder = await sortInSlices(taken.slice(0, maximum), byAddress)
    const apart = await collected(uncollapsed(inOrder, spans, most))
    const isTruncated = Math.max(taken.length, joined.length, apart.length) > maximum
    const [collapsed, single] = [listed(joined.slice(0, maximum)), listed(apart.slice(0, maximum))]
    const hash = createHash('sha256')
    for (const entries of [single, collapsed]) hash.update(`${entries.ipv4.join()} ${entries.ipv6.join()} `)
    const digest = hash.digest('hex').slice(0, 32)
    const cut = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return { single, collapsed, isTruncated, left_out: { ...left, held_back, protected: cut }, digest, loadedAt: now }
  }

  return row => {
    const key = `${row.id} ${row.contents}`
    const known = loaded.get(key)
    const isFresh = known && known.loadedAt >= row.changed_at && Math.abs(clock() - known.loadedAt) < fresh
    if (isFresh) return Promise.resolve(known)
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

const isOfFamily = (family: Contents['family'], bytes: Uint8Array): boolean =>
  family === 'both' || (family === 'ipv4') === (bytes.length === 4)

const byAddress = (a: IpRange, b: IpRange): number =>
  a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes) || (a.prefix ?? 999) - (b.prefix ?? 999)

const collected = async (texts: Iterable<string>): Promise<string[]> => {
  const all: string[] = []
  await inSlices(texts, text => void all.push(text))
  return all
}
const listed = (texts: readonly string[]): Entries => ({
  ipv4: texts.filter(text => !text.includes(':')),
  ipv6: texts.filter(text => text.includes(':')),
})

/** The entries as they were banned, without what must not be in a feed, and without what a wider one holds. Ends at a number. */
function* uncollapsed(ranges: readonly IpRange[], left: Spans, most: number): Generator<string> {
  let count = 0
  let last: IpRange | null = null
  for (const range of ranges) {
    if (last && covers(last, range)) continue
    if (range.prefix !== null) last = range
    const parts = range.prefix === null ? (touches(left, range) ? [range.text] : []) : entriesOf(within(left, range))
    for (const part of parts) {
      if (count++ >= most) return
      yield part
    }
  }
}
