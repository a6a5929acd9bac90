import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Config } from '../config.ts'
import { conflict } from '../core/problem.ts'
import { knownMigrations } from '../db/migrate.ts'
import { examine, fleeting, keyFiles, read, replaced } from './backup-format.ts'
import type { Cell, Head, Table } from './backup-format.ts'
import { isSqliteCopy, restoreCopy } from './restore-copy.ts'
import type { Restored } from './restore-copy.ts'
import { intoPostgres, intoSqlite } from './restore-targets.ts'
import type { Target } from './restore-targets.ts'
import { refusePlain } from './sealing.ts'
import type { Opener } from './sealing.ts'
import { auditMemoryFile, engineOf, openStorage, secretFile, sqliteFile, storageExists } from './storage.ts'

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
    // Only the last connection may remove the write-ahead log.
    db.exec('pragma journal_mode = delete')
  } catch {
    throw conflict('The server runs. Stop it first.')
  } finally {
    db.close()
  }
}

const refuseOtherKey = (config: Config, { secret_key: key }: Head): void => {
  if (config.secretKey !== null || key === null || !existsSync(secretFile(config))) return
  if (readFileSync(secretFile(config), 'utf8').trim() !== key)
    throw conflict(`${secretFile(config)} is another key than the backup's. Run this again with --replace.`)
}

const writeKey = (file: string, text: string): void => {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  if (existsSync(file)) renameSync(file, `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, '-')}`)
  writeFileSync(file, text, { mode: 0o600 })
}
const restoreKeys = (config: Config, { secret_key: key, files = {} }: Head): void => {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  if (config.secretKey === null && key !== null && config.databaseUrl === null) writeKey(secretFile(config), `${key}\n`)
  for (const name of keyFiles) {
    const text = files[name]
    if (text === undefined) continue
    writeKey(join(config.dataDir, name), text)
    // The certificate of another key; the next start makes one of this key.
    if (name === 'tls.key') rmSync(join(config.dataDir, 'tls.pem'), { force: true })
  }
}

/** Puts the rows of a backup, which was examined, into a target. */
const fillTarget = async (target: Target, file: string, opener: Opener): Promise<void> => {
  let table: Table | null = null
  let waiting: Cell[][] = []
  const flush = async () => {
    if (table && waiting.length > 0 && !fleeting.has(table.table) && !replaced.has(table.table))
      await target.add(table.table, table.columns, waiting)
    waiting = []
  }
  for await (const line of read(file, opener)) {
    if (Array.isArray(line)) {
      waiting.push(line)
      if (waiting.length >= 1000) await flush()
    } else if ('table' in line) {
      await flush()
      table = line
      if (replaced.has(line.table)) continue
      const columns = await target.columnsOf(line.table)
      const missing = columns ? line.columns.filter(column => !columns.includes(column)) : [line.table]
      if (missing.length > 0)
        throw conflict(`This backup holds ${missing.join(', ')}, which this version does not know.`)
    }
  }
  await flush()
  await target.finish()
}

/**
 * Puts a backup in place of what is there, or nothing of it: the whole file is checked before anything changes. A copy that an
 * upgrade made of an SQLite database is one, too.
 * @throws Problem 409 when the file is damaged, of a newer version, or the installation is in use and `replace` is not said
 */
export const restore = async (
  config: Config,
  file: string,
  replace: boolean,
  opener: Opener = null,
): Promise<Restored> => {
  const isCopy = isSqliteCopy(file)
  // A copy is never encrypted, and `examine` judges a backup.
  if (isCopy) refusePlain(file, opener)
  const examined = isCopy ? null : await examine(file, opener, knownMigrations(engineOf(config)))
  if (!replace && (await isInUse(config)))
    throw conflict('This installation is in use. To put the backup in its place, run this again with --replace.')
  refuseRunning(config)
  if (examined === null) return restoreCopy(config, file)
  const { head, rows } = examined
  if (!replace) refuseOtherKey(config, head)
  const target =
    config.databaseUrl === null ? await intoSqlite(config, head) : await intoPostgres(config.databaseUrl, config, head)
  try {
    await fillTarget(target, file, opener)
    // What was signed after the backup is gone with what it was signed for.
    rmSync(auditMemoryFile(config), { force: true })
  } catch (error) {
    await target.abandon()
    throw error
  }
  restoreKeys(config, head)
  return { createdAt: head.created_at, rows }
}
