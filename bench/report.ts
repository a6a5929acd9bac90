import type { Measured } from './load.ts'

/** One line of a table: medians over the rounds. */
export interface Line {
  readonly name: string
  readonly rate: number
  readonly cpu: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  readonly firstError: string | null
}

/** Without a value it is not a number, so that it meets no goal. */
export const median = (values: readonly number[]): number => {
  if (values.length === 0) return NaN
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/**
 * Only requests that were answered as expected count; all errors of all rounds do. A line of which a round has no such request is not a
 * number, so that it meets no goal.
 */
export const lineOf = (name: string, rounds: readonly Measured[]): Line => {
  const isMeasured = rounds.length > 0 && rounds.every(({ done }) => done > 0)
  const over = (of: (round: Measured) => number) => (isMeasured ? median(rounds.map(of)) : NaN)
  return {
    name: isMeasured ? name : `${name} (NO SAMPLE)`,
    rate: over(({ done, seconds }) => done / seconds),
    cpu: over(({ cpuSeconds, done }) => (cpuSeconds * 1e6) / done),
    p50: over(({ p50 }) => p50),
    p99: over(({ p99 }) => p99),
    errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
    firstError: rounds.find(({ firstError }) => firstError !== null)?.firstError ?? null,
  }
}

const whole = (value: number) => Math.round(value).toLocaleString('en')
const cells = (values: readonly string[]) =>
  values.map((value, index) => (index === 0 ? value.padEnd(34) : value.padStart(10))).join('')

export const say = (text = ''): void => void process.stdout.write(`${text}\n`)
export const head = (title: string, ...more: readonly string[]): void => {
  say()
  say(cells([title, 'a second', 'CPU us', 'p50 ms', 'p99 ms', 'errors', ...more]))
}
/** A line without a sample is a failure of the bench, also where no goal is set. */
export const print = (line: Line, ...more: readonly string[]): void => {
  const { name, rate, cpu, p50, p99, errors } = line
  if (Number.isNaN(rate)) process.exitCode = 1
  say(cells([name, whole(rate), cpu.toFixed(1), p50.toFixed(2), p99.toFixed(2), String(errors), ...more]))
  if (line.firstError) say(`    first error: ${line.firstError.replace(/\s+/g, ' ')}`)
}
/** A line for what has no requests: rows and CPU only. */
export const printRows = (name: string, rate: number, cpu: number): void => {
  if (Number.isNaN(rate)) process.exitCode = 1
  say(cells([name, whole(rate), cpu.toFixed(1), '', '', '']))
}

export const ratio = (a: number, b: number): string => (b > 0 ? (a / b).toFixed(2) : '-')

const ratiosOf = (a: readonly number[], b: readonly number[]): number[] =>
  a.slice(0, b.length).map((value, index) => value / (b[index] ?? 1))
/**
 * How two things compare that were measured in turn: the median of the ratios. A machine that is slower for a minute is so
 * for both of a pair, and not for the median of all of one and the median of all of the other.
 */
export const paired = (a: readonly number[], b: readonly number[]): number => median(ratiosOf(a, b))
export const inTurn = (a: readonly number[], b: readonly number[]): string =>
  a.length > 0 && b.length > 0 ? paired(a, b).toFixed(2) : '-'
/** Where the middle half of the ratios lies, and how many there are. */
export const spread = (a: readonly number[], b: readonly number[]): string => {
  const ratios = ratiosOf(a, b).sort((x, y) => x - y)
  const at = (share: number) => (ratios[Math.round((ratios.length - 1) * share)] ?? 0).toFixed(3)
  return `${ratios.length} in turn: median ${median(ratios).toFixed(3)}, middle half ${at(0.25)} to ${at(0.75)}`
}

export type Verdict = 'yes' | 'NO' | 'NO SAMPLE'
/** A goal is an upper bound where its text says "at most". What was not measured meets none. */
export const verdictOf = (what: string, found: number, wanted: number): Verdict => {
  if (Number.isNaN(found)) return 'NO SAMPLE'
  return (what.includes('at most') ? found <= wanted : found >= wanted) ? 'yes' : 'NO'
}
/**
 * What was promised, what came out, and whether it holds. `byCpu` is the same from CPU a request, which other work on the
 * machine hardly touches. What was not measured is a failure of the bench: it ends with 1.
 */
export const judge = (what: string, found: number, wanted: number, unit = '', byCpu?: number): void => {
  const verdict = verdictOf(what, found, wanted)
  if (verdict === 'NO SAMPLE') process.exitCode = 1
  const show = (value: number) => (Number.isInteger(value) ? whole(value) : value.toFixed(value < 1 ? 3 : 2))
  const also = byCpu === undefined ? '' : ` (by CPU ${show(byCpu)})`
  const result = verdict === 'NO SAMPLE' ? 'nothing was measured' : `${show(found)}${unit}${also}`
  say(`  ${verdict.padEnd(3)}  ${what} ${wanted.toLocaleString('en', { maximumFractionDigits: 2 })}${unit}: ${result}`)
}
