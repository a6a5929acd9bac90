import { createAddressBook } from './addresses.ts'
import type { AddressBook } from './addresses.ts'

/** A ban as the columns take it in. */
export interface ColumnBan {
  readonly id: number
  readonly server: number
  readonly jail: number
  readonly country: number
  readonly asn: number | null
  readonly ip: Uint8Array
  readonly at: number
  /** When it is over; Infinity without a known end, 0 where it is over already. */
  readonly end: number
  readonly permanent: boolean
}

/**
 * Bans in columns, those of one address side by side, so that grouping by address reads memory in its order. New bans
 * hang at their address in a chain until the next `settle`.
 */
export interface Columns {
  readonly addresses: AddressBook
  readonly size: () => number
  /** The columns now; they are other arrays after `add` or `settle`. */
  arrays(): ColumnArrays
  add(ban: ColumnBan): void
  /** A ban is over. */
  end(ip: Uint8Array, id: number): void
  /** A ban is gone. */
  remove(ip: Uint8Array, id: number): void
  /** Puts new bans beside the others of their address. */
  settle(): void
  /** Bans that hang in chains, and bans that are gone. */
  unsettled(): number
}
export interface ColumnArrays {
  readonly id: Float64Array
  readonly at: Float64Array
  readonly end: Float64Array
  readonly server: Uint32Array
  readonly jail: Uint32Array
  readonly country: Uint32Array
  /** 0 is unknown. */
  readonly asn: Uint32Array
  readonly permanent: Uint8Array
  readonly gone: Uint8Array
  /** Of each address: its settled rows, and the first row of its chain plus one. */
  readonly start: Uint32Array
  readonly stop: Uint32Array
  readonly chain: Uint32Array
  /** The next row of a chain plus one. */
  readonly next: Uint32Array
  /** Sums of each address, of bans that are there. */
  readonly count: Uint32Array
  readonly first: Float64Array
  readonly last: Float64Array
  readonly until: Float64Array
}
type Mutable = { -readonly [K in keyof ColumnArrays]: ColumnArrays[K] }

const rowColumns = ['id', 'at', 'end', 'server', 'jail', 'country', 'asn', 'permanent'] as const
const emptyArrays = (): Mutable => ({
  id: new Float64Array(0),
  at: new Float64Array(0),
  end: new Float64Array(0),
  server: new Uint32Array(0),
  jail: new Uint32Array(0),
  country: new Uint32Array(0),
  asn: new Uint32Array(0),
  permanent: new Uint8Array(0),
  gone: new Uint8Array(0),
  next: new Uint32Array(0),
  start: new Uint32Array(0),
  stop: new Uint32Array(0),
  chain: new Uint32Array(0),
  count: new Uint32Array(0),
  first: new Float64Array(0),
  last: new Float64Array(0),
  until: new Float64Array(0),
})
const longer = <A extends Float64Array | Uint32Array | Uint8Array>(array: A, length: number): A => {
  const made = new (array.constructor as new (length: number) => A)(length)
  made.set(array as never)
  return made
}
const growRows = (arrays: Mutable, length: number) => {
  arrays.id = longer(arrays.id, length)
  arrays.at = longer(arrays.at, length)
  arrays.end = longer(arrays.end, length)
  arrays.server = longer(arrays.server, length)
  arrays.jail = longer(arrays.jail, length)
  arrays.country = longer(arrays.country, length)
  arrays.asn = longer(arrays.asn, length)
  arrays.permanent = longer(arrays.permanent, length)
  arrays.gone = longer(arrays.gone, length)
  arrays.next = longer(arrays.next, length)
}
const growAddresses = (arrays: Mutable, length: number) => {
  const before = arrays.first.length
  arrays.start = longer(arrays.start, length)
  arrays.stop = longer(arrays.stop, length)
  arrays.chain = longer(arrays.chain, length)
  arrays.count = longer(arrays.count, length)
  arrays.first = longer(arrays.first, length).fill(Infinity, before)
  arrays.last = longer(arrays.last, length)
  arrays.until = longer(arrays.until, length)
}

