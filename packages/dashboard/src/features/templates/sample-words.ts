import { bounds } from '@stockade/contract/limits.ts'

export interface LineMatch {
  readonly line: number
  readonly matched: boolean
  readonly ip: string | null
}
/** A line and what is known of it; `match` is null where it was not tried. */
export interface SampleRow {
  readonly line: number
  readonly text: string
  readonly match: LineMatch | null
}
export type TooMuch =
  | { readonly what: 'lines'; readonly count: number; readonly most: number }
  | { readonly what: 'line'; readonly line: number; readonly most: number }
  | { readonly what: 'text'; readonly most: number }

/** Lines as the service counts them: an end of line at the very end begins no other line. */
export const linesOf = (sample: string): readonly string[] => {
  const lines = sample.split('\n').map(line => line.replace(/\r+$/, ''))
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** What the service would refuse; null when it would not. */
export const tooMuchOf = (sample: string): TooMuch | null => {
  const { length, lines, line } = bounds.sample
  if (sample.length > length) return { what: 'text', most: length }
  const all = linesOf(sample)
  if (all.length > lines) return { what: 'lines', count: all.length, most: lines }
  const long = all.findIndex(each => each.length > line)
  return long < 0 ? null : { what: 'line', line: long + 1, most: line }
}

export const rowsOf = (sample: string, matches: readonly LineMatch[]): readonly SampleRow[] => {
  const matchByLine = new Map(matches.map(match => [match.line, match]))
  return linesOf(sample).map((text, index) => ({ line: index + 1, text, match: matchByLine.get(index + 1) ?? null }))
}
