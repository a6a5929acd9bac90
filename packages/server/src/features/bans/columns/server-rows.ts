import { free } from './memory.ts'

/** The columns that are read; rows before `settled` lie in the order of their addresses. */
interface SettledColumns {
  readonly server: Uint16Array
  readonly at: Float64Array
  readonly owner: Uint32Array
  readonly settled: number
}
/** The settled rows of one server in their order, and a stamp for each: a pass over them reads memory in its order. */
export interface RowsOfServer {
  readonly rows: Int32Array
  /** Twice the second since `epoch`, and one more where the row before it has the same address. */
  readonly stamps: Uint32Array
}

/**
 * Rows by server: a question about one server reads its rows alone, not those of the fleet. Made with the first such question after each
 * `settle`: 8 bytes a ban.
 */
export interface ServerRows {
  /** It holds until the rows are settled again. */
  of(server: number): RowsOfServer
  /** A row is gone. */
  drop(row: number): void
  /** The rows are settled again. */
  forget(): void
}

/** A place for each number that fits into the column of servers. */
const numbers = 65_536
/** Seconds of 2020-01-01: stamps reach to 2088. What lies before or after counts as the first or the last second. */
const epoch = 1_577_836_800
const last = 0x7f_ff_ff_fe
/** The stamp of a row that is gone lies after each window. */
const gone = 0x7f_ff_ff_ff
const secondOf = (at: number): number => Math.min(last, Math.max(0, Math.floor(at / 1000) - epoch))

/** A window in stamps. In its first and its last second the exact time of a row decides. */
export interface StampWindow {
  readonly first: number
  readonly last: number
}
/** @param from milliseconds, inclusive @param to milliseconds, exclusive */
export const stampWindow = (from: number, to: number): StampWindow => ({ first: secondOf(from), last: secondOf(to) })

/** The first index from which no row is before this one. */
export const indexOfRow = (rows: Int32Array, row: number): number => {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle] ?? 0) < row) low = middle + 1
    else high = middle
  }
  return low
}

const make = ({ server, at, owner, settled }: SettledColumns) => {
  const starts = new Uint32Array(numbers + 1)
  for (let row = 0; row < settled; row++) starts[(server[row] ?? 0) + 1] = (starts[(server[row] ?? 0) + 1] ?? 0) + 1
  for (let number = 0; number < numbers; number++)
    starts[number + 1] = (starts[number + 1] ?? 0) + (starts[number] ?? 0)
  const next = starts.slice()
  const rows = new Int32Array(settled)
  const stamps = new Uint32Array(settled)
  for (let row = 0; row < settled; row++) {
    const number = server[row] ?? 0
    const place = next[number] ?? 0
    const time = at[row] ?? NaN
    const isFirst = place === starts[number] || owner[rows[place - 1] ?? 0] !== owner[row]
    rows[place] = row
    stamps[place] = (Number.isNaN(time) ? gone : secondOf(time)) * 2 + Number(!isFirst)
    next[number] = place + 1
  }
  return { starts, rows, stamps }
}

export const createServerRows = (arrays: () => SettledColumns): ServerRows => {
  let lastIndex: ReturnType<typeof make> | null = null
  const partOf = ({ starts, rows, stamps }: ReturnType<typeof make>, server: number): RowsOfServer => {
    const [from, to] = server < numbers ? [starts[server], starts[server + 1]] : [0, 0]
    return { rows: rows.subarray(from, to), stamps: stamps.subarray(from, to) }
  }
  return {
    of: server => partOf((lastIndex ??= make(arrays())), server),
    drop(row) {
      const { server, settled } = arrays()
      if (lastIndex === null || row >= settled) return
      const { rows, stamps } = partOf(lastIndex, server[row] ?? 0)
      const index = indexOfRow(rows, row)
      stamps[index] = gone * 2 + ((stamps[index] ?? 0) & 1)
    },
    forget() {
      if (lastIndex) free(lastIndex.starts, lastIndex.rows, lastIndex.stamps)
      lastIndex = null
    },
  }
}