/** Calls `visit` with each row of an address; stops where it returns true. */
export const eachRow = (arrays: ColumnArrays, address: number, visit: (row: number) => boolean | void): void => {
  const stop = arrays.stop[address] ?? 0
  for (let row = arrays.start[address] ?? 0; row < stop; row++) if (arrays.gone[row] === 0 && visit(row)) return
  for (let link = arrays.chain[address] ?? 0; link > 0; link = arrays.next[link - 1] ?? 0)
    if (arrays.gone[link - 1] === 0 && visit(link - 1)) return
}

export const createColumns = (): Columns => {
  const addresses = createAddressBook()
  const arrays = emptyArrays()
  let size = 0
  let settled = 0
  let goneRows = 0

  const sumUp = (address: number) => {
    let [count, first, last, until] = [0, Infinity, 0, 0]
    eachRow(arrays, address, row => {
      const at = arrays.at[row] ?? 0
      count++
      first = Math.min(first, at)
      last = Math.max(last, at)
      until = Math.max(until, arrays.end[row] ?? 0)
    })
    arrays.count[address] = count
    arrays.first[address] = first
    arrays.last[address] = last
    arrays.until[address] = until
  }
  const change = (ip: Uint8Array, id: number, with_: (row: number) => void) => {
    const address = addresses.find(ip)
    if (address === null) return
    eachRow(arrays, address, row => {
      if (arrays.id[row] !== id) return false
      with_(row)
      return true
    })
    sumUp(address)
  }
  return {
    addresses,
    size: () => size,
    arrays: () => arrays,
    unsettled: () => size - settled + goneRows,
    add(ban) {
      const address = addresses.numberOf(ban.ip)
      if (address >= arrays.count.length) growAddresses(arrays, Math.max(1024, address * 2))
      if (size === arrays.id.length) growRows(arrays, Math.max(1024, size * 2))
      const row = size++
      arrays.id[row] = ban.id
      arrays.at[row] = ban.at
      arrays.end[row] = ban.end
      arrays.server[row] = ban.server
      arrays.jail[row] = ban.jail
      arrays.country[row] = ban.country
      arrays.asn[row] = ban.asn ?? 0
      arrays.permanent[row] = ban.permanent ? 1 : 0
      arrays.gone[row] = 0
      arrays.next[row] = arrays.chain[address] ?? 0
      arrays.chain[address] = row + 1
      arrays.count[address] = (arrays.count[address] ?? 0) + 1
      arrays.first[address] = Math.min(arrays.first[address] ?? Infinity, ban.at)
      arrays.last[address] = Math.max(arrays.last[address] ?? 0, ban.at)
      arrays.until[address] = Math.max(arrays.until[address] ?? 0, ban.end)
    },
    end: (ip, id) => change(ip, id, row => void (arrays.end[row] = 0)),
    remove: (ip, id) =>
      change(ip, id, row => {
        arrays.gone[row] = 1
        goneRows++
      }),
    settle() {
      const kept = size - goneRows
      const order = new Uint32Array(kept)
      let place = 0
      for (let address = 0; address < addresses.size(); address++) {
        const start = place
        eachRow(arrays, address, row => void (order[place++] = row))
        arrays.start[address] = start
        arrays.stop[address] = place
        arrays.chain[address] = 0
      }
      const capacity = Math.ceil(kept * 1.25) + 1024
      for (const name of rowColumns) {
        const from = arrays[name]
        const to = longer(from.subarray(0, 0) as typeof from, capacity)
        for (let row = 0; row < kept; row++) to[row] = from[order[row] ?? 0] ?? 0
        arrays[name] = to as never
      }
      arrays.gone = new Uint8Array(capacity)
      arrays.next = new Uint32Array(capacity)
      size = settled = kept
      goneRows = 0
    },
  }
}
