import { eachRow } from './rows.ts'
import type { Columns } from './rows.ts'

/** Which addresses to count. Plain data, so that it crosses to the thread. */
export interface CountAsked {
  readonly servers: readonly number[]
  readonly from: number
}

/** Distinct addresses that were banned on these servers from a moment on: one pass, in which most rows cost a look at their server. */
export const countAddresses = (columns: Columns, { servers, from }: CountAsked): number => {
  const a = columns.arrays()
  const { server, at, owner, chain, settled } = a
  const seen = new Uint8Array(Math.max(0, ...servers) + 1)
  for (const number of servers) seen[number] = 1
  const hasChains = columns.size() > settled
  let count = 0
  let last = -1
  for (let row = 0; row < settled; row++) {
    // A ban that is gone is NaN, which no comparison holds for.
    if (seen[server[row] ?? 0] !== 1 || !((at[row] ?? 0) >= from)) continue
    const address = owner[row] ?? 0
    if (address === last || (hasChains && chain[address] !== 0)) continue
    last = address
    count++
  }
  // Once for each chain: at its head.
  for (let row = settled; row < columns.size(); row++) {
    const address = owner[row] ?? 0
    if (chain[address] !== row + 1) continue
    let isCounted = false
    eachRow(a, address, of => (isCounted = seen[server[of] ?? 0] === 1 && (at[of] ?? 0) >= from))
    count += Number(isCounted)
  }
  return count
}
