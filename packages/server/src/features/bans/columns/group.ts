import type { attackers as contract } from '@stockade/contract'
import { hourIndex, mostReasons, shownHours } from '../attacker-limits.ts'
import { hitsOf, isActiveIn, inScope, matches, testOf } from './hits.ts'
import type { ColumnFilter, Hits, RowTest } from './hits.ts'
import type { AttackerFacts, StandingFacts } from '../attackers.store.ts'
import { eachRow, endOf, ends } from './rows.ts'
import type { ColumnArrays, Columns } from './rows.ts'

export interface ColumnsAsked {
  readonly filter: ColumnFilter
  readonly now: number
  readonly sort: contract.AttackerSort
  readonly descending: boolean
  readonly offset: number
  readonly limit: number
}
export interface ColumnRow extends Omit<AttackerFacts, 'now'>, Omit<StandingFacts, 'lifted'> {
  /** The newest ban on the listed servers. */
  readonly newest: number | null
}
export interface ColumnsFound {
  readonly rows: readonly ColumnRow[]
  readonly attackers: number
  readonly bans: number
  readonly activeAddresses: number
}

/** Keeps the best `most` of what it is given, in a heap whose top is the worst of them. */
const createBest = (most: number, isBefore: (keyA: number, a: number, keyB: number, b: number) => boolean) => {
  const keys: number[] = []
  const items: number[] = []
  const swap = (i: number, j: number) => {
    ;[keys[i], keys[j]] = [keys[j] ?? 0, keys[i] ?? 0]
    ;[items[i], items[j]] = [items[j] ?? 0, items[i] ?? 0]
  }
  const before = (i: number, j: number) => isBefore(keys[i] ?? 0, items[i] ?? 0, keys[j] ?? 0, items[j] ?? 0)
  const sink = () => {
    for (let at = 0; ;) {
      let worst = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < keys.length && before(worst, child)) worst = child
      if (worst === at) return
      swap(at, worst)
      at = worst
    }
  }
  return {
    /** The key of the worst that is kept, once it is full; else null. */
    worst: (): number | null => (keys.length < most ? null : (keys[0] ?? 0)),
    add(key: number, item: number) {
      if (keys.length < most) {
        let at = keys.push(key) - 1
        items.push(item)
        for (let parent = (at - 1) >> 1; at > 0 && before(parent, at); at = parent, parent = (at - 1) >> 1)
          swap(at, parent)
      } else if (isBefore(key, item, keys[0] ?? 0, items[0] ?? 0)) {
        keys[0] = key
        items[0] = item
        sink()
      }
    },
    /** The best first. */
    sorted(): number[] {
      return items
        .map((item, index) => ({ item, key: keys[index] ?? 0 }))
        .sort((a, b) => (isBefore(a.key, a.item, b.key, b.item) ? -1 : 1))
        .map(({ item }) => item)
    },
  }
}

/** Everything about one address of a page. */
const describe = (columns: Columns, address: number, test: RowTest): ColumnRow => {
  const a = columns.arrays()
  const { now } = test
  const jails = new Map<number, number>()
  const servers = new Set<number>()
  const activeServers = new Set<number>()
  const matching: number[] = []
  const hours = Array.from({ length: shownHours }, () => 0)
  let [first, last, activeBans, until, newest] = [Infinity, 0, 0, 0, -1]
  let permanent = false
  const isNewer = (row: number, other: number) =>
    other < 0 ||
    (a.at[row] ?? 0) > (a.at[other] ?? 0) ||
    (a.at[row] === a.at[other] && (a.id[row] ?? 0) > (a.id[other] ?? 0))
  eachRow(a, address, row => {
    const at = a.at[row] ?? 0
    if (inScope(a, test, row)) {
      if (isNewer(row, newest)) newest = row
      const hour = hourIndex(at, now)
      if (hour >= 0) hours[hour] = (hours[hour] ?? 0) + 1
      const end = endOf(at, a.lasts[row] ?? 0)
      if (end > now) {
        activeBans++
        activeServers.add(a.server[row] ?? 0)
        until = Math.max(until, end)
        permanent ||= a.lasts[row] === ends.permanent
      }
    }
    if (!matches(a, test, row)) return
    matching.push(row)
    first = Math.min(first, at)
    last = Math.max(last, at)
    servers.add(a.server[row] ?? 0)
    jails.set(a.jail[row] ?? 0, (jails.get(a.jail[row] ?? 0) ?? 0) + 1)
  })
  matching.sort((one, other) => (isNewer(one, other) ? -1 : 1))
  return {
    ip: columns.addresses.bytesOf(address),
    bans: matching.length,
    servers: servers.size,
    first,
    last,
    jails: [...jails]
      .map(([jailId, n]) => ({ jailId, n }))
      .sort((one, other) => other.n - one.n || one.jailId - other.jailId),
    latest: matching.slice(0, mostReasons).map(row => a.id[row] ?? 0),
    activeBans,
    activeServers: activeServers.size,
    expires: activeBans === 0 || until === Infinity ? null : until,
    permanent,
    newest: newest < 0 ? null : (a.id[newest] ?? 0),
    hours,
  }
}

interface Sums extends Readonly<Record<contract.AttackerSort, number>> {
  readonly isActive: boolean
}

