import { createAddressBook } from './addresses.ts'
import type { AddressBook } from './addresses.ts'
import { free, longer } from './memory.ts'
import type { Numbers } from './memory.ts'
import { createServerRows } from './server-rows.ts'
import type { RowsOfServer } from './server-rows.ts'

/** A ban as the columns take it in. */
export interface ColumnBan {
  readonly id: number
  readonly server: number
  readonly jail: number
  readonly country: number
  readonly asn: number | null
  readonly city: string | null
  readonly ip: Uint8Array
  readonly at: number
  /** Its length in seconds; -1 is permanent, null is unknown. */
  readonly duration: number | null
  /** Whether it was lifted before its time was up. */
  readonly isOver: boolean
}

/**
 * Bans in columns, those of one address side by side, so that grouping by address reads memory in its order: 32 bytes a ban
 * and 16 an address (of IPv4). New bans hang at their address in a chain until the next `settle`.
 */
export interface Columns {
  readonly addresses: AddressBook
  readonly size: () => number
  /** Bans that are gone and still have a row. */
  readonly goneRows: () => number
  /** Names of cities by their number; number 0 is no city. */
  cities(): readonly (string | null)[]
  /** The present columns. `add` and `settle` replace their arrays. */
  arrays(): ColumnArrays
  add(ban: ColumnBan): void
  has(ip: Uint8Array, id: number): boolean
  /** A ban is over. */
  end(ip: Uint8Array, id: number): void
  /** A ban that is in force lasts so long: seconds, -1 permanent, null unknown. */
  setDuration(ip: Uint8Array, id: number, duration: number | null): void
  /** A ban is gone. */
  remove(ip: Uint8Array, id: number): void
  /** Puts new bans beside the others of their address, and leaves out those that are gone. */
  settle(): void
  /** The settled rows of a server, in their order; until the next `settle`. */
  rowsOf(server: number): RowsOfServer
  /** Bans that hang in chains, and bans that are gone. */
  unsettled(): number
}
export interface ColumnArrays {
  readonly id: Uint32Array<ArrayBuffer>
  /** NaN where the ban is gone: no comparison holds. */
  readonly at: Float64Array<ArrayBuffer>
  /** Seconds that the ban lasts, or one of `ends`. */
  readonly lasts: Uint32Array<ArrayBuffer>
  readonly server: Uint16Array<ArrayBuffer>
  readonly jail: Uint16Array<ArrayBuffer>
  readonly country: Uint16Array<ArrayBuffer>
  /** 0 is unknown. */
  readonly asn: Uint32Array<ArrayBuffer>
  readonly city: Uint16Array<ArrayBuffer>
  /** The number of its address. */
  readonly owner: Uint32Array<ArrayBuffer>
  /** Of each settled address: its first settled row; the next address begins where its rows end. */
  readonly start: Uint32Array<ArrayBuffer>
  /** Of each address: the first row of its chain plus one. */
  readonly chain: Uint32Array<ArrayBuffer>
  /** Of each address: no ban is in force from this second on, and one is until the second before. */
  readonly until: Uint32Array<ArrayBuffer>
  /** Rows before this one are settled. */
  readonly settled: number
  /** Of each row from `settled` on: the next row of the chain plus one. */
  readonly next: Uint32Array<ArrayBuffer>
}
type Mutable = { -readonly [K in keyof ColumnArrays]: ColumnArrays[K] }

/** Values of `lasts` that are no lengths; all lengths are below. */
export const ends = { over: 0, unknown: 0xff_ff_ff_fe, permanent: 0xff_ff_ff_ff } as const
/** When a ban ends: Infinity without a known end, 0 where it is over already. */
export const endOf = (at: number, lasts: number): number =>
  lasts === ends.over ? 0 : lasts >= ends.unknown ? Infinity : at + lasts * 1000
/** The second in which a ban is over for sure. */
const overBy = (at: number, lasts: number): number => Math.min(0xff_ff_ff_ff, Math.ceil(endOf(at, lasts) / 1000))
const lastsOf = ({ duration, isOver }: Pick<ColumnBan, 'duration' | 'isOver'>): number =>
  isOver ? ends.over : duration === null ? ends.unknown : duration < 0 ? ends.permanent : duration

/** A number does not fit into its column: then SQL answers. */
export class UnfitForColumns extends Error {}
const fit = (value: number, largest: number, column: string): number => {
  if (value > largest) throw new UnfitForColumns(`A ${column} number is too large for the columns.`)
  return value
}

const rowColumns = ['id', 'at', 'lasts', 'server', 'jail', 'country', 'asn', 'city', 'owner'] as const
const emptyArrays = (rows: number): Mutable => ({
  id: new Uint32Array(rows),
  at: new Float64Array(rows),
  lasts: new Uint32Array(rows),
  server: new Uint16Array(rows),
  jail: new Uint16Array(rows),
  country: new Uint16Array(rows),
  asn: new Uint32Array(rows),
  city: new Uint16Array(rows),
  owner: new Uint32Array(rows),
  start: new Uint32Array(1),
  chain: new Uint32Array(rows),
  until: new Uint32Array(rows),
  settled: 0,
  next: new Uint32Array(rows),
})
const growRows = (arrays: Mutable, size: number) => {
  const length = size + Math.max(1024, (size - arrays.settled) * 2)
  for (const name of rowColumns) arrays[name] = longer<Numbers>(arrays[name], length) as never
  arrays.next = longer(arrays.next, length - arrays.settled)
}

