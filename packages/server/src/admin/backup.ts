import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DatabaseSync } from 'node:sqlite'
import { createGzip } from 'node:zlib'
import type { Config } from '../config.ts'
import { isDiskFull } from '../core/disk.ts'
import { conflict } from '../core/problem.ts'
import type { Engine } from '../db/database.ts'
import { selecting, selectingOne } from '../db/selecting.ts'
import { cellOf, fleeting, inOrder, keyFiles, list, ownRows, quoted } from './backup-format.ts'
import type { Head } from './backup-format.ts'
import { connectForBackup } from './postgres-client.ts'
import { encrypterFor, seal } from './sealing.ts'
import type { Lock } from './sealing.ts'
import { secretFile, sqliteFile, storageExists } from './storage.ts'

interface Source {
  readonly engine: Engine
  readonly migrations: readonly string[]
  readonly minReader: string | null
  readonly rolledUp: number | null
  tables(): Promise<{ name: string; columns: string[] }[]>
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly unknown[]>
  close(): Promise<void>
}

const minReaderRow = "select value from meta where key = 'schema.min_reader'"

const readSqlite = (file: string): Source => {
  const db = new DatabaseSync(file, { timeout: 5000 })
  // One read transaction: a snapshot of its first read, however long it takes and despite writes.
  db.exec('pragma query_only = on; begin')
  const names = (query: string) =>
    selecting<{ name: string }>(db, query)
      .all()
      .map(({ name }) => name)
  return {
    engine: 'sqlite',
    migrations: names('select name from kysely_migration order by name'),
    minReader: selecting<{ value: string }>(db, minReaderRow).get()?.value ?? null,
    rolledUp: selectingOne<{ ban_id: number }>(db, 'select ban_id from rolled_up').get().ban_id,
    tables: () =>
      Promise.resolve(
        names("select name from sqlite_master where type = 'table'").map(name => ({
          name,
          columns: names(`select name from pragma_table_info('${name}')`),
        })),
      ),
    async *rows(table, columns) {
      const statement = db.prepare(`select ${list(columns)} from ${quoted(table)}${ownRows(table)}`)
      for (const row of statement.iterate()) yield columns.map(column => row[column])
    },
    close() {
      db.exec('rollback')
      db.close()
      return Promise.resolve()
    },
  }
}

const pageSize = 2000
const rowsOf = (table: string, columns: readonly string[]) =>
  `select ${list(columns)} from ${quoted(table)}${ownRows(table)}`
const isSummed = (table: string) => table.startsWith('rolled_')
/** Sums as they are once the bans that wait are in them: a backup holds no ban that waits. */
const summedRows = (table: string, columns: readonly string[]) => {
  const value = quoted(columns.find(column => column === 'n' || column === 'total_bans') ?? '')
  const quotedColumns = columns.map(quoted)
  const selected = quotedColumns.map(column => (column === value ? `sum(${value}) as ${value}` : column)).join(', ')
  const keys = quotedColumns.filter(column => column !== value).join(', ')
  return `select ${selected} from ${quoted(table.replace(/^rolled_/, ''))} group by ${keys} having sum(${value}) <> 0`
}
const readPostgres = async (url: string): Promise<Source> => {
  const client = await connectForBackup(url)
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ name: string }>('select name from kysely_migration order by name')
  const versionReply = await client.query<{ value: string }>(minReaderRow)
  return {
    engine: 'postgres',
    migrations: rows.map(({ name }) => name),
    minReader: versionReply.rows[0]?.value ?? null,
    rolledUp: null,
    async tables() {
      const tables = await client.query<{ name: string; columns: string[] }>(
        `select t.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
          from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
          where t.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.data_type <> 'xid8'
          group by t.table_name`,
      )
      return tables.rows
    },
    async *rows(table, columns) {
      await client.query(
        `declare saved no scroll cursor for ${isSummed(table) ? summedRows(table, columns) : rowsOf(table, columns)}`,
      )
      for (;;) {
        const page = await client.query<unknown[]>({ text: `fetch ${pageSize} from saved`, rowMode: 'array' })
        yield* page.rows
        if (page.rows.length < pageSize) break
      }
      await client.query('close saved')
    },
    async close() {
      await client.query('rollback')
      await client.end()
    },
  }
}

