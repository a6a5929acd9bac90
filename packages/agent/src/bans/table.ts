import type { Interpreter } from '../python/interpreter.ts'
import { testJail } from '../engine/own-files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'

export type BanKey = readonly [jail: string, ip: string, time: number]

/** A row of fail2ban's ban table. `bantime` in seconds, -1 for permanent; `time` is that of the failure. */
export interface BanRow {
  readonly jail: string
  readonly ip: string
  readonly time: number
  readonly bantime: number
  readonly failures: number
  readonly logLines: string
}

/** How far the table was read: the number and content of the last row. The content shows if the number was reused. */
export interface Cursor {
  readonly last: number
  readonly key: BanKey | null
}

export interface TableRead {
  readonly rows: readonly BanRow[]
  readonly end: Cursor
  /** The answer was cut at its limit: continue from `end`. */
  readonly more: boolean
}

export const tableStart: Cursor = { last: 0, key: null }

const maxRows = 2000
/** Without their log lines, which are most of a row. */
const maxBriefRows = 10_000
const maxBytes = 2 * 1024 * 1024

/** `isBrief`: without failures and log lines. */
export type ReadRows = (file: string, cursor: Cursor, isBrief: boolean) => Promise<TableRead>

/** Reads the rows after the cursor, or all rows if the row at the cursor is not the same any more. */
export const readTable = async (
  python: Interpreter,
  program: string,
  file: string,
  cursor: Cursor,
  isBrief = false,
): Promise<TableRead> => {
  const text = await python.run(program, {
    db: file,
    last: cursor.last,
    key: cursor.key,
    rows: isBrief ? maxBriefRows : maxRows,
    bytes: maxBytes,
    brief: isBrief,
  })
  return parseRead(text)
}

const parseRead = (text: string): TableRead => {
  const [first = '', ...rest] = text.split('\n')
  const head = asFields(JSON.parse(first))
  const key = asList(head['key'])
  return {
    rows: rest
      .filter(line => line !== '')
      .map(parseRow)
      .filter(({ jail }) => jail !== testJail),
    end: {
      last: asInteger(head['last'], 0),
      key: key.length === 3 ? [asText(key[0]), asText(key[1]), asInteger(key[2], 0)] : null,
    },
    more: head['more'] === true,
  }
}

const parseRow = (line: string): BanRow => {
  const [, jail, ip, time, bantime, failures, logLines] = asList(JSON.parse(line))
  return {
    jail: asText(jail),
    ip: asText(ip),
    time: asInteger(time, 0),
    bantime: asInteger(bantime, -1),
    failures: asInteger(failures, 0),
    logLines: asText(logLines),
  }
}
