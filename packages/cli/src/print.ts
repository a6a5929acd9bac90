import { styleText } from 'node:util'
import { safe, safeJson } from './safe.ts'

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}
export const printJson = (value: unknown): void => print(safeJson(value))
/** The whole answer for a program, or what it means for a person. */
export const printEither = (json: boolean, value: unknown, words: string): void =>
  json ? printJson(value) : print(words)

/** Colours are for people: only on a terminal, and never where NO_COLOR is set. */
const coloured = () => process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

/** The level in words where it is `protected` and a check warns. */
export const protectedWithWarnings = 'protected (warnings)'

const colours: Readonly<Record<string, 'green' | 'red' | 'yellow' | 'cyan'>> = {
  online: 'green',
  protected: 'green',
  [protectedWithWarnings]: 'yellow',
  degraded: 'yellow',
  unprotected: 'red',
  bad: 'red',
  warning: 'yellow',
  completed: 'green',
  synced: 'green',
  connected: 'green',
  active: 'red',
  offline: 'red',
  failed: 'red',
  timeout: 'red',
  failing: 'red',
  cancelled: 'yellow',
  pending: 'yellow',
  running: 'cyan',
}
const paint = (style: 'green' | 'red' | 'yellow' | 'cyan' | 'bold', text: string) =>
  coloured() ? styleText(style, text, { validateStream: false }) : text

/** Content of a cell; null is unknown. */
export type Cell = string | number | null

const cellText = (cell: Cell) => (cell === null || cell === '' ? '-' : safe(String(cell)))
const lengthOf = (text: string) => [...text].length
/** Padding goes around the colour, which has no width. */
const pad = (cell: Cell, width: number) => {
  const text = cellText(cell)
  const space = ' '.repeat(Math.max(0, width - lengthOf(text)))
  const colour = colours[text]
  const paintedText = colour ? paint(colour, text) : text
  return typeof cell === 'number' ? space + paintedText : paintedText + space
}

/** Prints the headings and answers what prints a row: for rows that come one by one, whose widths are known before. */
export const beginTable = (
  headings: readonly string[],
  wide: readonly number[],
  numeric: readonly boolean[] = [],
): ((row: readonly Cell[]) => void) => {
  const widths = headings.map((heading, column) => Math.max(heading.length, wide[column] ?? 0))
  const head = headings.map((heading, column) =>
    numeric[column] ? heading.padStart(widths[column] ?? 0) : heading.padEnd(widths[column] ?? 0),
  )
  print(paint('bold', head.join('  ').trimEnd()))
  return row => {
    const cells = headings.map((_, column) => {
      const width = widths[column] ?? 0
      const cell = row[column] ?? null
      return cell === null && numeric[column] ? '-'.padStart(width) : pad(cell, width)
    })
    print(cells.join('  ').trimEnd())
  }
}

/** Rows under their headings, as wide as the widest cell; numbers stand right. */
export const printTable = (headings: readonly string[], rows: readonly (readonly Cell[])[]): void => {
  const put = beginTable(
    headings,
    headings.map((_, column) => Math.max(0, ...rows.map(row => lengthOf(cellText(row[column] ?? null))))),
    headings.map((_, column) => rows.some(row => typeof row[column] === 'number')),
  )
  for (const row of rows) put(row)
}

/** Names and values, one a line. */
export const printFields = (fields: readonly (readonly [string, Cell])[]): void => {
  const width = Math.max(...fields.map(([name]) => name.length))
  for (const [name, value] of fields)
    print(`${name.padEnd(width)}  ${pad(typeof value === 'number' ? String(value) : value, 0)}`)
}

/** Where a page stands in its list: `2 of 345 bans; more with --page 2`. */
export const printPlace = (what: string, list: { total: number; page: number; limit: number }, shown: number): void => {
  const more = list.page * list.limit < list.total ? `; more with --page ${list.page + 1}` : ''
  print(`\n${shown} of ${list.total} ${what}${more}`)
}
