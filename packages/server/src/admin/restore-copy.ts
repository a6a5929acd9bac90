import { closeSync, constants, copyFileSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from '@stockade/contract/error-code.ts'
import type { Config } from '../config.ts'
import { iso } from '../core/clock.ts'
import { conflict } from '../core/problem.ts'
import { knownMigrations } from '../db/migrate.ts'
import { selecting, selectingOne } from '../db/selecting.ts'
import { openSqlite } from '../db/sqlite.ts'
import { stateOf, storedSchema } from '../db/schema-state.ts'
import { inOrder, quoted } from './backup-format.ts'
import { takeItsPlace } from './restore-targets.ts'
import { auditMemoryFile, sqliteFile } from './storage.ts'

/** What is in place after a restore. */
export interface Restored {
  readonly createdAt: string
  readonly rows: number
}

const magic = 'SQLite format 3\0'

/** Whether a file is a whole SQLite database, such as a copy that an upgrade made. */
export const isSqliteCopy = (file: string): boolean => {
  if (!existsSync(file)) return false
  const handle = openSync(file, 'r')
  const head = Buffer.alloc(magic.length)
  readSync(handle, head, 0, head.length, 0)
  closeSync(handle)
  return head.toString('latin1') === magic
}
const countRows = (file: string): number => {
  const db = new DatabaseSync(file)
  try {
    const checked = selectingOne<{ quick_check: string }>(db, 'pragma quick_check(1)').get()
    if (checked.quick_check !== 'ok') throw conflict('This copy is damaged. Nothing was changed.')
    const tables = selecting<{ name: string }>(db, "select name from sqlite_master where type = 'table'").all()
    return inOrder(tables).reduce(
      (sum, { name }) => sum + selectingOne<{ n: number }>(db, `select count(*) as n from ${quoted(name)}`).get().n,
      0,
    )
  } catch (error) {
    if (codeOf(error) === 'ERR_SQLITE_ERROR') throw conflict('This copy is damaged. Nothing was changed.')
    throw error
  } finally {
    db.close()
  }
}
/** The same checks as of a backup: a copy that can't be opened by this version changes nothing. */
export const restoreCopy = async (config: Config, file: string): Promise<Restored> => {
  if (config.databaseUrl !== null)
    throw conflict(
      'This is a copy of an SQLite database. Restore it without STOCKADE_DATABASE_URL, or make a backup of it.',
    )
  const fresh = `${sqliteFile(config)}.restoring`
  const sweep = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
  }
  sweep()
  try {
    copyFileSync(file, fresh, constants.COPYFILE_FICLONE)
    const rows = countRows(fresh)
    const db = await openSqlite(fresh)
    const stored = await storedSchema(db).finally(() => db.close())
    if (stateOf(stored, knownMigrations('sqlite')) === 'newer')
      throw conflict(`This copy is of a newer Stockade, ${stored.version ?? 'unknown'}. Restore it with that version.`)
    takeItsPlace(fresh, sqliteFile(config))
    rmSync(auditMemoryFile(config), { force: true })
    return { createdAt: iso(statSync(file).mtimeMs), rows }
  } finally {
    sweep()
  }
}
