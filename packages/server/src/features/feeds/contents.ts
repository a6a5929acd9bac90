import { createHash } from 'node:crypto'
import type { ReplyOf, feeds as contract } from '@stockade/contract'
import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/clock.ts'
import { ipText, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { inSlices } from '../../core/slices.ts'
import type { Database } from '../../db/database.ts'
import { readSearch } from '../../db/search.ts'
import { narrow } from '../bans/narrow.store.ts'
import { matchingSearch } from '../bans/search.store.ts'
import type { SearchContext } from '../bans/search.store.ts'
import type { Cuts } from '../blocklists/cuts.ts'
import { SpanCollector, touches } from '@stockade/contract/spans.ts'
import { entriesOf } from '../../core/entries.ts'
import type { Spans } from '@stockade/contract/spans.ts'
import type { Registry } from '../servers/registry.ts'
import { activeEntries, fleetEntries } from './feeds.store.ts'
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
  /** Names what it holds. */
  readonly digest: string
  readonly loadedAt: number
}
/** What is read of a feed. An older reading than `changed_at` is out of date: another process saw a change since. */
export type ReadFeed = Pick<FeedRow, 'id' | 'contents' | 'changed_at'>

/** A consumer that asks each second gets the same text for so long. */
const fresh = 5 * second

/** Reads what feeds hold. Several requests at once wait for one reading. */
export const createFeedReader = (needs: {
  readonly db: Database
  readonly clock: Clock
  readonly registry: Pick<Registry, 'all'>
  readonly cuts: { now(): Promise<Cuts> }
  readonly contextAt: (now: number) => SearchContext
}): ((row: ReadFeed) => Promise<Loaded>) => {
  const { db, clock } = needs
  const loaded = new Map<string, Loaded>()
  const underWay = new Map<string, Promise<Loaded>>()

  const hostEntries = async ({ q, maximum }: Contents, now: number): Promise<IpRange[]> => {
    const context = needs.contextAt(now)
    const search = await narrow(db.read, { servers: 'all' }, readSearch(q, 'bans'), context)
    if (!search) return []
    const among = q.trim() === '' ? null : matchingSearch(search, context)
    const distrusted = needs.registry.all().filter(({ row }) => row.quarantined_at !== null)
    const rows = await activeEntries(db.scan, {
      among,
      now,
      most: maximum + 1,
      without: distrusted.map(({ row }) => row.no),
    })
    return rows.map(({ ip, prefix }) => ({ bytes: ip, prefix, text: ipText(ip, prefix) }))
  }
  const read = async (contents: Contents, now: number) => {
    const fleet = contents.fleet_bans ? await fleetEntries(db.read, now) : []
    const hosts = contents.bans ? await hostEntries(contents, now) : []
    const all = [...fleet.flatMap(text => parseRange(text) ?? []), ...hosts]
    const once = [...new Map(all.map(range => [range.text, range])).values()]
    return { ranges: once.slice(0, contents.maximum), isTruncated: once.length > contents.maximum }
  }
  const load = async (row: ReadFeed): Promise<Loaded> => {
    const now = clock()
    const contents = contentsOf(row)
    const { ranges, isTruncated } = await read(contents, now)
    const wanted = ranges.filter(({ bytes }) => isOfFamily(contents.family, bytes))
    const cuts = await needs.cuts.now()
    const collector = new SpanCollector()
    await inSlices(wanted, range => collector.add(range))
    const { spans } = cuts.cut(collector.spans())
    const collapsed = await listed(entriesOf(spans))
    const single = await listed(uncollapsed(wanted.sort(byAddress), spans, cuts))
    const hash = createHash('sha256')
    for (const entries of [single, collapsed]) hash.update(`${entries.ipv4.join()} ${entries.ipv6.join()} `)
    const digest = hash.digest('hex').slice(0, 32)
    return { single, collapsed, isTruncated, digest, loadedAt: now }
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

const listed = async (texts: Iterable<string>): Promise<Entries> => {
  const ipv4: string[] = []
  const ipv6: string[] = []
  await inSlices(texts, text => void (text.includes(':') ? ipv6 : ipv4).push(text))
  return { ipv4, ipv6 }
}

/** The entries as they were banned, without what must not be in a feed. */
function* uncollapsed(ranges: readonly IpRange[], left: Spans, cuts: Cuts): Generator<string> {
  for (const range of ranges) {
    if (range.prefix === null) {
      if (touches(left, range)) yield range.text
      continue
    }
    const own = new SpanCollector()
    own.add(range)
    yield* entriesOf(cuts.cut(own.spans()).spans)
  }
}
