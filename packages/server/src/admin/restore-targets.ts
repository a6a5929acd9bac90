import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import type { Config } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { selecting, selectingOne } from '../db/selecting.ts'
import { sumWaiting } from '../features/bans/sums.postgres.ts'
import { activeSums, fleetSums, lastBanSums, listingTables } from '../features/bans/sums.ts'
import { damaged, inOrder, list, quoted, valueOf } from './backup-format.ts'
import type { Cell, Head } from './backup-format.ts'
import { connectForBackup } from './postgres-client.ts'
import { openStorage, sqliteFile } from './storage.ts'

export interface Target {
  /** Columns of a table; undefined where there is no such table. */
  columnsOf(table: string): Promise<readonly string[] | undefined>
  add(table: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): Promise<void>
  /** All rows are there. */
  finish(): Promise<void>
  abandon(): Promise<void>
}

/**
 * Indexes that no constraint needs, dropped until all rows are there. Made at the end they are sorted, while a large table that is
 * filled with them dirties pages all over the file, which takes several times the memory or the time.
 */
const dropIndexes = (db: DatabaseSync): string[] => {
  const indexes = selecting<{ name: string; sql: string }>(
    db,
    "select name, sql from sqlite_master where type = 'index' and sql not null and sql not like 'create unique%'",
  ).all()
  for (const { name } of indexes) db.exec(`drop index ${quoted(name)}`)
  return indexes.map(({ sql }) => sql)
}
const flushFile = (file: string): void => {
  const handle = openSync(file, 'r+')
  fsyncSync(handle)
  closeSync(handle)
}
/** Puts a new database in the place of the one that is there, which stays beside it under another name. */
export const takeItsPlace = (fresh: string, file: string): void => {
  if (existsSync(file)) {
    const aside = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, '-')}`
    renameSync(file, aside)
    for (const suffix of ['-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
  }
  renameSync(fresh, file)
}
/** Into a new file, which takes the place of the old one at the end in one step. */
export const intoSqlite = async (config: Config, head: Head): Promise<Target> => {
  const file = sqliteFile(config)
  const fresh = `${file}.restoring`
  const sweep = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
  }
  sweep()
  const { openSqlite } = await import('../db/sqlite.ts')
  const newDatabase = await openSqlite(fresh)
  await migrate(newDatabase)
  await newDatabase.close()
  const db = new DatabaseSync(fresh)
  db.exec(
    'pragma synchronous = off; pragma foreign_keys = off; pragma journal_mode = off; pragma cache_size = -32768; begin',
  )
  const indexes = dropIndexes(db)
  return {
    columnsOf(table) {
      const rows = selecting<{ name: string }>(db, 'select name from pragma_table_info(?)').all(table)
      return Promise.resolve(rows.length === 0 ? undefined : rows.map(({ name }) => name))
    },
    add(table, columns, rows) {
      const insert = db.prepare(
        `insert or replace into ${quoted(table)} (${list(columns)}) values (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...row.map(valueOf))
      return Promise.resolve()
    },
    finish() {
      for (const sql of indexes) db.exec(sql)
      const last = selectingOne<{ id: number }>(db, 'select coalesce(max(id), 0) as id from bans').get().id
      db.prepare('update rolled_up set ban_id = ?').run(head.rolled_up ?? last)
      for (const listing of listingTables) db.exec(listing.fill)
      db.exec(fleetSums)
      db.exec(activeSums('sqlite'))
      db.exec(lastBanSums('sqlite'))
      const [broken] = db.prepare('pragma foreign_key_check').all()
      if (broken) throw damaged('rows refer to others that are missing')
      db.exec('commit; pragma optimize')
      db.close()
      flushFile(fresh)
      takeItsPlace(fresh, file)
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

/** What was not summed yet in SQLite's file is summed here. */
const sumUp = async (client: pg.Client, after: number): Promise<void> => {
  await client.query(
    `insert into unsummed_bans (ban_id, server_no, jail_id, country_id, ip, banned_at)
      select id, server_no, jail_id, country_id, ip, banned_at from bans where id > $1`,
    [after],
  )
  await sumWaiting(client)
}
/** In one transaction: until its commit everybody else sees what was there before. */
export const intoPostgres = async (url: string, config: Config, head: Head): Promise<Target> => {
  const storage = await openStorage(config)
  await migrate(storage)
  await storage.close()
  const client = await connectForBackup(url)
  await client.query('begin')
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  // Triggers protect the audit log; only a restore may empty it.
  for (const table of ['events', 'audit']) await client.query(`alter table ${table} disable trigger user`)
  // What waits to be summed is of bans that leave.
  const emptied = [...inOrder(tables).map(({ name }) => name), 'unsummed_bans', 'unsummed_ends']
  await client.query(`truncate ${list(emptied)}`)
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
      await client.query(fleetSums)
      await client.query(activeSums('postgres'))
      if (head.rolled_up !== null) await sumUp(client, head.rolled_up)
      await client.query(lastBanSums('postgres'))
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
