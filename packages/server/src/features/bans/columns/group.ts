import type { attackers as contract } from '@stockade/contract'
import { hourIndex, mostReasons, shownHours } from '../attackers.store.ts'
import { eachRow } from './rows.ts'
import type { ColumnArrays, Columns } from './rows.ts'

/** A filter in the numbers that the columns hold. Plain data, so that it crosses to the thread. */
export interface ColumnFilter {
  /** The caller's servers; null for all. */
  readonly servers: readonly number[] | null
  readonly server: number | null
  readonly jail: number | null
  readonly country: number | null
  readonly asn: number | null
  readonly range: { readonly first: Uint8Array; readonly last: Uint8Array } | null
  readonly active: boolean | null
  readonly from: number | null
  readonly to: number | null
}
export interface ColumnsAsked {
  readonly filter: ColumnFilter
  readonly now: number
  readonly sort: contract.AttackerSort
  readonly descending: boolean
  readonly offset: number
  readonly limit: number
}
export interface ColumnRow {
  readonly ip: Uint8Array
  readonly bans: number
  readonly servers: number
  readonly first: number
  readonly last: number
  readonly jails: readonly { readonly jailId: number; readonly n: number }[]
  readonly latest: readonly number[]
  readonly activeBans: number
  readonly activeServers: number
  readonly expires: number | null
  readonly permanent: boolean
  /** The newest ban on the listed servers. */
  readonly newest: number | null
  readonly hours: readonly number[]
}
export interface ColumnsFound {
  readonly rows: readonly ColumnRow[]
  readonly attackers: number
  readonly bans: number
  readonly activeAddresses: number
}

/** A filter as the loop over rows compares it: -1 stands for any. */
interface RowTest {
  readonly from: number
  readonly to: number
  readonly jail: number
  readonly country: number
  readonly asn: number
  /** 1: in force, 0: over. */
  readonly active: number
  /** By number of server: 1 where the list is about it; null for all. */
  readonly seen: Uint8Array | null
  /** Only times are compared, if anything. */
  readonly onlyTime: boolean
  readonly now: number
}
const testOf = ({ servers, server, ...filter }: ColumnFilter, now: number): RowTest => {
  const scope = server === null ? servers : [server]
  const seen = scope && new Uint8Array(Math.max(0, ...scope) + 1)
  for (const number of scope ?? []) if (seen) seen[number] = 1
  const { jail, country, asn, active } = filter
  return {
    from: filter.from ?? -Infinity,
    to: filter.to ?? Infinity,
    jail: jail ?? -1,
    country: country ?? -1,
    // A network that is unknown is 0, and no filter asks for it.
    asn: asn === 0 ? -2 : (asn ?? -1),
    active: active === null ? -1 : Number(active),
    seen,
    onlyTime: !seen && [jail, country, asn, active].every(part => part === null),
    now,
  }
}
const inScope = (a: ColumnArrays, test: RowTest, row: number): boolean =>
  test.seen === null || test.seen[a.server[row] ?? 0] === 1
const matches = (a: ColumnArrays, test: RowTest, row: number): boolean => {
  const at = a.at[row] ?? 0
  return (
    at >= test.from &&
    at < test.to &&
    (test.jail === -1 || a.jail[row] === test.jail) &&
    (test.country === -1 || a.country[row] === test.country) &&
    (test.asn === -1 || a.asn[row] === test.asn) &&
    (test.active === -1 || Number((a.end[row] ?? 0) > test.now) === test.active) &&
    inScope(a, test, row)
  )
}

/** Counts servers of one address after the other without clearing anything between them. */
const createServerCount = () => {
  let seen = new Uint32Array(1024)
  let turn = 0
  let count = 0
  return {
    begin() {
      turn++
      count = 0
    },
    add(server: number) {
      if (server >= seen.length) {
        const larger = new Uint32Array(server * 2)
        larger.set(seen)
        seen = larger
      }
      if (seen[server] === turn) return
      seen[server] = turn
      count++
    },
    count: () => count,
  }
}

