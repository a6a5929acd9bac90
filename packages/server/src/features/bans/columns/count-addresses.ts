import { hitsOf, matches, testOf } from './hits.ts'
import type { ColumnFilter } from './hits.ts'
import { eachRow } from './rows.ts'
import type { Columns } from './rows.ts'

/** Which addresses to count. Plain data, so that it crosses to the thread. */
export interface CountAsked {
  readonly servers: readonly number[]
  readonly from: number
}
const filterOf = ({ servers, from }: CountAsked): ColumnFilter => ({
  ...{ servers, from, server: null, jail: null, country: null, asn: null },
  ...{ range: null, active: null, to: null, tree: null },
})

/** Distinct addresses that were banned on these servers from a moment on. */
export const countAddresses = (columns: Columns, asked: CountAsked): number => {
  const a = columns.arrays()
  const { owner, chain, settled } = a
  const test = testOf(columns, filterOf(asked), asked.from)
  const { rows, count } = hitsOf(a, test, { from: 0, to: settled }, columns.goneRows() > 0)
  const hasChains = columns.size() > settled
  let addresses = 0
  let last = 0xff_ff_ff_ff
  for (let index = 0; index < count; index++) {
    const address = owner[rows?.[index] ?? index] ?? 0
    // Addresses with a chain follow below.
    addresses += address === last || (hasChains && chain[address] !== 0) ? 0 : 1
    last = address
  }
  for (let row = settled; row < columns.size(); row++) {
    const address = owner[row] ?? 0
    // Once for each chain: at its head.
    if (chain[address] !== row + 1) continue
    let isCounted = false
    eachRow(a, address, of => (isCounted = matches(a, test, of)))
    addresses += Number(isCounted)
  }
  return addresses
}