const sourceOf = (config: Config): Source | Promise<Source> =>
  config.databaseUrl === null ? readSqlite(sqliteFile(config)) : readPostgres(config.databaseUrl)

export interface Saved {
  readonly tables: number
  readonly rows: number
}
const textOf = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null)
const headOf = (config: Config, source: Source, version: string): Head => ({
  stockade_backup: 1,
  version,
  engine: source.engine,
  created_at: new Date().toISOString(),
  migrations: source.migrations,
  min_reader: source.minReader,
  secret_key: config.secretKey === null ? (textOf(secretFile(config))?.trim() ?? null) : null,
  files: Object.fromEntries(
    keyFiles.flatMap(name => {
      const text = textOf(join(config.dataDir, name))
      return text === null ? [] : [[name, text]]
    }),
  ),
  rolled_up: source.rolledUp,
})

/** The text of a backup. What it holds is counted in `saved`. */
async function* linesOf(source: Source, head: Head, saved: { tables: number; rows: number }): AsyncGenerator<string> {
  const sum = createHash('sha256')
  const line = (value: unknown) => {
    const text = `${JSON.stringify(value)}\n`
    sum.update(text)
    return text
  }
  yield line(head)
  for (const { name, columns } of inOrder(await source.tables())) {
    if (fleeting.has(name)) continue
    saved.tables++
    yield line({ table: name, columns })
    let piece = ''
    for await (const row of source.rows(name, columns)) {
      saved.rows++
      piece += line(row.map(cellOf))
      if (piece.length > 256 * 1024) {
        yield piece
        piece = ''
        // A long walk over a file gives the rest of the process a turn now and then.
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    yield piece
  }
  yield `${JSON.stringify({ end: true, rows: saved.rows, sha256: sum.digest('hex') })}\n`
}

const refuseToOverwrite = (file: string): void => {
  if (existsSync(file)) throw conflict(`${file} is there already. Choose another name, or remove it first.`)
}
/** Writes beside the file and gives it its name at the end, so that a file of that name is always whole. */
const intoFile = async (file: string, write: (sink: Writable) => Promise<void>): Promise<void> => {
  const part = `${file}.part`
  try {
    await write(createWriteStream(part, { mode: 0o600, flags: 'w', flush: true }))
    refuseToOverwrite(file)
    renameSync(part, file)
  } catch (error) {
    if (isDiskFull(error)) throw conflict(`The disk ran full: ${file} was not written.`)
    throw error
  } finally {
    rmSync(part, { force: true })
  }
}

/**
 * Writes a backup of everything, of one moment, while the server goes on: into a new file of mode 0600, because it holds the
 * key that secrets are sealed with unless that comes from the environment, or to a stream.
 * @throws Problem 409 when there is nothing to save, or a file of that name
 */
export const backup = async (
  config: Config,
  target: string | Writable,
  version: string,
  lock: Lock,
): Promise<Saved> => {
  if (lock !== null) encrypterFor(lock)
  if (!storageExists(config)) throw conflict(`There is no database in ${config.dataDir}.`)
  if (typeof target === 'string') refuseToOverwrite(target)
  const source = await sourceOf(config)
  const saved = { tables: 0, rows: 0 }
  const lines = linesOf(source, headOf(config, source, version), saved)
  const write = (sink: Writable) => pipeline(Readable.from(lines), createGzip({ level: 4 }), seal(lock), sink)
  try {
    await (typeof target === 'string' ? intoFile(target, write) : write(target))
  } finally {
    await source.close()
  }
  return saved
}