/** Adds up one address that has bans in a chain, row by row. */
const sumOf = (a: ColumnArrays, test: RowTest, address: number): Sums => {
  const sums = { bans: 0, first: Infinity, last: -Infinity, isActive: false }
  const servers = new Set<number>()
  eachRow(a, address, row => {
    const at = a.at[row] ?? 0
    if (inScope(a, test, row) && endOf(at, a.lasts[row] ?? 0) > test.now) sums.isActive = true
    if (!matches(a, test, row)) return
    sums.bans++
    sums.first = Math.min(sums.first, at)
    sums.last = Math.max(sums.last, at)
    servers.add(a.server[row] ?? 0)
  })
  return { ...sums, servers: servers.size }
}

/** Collects addresses with their sums: the totals, and the best of them. */
const createCollector = (columns: Columns, { sort, descending, offset, limit }: ColumnsAsked) => {
  const { addresses } = columns
  const best = createBest(offset + limit, (keyA, one, keyB, other) =>
    keyA === keyB ? addresses.compare(one, other) < 0 : keyA > keyB === descending,
  )
  const totals = { attackers: 0, bans: 0, activeAddresses: 0 }
  return {
    best,
    totals,
    add(address: number, sums: Sums) {
      totals.attackers++
      totals.bans += sums.bans
      totals.activeAddresses += Number(sums.isActive)
      best.add(sums[sort], address)
    },
    page: () => best.sorted().slice(offset, offset + limit),
  }
}
type Collector = ReturnType<typeof createCollector>

const rowAt = ({ rows, from }: Hits, index: number): number => (rows === null ? from + index : (rows[index] ?? 0))
/** The index after the last hit of the same address. */
const endOfGroup = (a: ColumnArrays, { rows, from, count }: Hits, begin: number, address: number): number => {
  if (rows === null) return Math.min(count, (a.start[address + 1] ?? 0) - from)
  let index = begin + 1
  while (index < count && a.owner[rows[index] ?? 0] === address) index++
  return index
}
/** The earliest or the latest time of some hits. */
const timeOf = ({ at }: ColumnArrays, hits: Hits, begin: number, end: number, isLatest: boolean): number => {
  let extreme = isLatest ? -Infinity : Infinity
  for (let index = begin; index < end; index++) {
    const time = at[rowAt(hits, index)] ?? 0
    if (isLatest ? time > extreme : time < extreme) extreme = time
  }
  return extreme
}
/** By server: in which group it was seen last, counted from 1. No set is made for each address. */
const stamps = new Uint32Array(65_536)
const serversOf = ({ server }: ColumnArrays, hits: Hits, begin: number, end: number): number => {
  let count = 0
  for (let index = begin; index < end; index++) {
    const number = server[rowAt(hits, index)] ?? 0
    if (stamps[number] !== begin + 1) count++
    stamps[number] = begin + 1
  }
  return count
}
const keyOf = (sort: contract.AttackerSort, a: ColumnArrays, hits: Hits, begin: number, end: number): number => {
  switch (sort) {
    case 'bans':
      return end - begin
    case 'servers':
      return serversOf(a, hits, begin, end)
    default:
      return timeOf(a, hits, begin, end, sort === 'last')
  }
}

const isWorse = (descending: boolean, key: number, worst: number): boolean => (descending ? key < worst : key > worst)

/** Settled rows that match, address by address, without those that have a chain. */
const collectSettled = (
  columns: Columns,
  { sort, descending }: ColumnsAsked,
  test: RowTest,
  { best, totals }: Collector,
  hits: Hits,
) => {
  const a = columns.arrays()
  const { at, owner, chain, until } = a
  const isByTime = sort === 'first' || sort === 'last'
  const { count } = hits
  const second = Math.floor(test.now / 1000)
  const hasChains = columns.size() > a.settled
  // Plain variables: fields of the totals would be read and written for each address.
  let attackers = 0
  let bans = 0
  let activeAddresses = 0
  let worst = descending ? -Infinity : Infinity
  stamps.fill(0)
  for (let next = 0; next < count;) {
    const begin = next
    const row = rowAt(hits, begin)
    const address = owner[row] ?? 0
    next = endOfGroup(a, hits, begin, address)
    if (hasChains && chain[address] !== 0) continue
    attackers++
    bans += next - begin
    if ((until[address] ?? 0) > second && isActiveIn(a, test, address)) activeAddresses++
    // Most addresses have one ban.
    const key = next - begin > 1 ? keyOf(sort, a, hits, begin, next) : isByTime ? (at[row] ?? 0) : 1
    if (isWorse(descending, key, worst)) continue
    best.add(key, address)
    worst = best.worst() ?? worst
  }
  totals.attackers += attackers
  totals.bans += bans
  totals.activeAddresses += activeAddresses
}

/** Groups bans by address, in one pass over the columns. */
export const groupColumns = (columns: Columns, asked: ColumnsAsked): ColumnsFound => {
  const { addresses } = columns
  const a = columns.arrays()
  const test = testOf(columns, asked.filter, asked.now)
  const { range } = asked.filter
  const collector = createCollector(columns, asked)
  const within = range ? addresses.settledWithin(range.first, range.last) : { from: 0, to: addresses.settledSize() }
  const span = { from: a.start[within.from] ?? 0, to: a.start[within.to] ?? 0 }
  for (let row = a.settled; row < columns.size(); row++) {
    const address = a.owner[row] ?? 0
    // Once for each chain: at its head.
    if (a.chain[address] !== row + 1 || (range && !addresses.isWithin(address, range.first, range.last))) continue
    const sums = sumOf(a, test, address)
    if (sums.bans > 0) collector.add(address, sums)
  }
  collectSettled(columns, asked, test, collector, hitsOf(columns, test, span))
  return { rows: collector.page().map(address => describe(columns, address, test)), ...collector.totals }
}
