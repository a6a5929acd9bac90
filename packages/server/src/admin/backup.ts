import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue } from 'node:sqlite'
import { createGunzip, createGzip } from 'node:zlib'
import pg from 'pg'
import type { Config } from '../config.ts'
import { conflict } from '../core/problem.ts'
import type { Engine } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { encrypterFor, opened, seal } from './sealing.ts'
import type { Lock, Opener } from './sealing.ts'
import { auditMemoryFile, openStorage, secretFile, sqliteFile, storageExists } from './storage.ts'
import { addToSums } from '../features/bans/append.postgres.ts'
import { fleetOfCube, listingTables } from '../features/bans/sums.ts'

/*
 * A backup is one gzip file of JSON lines, encrypted unless told otherwise (sealing.ts): a head, then each table as a line with its columns and a line a row, at the end
 * a line with the number of rows and the SHA-256 of everything before it. It holds plain values, so that what was saved
 * from SQLite can be restored into PostgreSQL and the other way round. All of it is of one moment.
 */
interface Head {
  readonly stockade_backup: 1
  readonly version: string
  readonly engine: Engine
  readonly created_at: string
  readonly migrations: readonly string[]
  /** The key that secrets are sealed with, where it lies beside the data; without it they can't be opened again. */
  readonly secret_key: string | null
  /** The last ban that the sums hold; null on PostgreSQL, where they hold all. */
  readonly rolled_up: number | null
}
type Cell = string | number | null | { readonly b: string }
interface Source {
  readonly engine: Engine
  readonly migrations: readonly string[]
  readonly rolledUp: number | null
  tables(): Promise<{ name: string; columns: string[] }[]>
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly unknown[]>
  close(): Promise<void>
}