const isThere = (at: Float64Array, row: number): boolean => !Number.isNaN(at[row])
/** Calls `visit` with each row of an address; stops where it returns true. */
export const eachRow = (arrays: ColumnArrays, address: number, visit: (row: number) => boolean | void): void => {
  const { start, at, settled } = arrays
  const stop = start[address + 1] ?? 0
  for (let row = start[address] ?? 0; row < stop; row++) if (isThere(at, row) && visit(row)) return
  for (let link = arrays.chain[address] ?? 0; link > 0; link = arrays.next[link - 1 - settled] ?? 0)
    if (isThere(at, link - 1) && visit(link - 1)) return
}

/**
 * Puts the rows of each address side by side, in the columns as they are. `order` has the addresses as they shall stand. What
 * is needed meanwhile is one column.
 */
const sortRows = (arrays: Mutable, order: Uint32Array, kept: number): void => {
  const rows = new Uint32Array(kept)
  const start = new Uint32Array(order.length + 1)
  let place = 0
  order.forEach((address, index) => {
    start[index] = place
    eachRow(arrays, address, row => void (rows[place++] = row))
  })
  start[order.length] = place
  const scratch = new ArrayBuffer(kept * 8)
  for (const name of rowColumns) {
    const column: Numbers = arrays[name]
    const sorted = new (column.constructor as new (buffer: ArrayBuffer, at: number, length: number) => Numbers)(
      scratch,
      0,
      kept,
    )
    for (let row = 0; row < kept; row++) sorted[row] = column[rows[row] ?? 0] ?? 0
    column.set(sorted as never)
  }
  scratch.transfer(0)
  const until = new Uint32Array(order.length + freshRoom(kept))
  for (let index = 0; index < order.length; index++) {
    until[index] = arrays.until[order[index] ?? 0] ?? 0
    arrays.owner.fill(index, start[index], start[index + 1])
  }
  const { length } = arrays.id
  free(rows, arrays.start, arrays.chain, arrays.until, arrays.next)
  arrays.start = start
  arrays.until = until
  arrays.chain = new Uint32Array(until.length)
  arrays.settled = kept
  arrays.next = new Uint32Array(length - kept)
}

/** Numbers of cities, from 1 in the order in which they came. */
const createCities = () => {
  const numberByName = new Map<string, number>()
  const names: (string | null)[] = [null]
  return {
    names,
    numberOf(name: string | null): number {
      if (name === null) return 0
      const knownNumber = numberByName.get(name)
      if (knownNumber !== undefined) return knownNumber
      numberByName.set(name, fit(names.length, 0xff_ff, 'city'))
      return names.push(name) - 1
    },
  }
}

/** New bans that have room beside the settled ones. */
const freshRoom = (settled: number) => 1024 + (settled >>> 6)

/** `expected` bans have room at once: arrays that grow are there twice for a moment. */
export const createColumns = (expected = 0): Columns => {
  const addresses = createAddressBook(expected)
  const cities = createCities()
  const arrays = emptyArrays(expected + freshRoom(expected))
  const serverRows = createServerRows(() => arrays)
  let size = 0
  let goneRows = 0

  const change = (ip: Uint8Array, id: number, with_: (row: number) => void) => {
    const address = addresses.find(ip)
    if (address === null) return
    let until = 0
    eachRow(arrays, address, row => {
      if (arrays.id[row] === id) with_(row)
      until = Math.max(until, overBy(arrays.at[row] ?? 0, arrays.lasts[row] ?? 0))
    })
    arrays.until[address] = until
  }
  const hasRows = (address: number): boolean => {
    let hasRow = false
    eachRow(arrays, address, () => (hasRow = true))
    return hasRow
  }
  return {
    addresses,
    size: () => size,
    goneRows: () => goneRows,
    cities: () => cities.names,
    arrays: () => arrays,
    unsettled: () => size - arrays.settled + goneRows,
    rowsOf: serverRows.of,
    add(ban) {
      const address = addresses.numberOf(ban.ip)
      if (address >= arrays.chain.length) {
        arrays.chain = longer(arrays.chain, address * 2)
        arrays.until = longer(arrays.until, address * 2)
      }
      if (size === arrays.id.length) growRows(arrays, size)
      const row = size
      arrays.id[row] = fit(ban.id, 0xff_ff_ff_ff, 'ban')
      arrays.at[row] = ban.at
      arrays.lasts[row] = lastsOf(ban)
      arrays.server[row] = fit(ban.server, 0xff_ff, 'server')
      arrays.jail[row] = fit(ban.jail, 0xff_ff, 'jail')
      arrays.country[row] = fit(ban.country, 0xff_ff, 'country')
      arrays.asn[row] = ban.asn ?? 0
      arrays.city[row] = cities.numberOf(ban.city)
      arrays.owner[row] = address
      arrays.next[row - arrays.settled] = arrays.chain[address] ?? 0
      arrays.chain[address] = row + 1
      arrays.until[address] = Math.max(arrays.until[address] ?? 0, overBy(ban.at, arrays.lasts[row] ?? 0))
      size++
    },
    has(ip, id) {
      const address = addresses.find(ip)
      let hasRow = false
      if (address !== null) eachRow(arrays, address, row => (hasRow = arrays.id[row] === id))
      return hasRow
    },
    end: (ip, id) => change(ip, id, row => void (arrays.lasts[row] = ends.over)),
    setDuration: (ip, id, duration) =>
      change(ip, id, row => void (arrays.lasts[row] = lastsOf({ duration, isOver: false }))),
    remove: (ip, id) =>
      change(ip, id, row => {
        arrays.at[row] = NaN
        serverRows.drop(row)
        arrays.lasts[row] = ends.over
        goneRows++
      }),
    settle() {
      serverRows.forget()
      const all = addresses.settledOrder()
      const order = all.filter(hasRows)
      free(all)
      const liveRows = size - goneRows
      sortRows(arrays, order, liveRows)
      addresses.settle(order)
      free(order)
      size = liveRows
      goneRows = 0
    },
  }
}