/** Places in the sums of one address. An array of numbers: fields of an object would be boxed at each change. */
const place = { bans: 0, first: 1, last: 2, servers: 3, active: 4 } as const
/** Adds up the rows of an address that match. */
const createSummer = (a: ColumnArrays, test: RowTest, countsServers: boolean) => {
  const servers = createServerCount()
  const sums = new Float64Array(5)
  const { now, seen } = test
  const addRow = (row: number) => {
    if (a.gone[row] === 1) return
    if (seen && (a.end[row] ?? 0) > now && inScope(a, test, row)) sums[place.active] = 1
    if (!matches(a, test, row)) return
    const at = a.at[row] ?? 0
    sums[place.bans] = (sums[0] ?? 0) + 1
    if (at < (sums[1] ?? 0)) sums[place.first] = at
    if (at > (sums[2] ?? 0)) sums[place.last] = at
    if (countsServers) servers.add(a.server[row] ?? 0)
  }
  return {
    sums,
    add(address: number, isActive: boolean) {
      sums[place.bans] = 0
      sums[place.first] = Infinity
      sums[place.last] = -Infinity
      sums[place.active] = !seen && isActive ? 1 : 0
      if (countsServers) servers.begin()
      const end = a.stop[address] ?? 0
      for (let row = a.start[address] ?? 0; row < end; row++) addRow(row)
      for (let link = a.chain[address] ?? 0; link > 0; link = a.next[link - 1] ?? 0) addRow(link - 1)
      sums[place.servers] = countsServers ? servers.count() : 0
    },
  }
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
const describe = (columns: Columns, address: number, { filter, now }: ColumnsAsked): ColumnRow => {
  const a = columns.arrays()
  const test = testOf(filter, now)
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
      const end = a.end[row] ?? 0
      if (end > now) {
        activeBans++
        activeServers.add(a.server[row] ?? 0)
        until = Math.max(until, end)
        permanent ||= a.permanent[row] === 1
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

/** The numbers of the addresses that a range leaves, all of them without one. */
const addressesOf = ({ addresses }: Columns, { range }: ColumnFilter): { from: number; to: number } => {
  if (!range || Buffer.compare(range.first, range.last) !== 0) return { from: 0, to: addresses.size() }
  const address = addresses.find(range.first)
  return address === null ? { from: 0, to: 0 } : { from: address, to: address + 1 }
}

const at = (numbers: Float64Array | Uint32Array, index: number): number => numbers[index] ?? 0
const isWorse = (descending: boolean, value: number, worst: number): boolean =>
  descending ? value < worst : value > worst
/** Whether no ban of an address can match, by the sums of the address. */
const isOutside = ({ from, to, active }: RowTest, earliest: number, latest: number, isActive: boolean): boolean =>
  latest < from || earliest >= to || (active === 1 && !isActive)
/** Whether all bans of an address match: then its sums are there already. */
const isWhole = ({ from, to, onlyTime }: RowTest, earliest: number, latest: number): boolean =>
  onlyTime && earliest >= from && latest < to

/** Numbers rise with time: in the direction of the order the best come first, and few others enter the heap. */
const walkOf = ({ from, to }: { from: number; to: number }, descending: boolean) =>
  descending ? { start: to - 1, step: -1 } : { start: from, step: 1 }

/** Groups bans by address, in one pass over the columns. */
export const groupColumns = (columns: Columns, asked: ColumnsAsked): ColumnsFound => {
  const { filter, now, sort, descending, offset, limit } = asked
  const { addresses } = columns
  const a = columns.arrays()
  const test = testOf(filter, now)
  const countsServers = sort === 'servers'
  const { sums, add } = createSummer(a, test, countsServers)
  const best = createBest(offset + limit, (keyA, one, keyB, other) =>
    keyA === keyB ? addresses.compare(one, other) < 0 : keyA > keyB === descending,
  )
  const { count, first, last, until } = a
  const { range } = filter
  const span = addressesOf(columns, filter)
  const key = place[sort]
  let attackers = 0
  let bans = 0
  let activeAddresses = 0
  // Plain variables in one loop: calls that share them cost three times as much as the rest.
  let worst = descending ? -Infinity : Infinity
  const { start, step } = walkOf(span, descending)
  for (let address = start; address >= span.from && address < span.to; address += step) {
    const held = at(count, address)
    const earliest = at(first, address)
    const latest = at(last, address)
    const isActive = at(until, address) > now
    if (held === 0 || isOutside(test, earliest, latest, isActive)) continue
    if (range && !addresses.isWithin(address, range.first, range.last)) continue
    if (isWhole(test, earliest, latest) && (!countsServers || held === 1)) {
      sums[place.bans] = held
      sums[place.first] = earliest
      sums[place.last] = latest
      sums[place.servers] = 1
      sums[place.active] = isActive ? 1 : 0
    } else add(address, isActive)
    const n = at(sums, place.bans)
    if (n === 0) continue
    attackers++
    bans += n
    activeAddresses += at(sums, place.active)
    const value = at(sums, key)
    if (isWorse(descending, value, worst)) continue
    best.add(value, address)
    worst = best.worst() ?? worst
  }
  const page = best.sorted().slice(offset, offset + limit)
  return { rows: page.map(address => describe(columns, address, asked)), attackers, bans, activeAddresses }
}