/** What belongs to one running installation, is said in the head, or is made of other rows by those who need it. */
const leftOut = new Set([
  ...['rolled_up', 'retention_gate', 'leases', 'rate_counts', 'removed_bans', 'sqlite_sequence'],
  ...listingTables.map(({ name }) => name),
])
/** Whoever finds a backup signs in as nobody: what is signed in, or on its way, is in no backup and ends with a restore. */
const fleeting = new Set(['sessions', 'mfa_tokens', 'oauth_states', 'passkey_challenges'])
/** What others refer to comes first. */
const first = ['users', 'servers']
const inOrder = <T extends { name: string }>(tables: readonly T[]): T[] =>
  tables
    .filter(({ name }) => !leftOut.has(name) && !name.startsWith('kysely_') && !name.startsWith('sqlite_'))
    .sort((a, b) => first.indexOf(b.name) - first.indexOf(a.name) || (a.name < b.name ? -1 : 1))
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const list = (columns: readonly string[]) => columns.map(quoted).join(', ')
const cellOf = (value: unknown): Cell =>
  value instanceof Uint8Array
    ? { b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
    : (value as Cell)
const valueOf = (cell: Cell): string | number | null | Buffer =>
  typeof cell === 'object' && cell !== null ? Buffer.from(cell.b, 'base64') : cell

const readSqlite = (file: string): Source => {
  const db = new DatabaseSync(file, { timeout: 5000 })
  // One read transaction: everything is of the moment of its first look, however long it takes and whoever writes.
  db.exec('pragma query_only = on; begin')
  const names = (query: string) => (db.prepare(query).all() as { name: string }[]).map(({ name }) => name)
  return {
    engine: 'sqlite',
    migrations: names('select name from kysely_migration order by name'),
    rolledUp: (db.prepare('select ban_id from rolled_up').get() as { ban_id: number }).ban_id,
    tables: () =>
      Promise.resolve(
        names("select name from sqlite_master where type = 'table'").map(name => ({
          name,
          columns: names(`select name from pragma_table_info('${name}')`),
        })),
      ),
    async *rows(table, columns) {
      const statement = db.prepare(`select ${list(columns)} from ${quoted(table)}`)
      for (const row of statement.iterate()) yield columns.map(column => row[column])
    },
    close() {
      db.exec('rollback')
      db.close()
      return Promise.resolve()
    },
  }
}

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, application_name: 'stockade-backup' })
  await client.connect()
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  return client
}
const pageSize = 2000
const readPostgres = async (url: string): Promise<Source> => {
  const client = await connect(url)
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ name: string }>('select name from kysely_migration order by name')
  return {
    engine: 'postgres',
    migrations: rows.map(({ name }) => name),
    rolledUp: null,
    async tables() {
      const found = await client.query<{ name: string; columns: string[] }>(
        `select t.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
          from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
          where t.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.data_type <> 'xid8'
          group by t.table_name`,
      )
      return found.rows
    },
    async *rows(table, columns) {
      await client.query(`declare saved no scroll cursor for select ${list(columns)} from ${quoted(table)}`)
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
/**
 * Writes a backup of everything, of one moment, while the server goes on. The file has mode 0600: it holds the key that
 * secrets are sealed with, unless that comes from the environment.
 * @throws Problem 409 when there is nothing to save
 */
export const backup = async (config: Config, file: string, version: string, lock: Lock): Promise<Saved> => {
  if (lock !== null) encrypterFor(lock)
  if (!storageExists(config)) throw conflict(`There is no database in ${config.dataDir}.`)
  const source = await sourceOf(config)
  const unfinished = `${file}.unfinished`
  const sum = createHash('sha256')
  const saved = { tables: 0, rows: 0 }
  const secret =
    config.secretKey === null && existsSync(secretFile(config)) ? readFileSync(secretFile(config), 'utf8').trim() : null
  const head: Head = {
    stockade_backup: 1,
    version,
    engine: source.engine,
    created_at: new Date().toISOString(),
    migrations: source.migrations,
    secret_key: secret,
    rolled_up: source.rolledUp,
  }
  async function* lines() {
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
  try {
    await pipeline(
      Readable.from(lines()),
      createGzip({ level: 4 }),
      seal(lock),
      createWriteStream(unfinished, { mode: 0o600, flags: 'w' }),
    )
    renameSync(unfinished, file)
  } finally {
    rmSync(unfinished, { force: true })
    await source.close()
  }
  return saved
}

interface Table {
  readonly table: string
  readonly columns: readonly string[]
}
interface End {
  readonly end: true
  readonly rows: number
  readonly sha256: string
}
type Line = Head | Table | readonly Cell[] | End
const damaged = (why: string) => conflict(`This is no complete backup: ${why}. Nothing was changed.`)

/** The lines of a gzip file. */
async function* linesOf(file: string, opener: Opener): AsyncGenerator<string> {
  const plain = createGunzip()
  const input = Readable.from(opened(file, opener))
  input.on('error', error => plain.destroy(error))
  input.pipe(plain).setEncoding('utf8')
  let rest = ''
  for await (const piece of plain as AsyncIterable<string>) {
    const parts = (rest + piece).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest !== '') yield rest
}
/** Reads a backup line by line. @throws Problem 409 where it is cut, changed or none */
async function* read(file: string, opener: Opener): AsyncGenerator<Exclude<Line, End>> {
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
    const code = (error as { code?: unknown }).code
    if (error instanceof SyntaxError) throw damaged('a line is cut')
    if (typeof code === 'string' && code.startsWith('Z_')) throw damaged('it is no whole gzip file')
    throw error
  }
  if (!ended) throw damaged('its end is missing')
}
/** Goes through all of it first, so that a bad file changes nothing. */
const examine = async (file: string, opener: Opener): Promise<{ head: Head; rows: number }> => {
  if (!existsSync(file)) throw conflict(`There is no file ${file}.`)
  let head: Head | null = null
  let rows = 0
  for await (const line of read(file, opener)) {
    if (head === null) {
      if (Array.isArray(line) || !('stockade_backup' in line)) throw damaged('it does not begin as one')
      if (line.stockade_backup !== 1)
        throw conflict('This backup is of a newer Stockade. Restore it with that version.')
      head = line
    } else if (Array.isArray(line)) rows++
  }
  if (head === null) throw damaged('it is empty')
  return { head, rows }
}

interface Target {
  /** Columns of a table; undefined where there is no such table. */
  columnsOf(table: string): Promise<readonly string[] | undefined>
  add(table: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): Promise<void>
  /** All rows are there. */
  finish(): Promise<void>
  abandon(): Promise<void>
}

/** Into a new file, which takes the place of the old one at the end in one step. */
const intoSqlite = async (config: Config, head: Head): Promise<Target> => {
  const file = sqliteFile(config)
  const fresh = `${file}.restoring`
  const sweep = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
  }
  sweep()
  const { openSqlite } = await import('../db/sqlite.ts')
  const made = await openSqlite(fresh)
  await migrate(made)
  await made.close()
  const db = new DatabaseSync(fresh)
  db.exec('pragma synchronous = off; pragma foreign_keys = off; pragma cache_size = -262144; begin')
  return {
    columnsOf(table) {
      const rows = db.prepare('select name from pragma_table_info(?)').all(table) as { name: string }[]
      return Promise.resolve(rows.length === 0 ? undefined : rows.map(({ name }) => name))
    },
    add(table, columns, rows) {
      const insert = db.prepare(
        `insert or replace into ${quoted(table)} (${list(columns)}) values (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...(row.map(valueOf) as SQLInputValue[]))
      return Promise.resolve()
    },
    finish() {
      const last = (db.prepare('select coalesce(max(id), 0) as id from bans').get() as { id: number }).id
      db.prepare('update rolled_up set ban_id = ?').run(head.rolled_up ?? last)
      for (const listing of listingTables) db.exec(listing.fill)
      db.exec(fleetOfCube)
      const [broken] = db.prepare('pragma foreign_key_check').all()
      if (broken) throw damaged('rows refer to others that are missing')
      db.exec('commit; pragma synchronous = full; pragma wal_checkpoint(truncate); pragma optimize')
      db.close()
      if (existsSync(file)) {
        const aside = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, '-')}`
        renameSync(file, aside)
        for (const suffix of ['-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
      }
      renameSync(fresh, file)
      sweep()
      return Promise.resolve()
    },
    abandon() {
      if (db.isOpen) db.close()
      sweep()
      return Promise.resolve()
    },
  }
}

/** SQLite sums in the background, PostgreSQL with each ban: what was not summed yet is summed here. */
const sumUp = async (client: pg.Client, after: number): Promise<void> => {
  const { rows } = await client.query<{
    id: number
    server_no: number
    jail_id: number
    country_id: number
    banned_at: number
    ip: Buffer
  }>('select id, server_no, jail_id, country_id, banned_at, ip from bans where id > $1', [after])
  if (rows.length > 0)
    await addToSums(
      client,
      rows.map(row => ({
        id: row.id,
        jailId: row.jail_id,
        countryId: row.country_id,
        ban: { serverNo: row.server_no, bannedAt: row.banned_at, ip: row.ip },
      })),
    )
}
/** In one transaction: until its commit everybody else sees what was there before. */
const intoPostgres = async (url: string, config: Config, head: Head): Promise<Target> => {
  const storage = await openStorage(config)
  await migrate(storage)
  await storage.close()
  const client = await connect(url)
  await client.query('begin')
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  // The audit log lets nobody empty it but whoever restores all of it.
  for (const table of ['events', 'audit']) await client.query(`alter table ${table} disable trigger user`)
  await client.query(`truncate ${list(inOrder(tables).map(({ name }) => name))}`)
  return {
    async columnsOf(table) {
      const { rows } = await client.query<{ name: string }>(
        `select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1`,
        [table],
      )
      return rows.length === 0 ? undefined : rows.map(({ name }) => name)
    },
    async add(table, columns, rows) {
      // The order of events is that of their ids from now on; places of readers are said in the same terms.
      const extra = table === 'events' ? [['xid', "'1'::xid8"] as const] : []
      const width = columns.length
      const most = Math.max(1, Math.floor(30_000 / width))
      for (let start = 0; start < rows.length; start += most) {
        const part = rows.slice(start, start + most)
        const places = part.map(
          (_, row) =>
            `(${[...columns.map((_, column) => `$${row * width + column + 1}`), ...extra.map(([, value]) => value)].join(', ')})`,
        )
        await client.query(
          `insert into ${quoted(table)} (${list([...columns, ...extra.map(([name]) => name)])}) values ${places.join(', ')}
            on conflict do nothing`,
          part.flatMap(row => row.map(valueOf)),
        )
      }
    },
    async finish() {
      await client.query(`update cursors set xid = '1'`)
      await client.query(fleetOfCube)
      if (head.rolled_up !== null) await sumUp(client, head.rolled_up)
      for (const table of ['events', 'audit']) await client.query(`alter table ${table} enable trigger user`)
      const { rows } = await client.query<{ name: string; place: string }>(
        `select table_name as name, pg_get_serial_sequence(quote_ident(table_name), column_name) as place
          from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'`,
      )
      for (const { name, place } of rows) {
        const column = (
          await client.query<{ name: string }>(
            `select column_name as name from information_schema.columns
              where table_schema = current_schema() and table_name = $1 and is_identity = 'YES'`,
            [name],
          )
        ).rows[0]?.name
        if (column)
          await client.query(
            `select setval('${place}', greatest((select coalesce(max(${quoted(column)}), 0) from ${quoted(name)}), 1))`,
          )
      }
      await client.query('commit')
      await client.end()
    },
    async abandon() {
      await client.query('rollback').catch(() => {})
      await client.end().catch(() => {})
    },
  }
}

/** Whether anybody has set the installation up. */
const isInUse = async (config: Config): Promise<boolean> => {
  if (!storageExists(config)) return false
  const db = await openStorage(config)
  try {
    const tables = await db.read.introspection.getTables()
    if (!tables.some(({ name }) => name === 'users')) return false
    return (await db.read.selectFrom('users').select('id').limit(1).execute()).length > 0
  } finally {
    await db.close()
  }
}
/** A server that has the file open would go on with the old one. */
const refuseRunning = (config: Config) => {
  const file = sqliteFile(config)
  if (config.databaseUrl !== null || !existsSync(file)) return
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    // Only whoever is alone may leave the write-ahead log.
    db.exec('pragma journal_mode = delete')
  } catch {
    throw conflict('The server runs. Stop it first.')
  } finally {
    db.close()
  }
}

/**
 * Puts a backup in place of what is there, or nothing of it: the whole file is checked before anything changes.
 * @throws Problem 409 when the file is damaged, of a newer version, or the installation is in use and `replace` is not said
 */
export const restore = async (
  config: Config,
  file: string,
  replace: boolean,
  opener: Opener = null,
): Promise<{ head: Head; rows: number }> => {
  const examined = await examine(file, opener)
  const { head } = examined
  if (!replace && (await isInUse(config)))
    throw conflict('This installation is in use. To put the backup in its place, run this again with --replace.')
  refuseRunning(config)
  if (config.secretKey === null && head.secret_key !== null) {
    if (
      existsSync(secretFile(config)) &&
      readFileSync(secretFile(config), 'utf8').trim() !== head.secret_key &&
      !replace
    )
      throw conflict(`${secretFile(config)} is another key than the backup's. Run this again with --replace.`)
  }
  const target =
    config.databaseUrl === null ? await intoSqlite(config, head) : await intoPostgres(config.databaseUrl, config, head)
  try {
    let table: Table | null = null
    let columns: readonly string[] | undefined
    let waiting: Cell[][] = []
    const flush = async () => {
      if (table && columns && waiting.length > 0 && !fleeting.has(table.table))
        await target.add(table.table, table.columns, waiting)
      waiting = []
    }
    for await (const line of read(file, opener)) {
      if (Array.isArray(line)) {
        waiting.push(line as Cell[])
        if (waiting.length >= 1000) await flush()
      } else if ('table' in line) {
        await flush()
        table = line
        columns = await target.columnsOf(line.table)
        const missing = columns ? line.columns.filter(column => !columns?.includes(column)) : [line.table]
        if (missing.length > 0)
          throw conflict(
            `This backup holds ${missing.join(', ')}, which this version does not know. Restore it with its own version, ${head.version}.`,
          )
      }
    }
    await flush()
    await target.finish()
    // What was signed after the backup is gone with what it was signed for.
    rmSync(auditMemoryFile(config), { force: true })
  } catch (error) {
    await target.abandon()
    throw error
  }
  if (config.secretKey === null && head.secret_key !== null && config.databaseUrl === null)
    writeFileSync(secretFile(config), `${head.secret_key}\n`, { mode: 0o600 })
  return examined
}
