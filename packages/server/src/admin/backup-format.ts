import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { codeOf } from '@stockade/contract/error-code.ts'
import { conflict } from '../core/problem.ts'
import type { Engine } from '../db/database.ts'
import { listingTables } from '../features/bans/sums.ts'
import { stateOf } from '../db/schema-state.ts'
import { opened } from './sealing.ts'
import type { Opener } from './sealing.ts'

/*
 * A backup is one gzip file of JSON lines, encrypted unless told otherwise (sealing.ts): a head, then each table as a line with its columns and a line a row, at the end
 * a line with the number of rows and the SHA-256 of everything before it. It holds plain values, so that what was saved
 * from SQLite can be restored into PostgreSQL and the other way round. All of it is of one moment.
 */
export interface Head {
  readonly stockade_backup: 1
  readonly version: string
  readonly engine: Engine
  readonly created_at: string
  readonly migrations: readonly string[]
  /** See `StoredSchema`. */
  readonly min_reader?: string | null
  /** The key that secrets are sealed with, where it lies beside the data; without it they can't be opened again. */
  readonly secret_key: string | null
  /** Text of the other keys of the data folder, by the name of their file. */
  readonly files?: Readonly<Record<string, string>>
  /** The last ban that the sums hold; null in a backup of PostgreSQL, whose sums hold all. */
  readonly rolled_up: number | null
}
export type Cell = string | number | null | { readonly b: string }
/** What belongs to one running installation, is said in the head, or is made of other rows by those who need it. */
const leftOut = new Set([
  ...[
    'rolled_up',
    'unsummed_bans',
    'retention_gate',
    'leases',
    'rate_counts',
    'removed_bans',
    'key_changes',
    'ban_changes',
  ],
  ...['rolled_active_totals', 'unsummed_ends', 'rolled_last_bans'],
  'sqlite_sequence',
  ...listingTables.map(({ name }) => name),
])
/** Older versions saved these, which are now made of other rows. */
export const replaced = new Set(['rolled_ip_hours'])
/** Sessions and pending sign-ins are in no backup, so that a stolen one signs nobody in; a restore ends them. */
export const fleeting = new Set(['sessions', 'mfa_tokens', 'oauth_states', 'passkey_challenges'])
/** Hosts are bound to the first of these, and the audit log is signed by the second. */
export const keyFiles: readonly string[] = ['tls.key', 'audit.key']
/** The rows of a table that belong to what is stored, not to the storage. */
export const ownRows = (table: string): string => (table === 'meta' ? " where key not like 'schema.%'" : '')
/** What others refer to comes first. */
const first = ['users', 'servers']
export const inOrder = <T extends { name: string }>(tables: readonly T[]): T[] =>
  tables
    .filter(({ name }) => !leftOut.has(name) && !name.startsWith('kysely_') && !name.startsWith('sqlite_'))
    .sort((a, b) => first.indexOf(b.name) - first.indexOf(a.name) || (a.name < b.name ? -1 : 1))
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
export const list = (columns: readonly string[]) => columns.map(quoted).join(', ')
export const cellOf = (value: unknown): Cell =>
  value instanceof Uint8Array
    ? { b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
    : (value as Cell)
export const valueOf = (cell: Cell): string | number | null | Buffer =>
  typeof cell === 'object' && cell !== null ? Buffer.from(cell.b, 'base64') : cell

export interface Table {
  readonly table: string
  readonly columns: readonly string[]
}
interface End {
  readonly end: true
  readonly rows: number
  readonly sha256: string
}
type Line = Head | Table | readonly Cell[] | End
export const damaged = (why: string) => conflict(`This is no complete backup: ${why}. Nothing was changed.`)

/** The lines of a gzip file. */
async function* linesOf(file: string, opener: Opener): AsyncGenerator<string> {
  const plain = createGunzip()
  const input = Readable.from(opened(file, opener))
  input.on('error', error => plain.destroy(error))
  input.pipe(plain).setEncoding('utf8')
  let rest = ''
  for await (const piece of plain) {
    const parts = (rest + piece).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest !== '') yield rest
}
/** Reads a backup line by line. @throws Problem 409 where it is cut, changed or none */
export async function* read(file: string, opener: Opener): AsyncGenerator<Exclude<Line, End>> {
  const sum = createHash('sha256')
  let rows = 0
  let ended = false
  try {
    for await (const text of linesOf(file, opener)) {
      if (ended) throw damaged('something follows its end')
      const line = JSON.parse(text) as Line
      if ('end' in line) {
        ended = true
        if (line.rows !== rows || line.sha256 !== sum.digest('hex')) throw damaged('its content was changed')
        continue
      }
      sum.update(`${text}\n`)
      if (Array.isArray(line)) rows++
      yield line
    }
  } catch (error) {
    const code = codeOf(error)
    if (error instanceof SyntaxError) throw damaged('a line is cut')
    if (code?.startsWith('Z_')) throw damaged('it is no whole gzip file')
    throw error
  }
  if (!ended) throw damaged('its end is missing')
}
/** Goes through all of it first, so that a bad file changes nothing. */
export const examine = async (
  file: string,
  opener: Opener,
  known: readonly string[],
): Promise<{ head: Head; rows: number; rowsByTable: ReadonlyMap<string, number> }> => {
  if (!existsSync(file)) throw conflict(`There is no file ${file}.`)
  let head: Head | null = null
  let rows = 0
  const rowsByTable = new Map<string, number>()
  let table = ''
  for await (const line of read(file, opener)) {
    if (head === null) {
      if (Array.isArray(line) || !('stockade_backup' in line)) throw damaged('it does not begin as one')
      if (line.stockade_backup !== 1)
        throw conflict('This backup is of a newer Stockade. Restore it with that version.')
      if (stateOf({ done: line.migrations, minReader: line.min_reader ?? null }, known) === 'newer')
        throw conflict(`This backup is of a newer Stockade, ${line.version}. Restore it with that version.`)
      head = line
    } else if (Array.isArray(line)) {
      rows++
      rowsByTable.set(table, (rowsByTable.get(table) ?? 0) + 1)
    } else if ('table' in line) {
      table = line.table
      rowsByTable.set(table, 0)
    }
  }
  if (head === null) throw damaged('it is empty')
  return { head, rows, rowsByTable }
}
