import { hitsOf, matches, testOf } from './hits.ts'
import type { ColumnFilter, RowTest } from './hits.ts'
import { eachRow } from './rows.ts'
import type { Columns } from './rows.ts'
import { stampWindow } from './server-rows.ts'

/** Which addresses to count. Plain data, so that it crosses to the thread. */
export interface CountAsked {
  readonly servers: readonly number[]
  readonly from: number
}
const filterOf = ({ servers, from }: CountAsked): ColumnFilter => ({
  ...{ servers, from, server: null, jail: null, country: null, asn: null },
  ...{ range: null, active: null, to: null, tree: null },
})

/** Addresses in the settled rows of one server. Stamps say whether two rows have the same address, so no other column is read. */
const countOfServer = (columns: Columns, server: number, from: number): number => {
  const { at } = columns.arrays()
  const { rows, stamps } = columns.rowsOf(server)
  const { first, last } = stampWindow(from, Infinity)
  let addresses = 0
  let isCounted = 0
  for (let index = 0; index < stamps.length; index++) {
    const stamp = stamps[index] ?? 0
    const second = stamp >>> 1
    const isInside =
      (second > first && second <= last) || (second === first && (at[rows[index] ?? 0] ?? 0) >= from) ? 1 : 0
    isCounted &= stamp
    addresses += isInside & ~isCounted
    isCounted |= isInside
  }
  return addresses
}
const countOfRows = (columns: Columns, test: RowTest): number => {
  const { owner, settled } = columns.arrays()
  const { rows, count } = hitsOf(columns, test, { from: 0, to: settled })
  let addresses = 0
  let last = -1
  for (let index = 0; index < count; index++) {
    const address = owner[rows?.[index] ?? index] ?? 0
    addresses += address === last ? 0 : 1
    last = address
  }
  return addresses
}

/** Distinct addresses that were banned on these servers from a moment on. */
export const countAddresses = (columns: Columns, asked: CountAsked): number => {
  const a = columns.arrays()
  const { owner, chain, settled } = a
  const test = testOf(columns, filterOf(asked), asked.from)
  let addresses = test.server === null ? countOfRows(columns, test) : countOfServer(columns, test.server, asked.from)
  for (let row = settled; row < columns.size(); row++) {
    const address = owner[row] ?? 0
    // Once for each chain: at its head. What its settled rows count is known by now.
    if (chain[address] !== row + 1) continue
    let [isSettledHit, isChainHit] = [false, false]
    eachRow(a, address, of => {
      if (!matches(a, test, of)) return
      if (of < settled) isSettledHit = true
      else isChainHit = true
    })
    addresses += Number(isChainHit && !isSettledHit)
  }
  return addresses
}
