import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readConfig } from '../config.ts'
import { isDiskFull } from '../core/disk.ts'
import { conflict } from '../core/problem.ts'
import { knownMigrations } from '../db/migrate.ts'
import { selectingOne } from '../db/selecting.ts'
import { examine, fleeting, ownRows, quoted } from './backup-format.ts'
import { recountBans } from './recount.ts'
import { restore } from './restore.ts'
import type { Opener } from './sealing.ts'
import { sqliteFile } from './storage.ts'

/** The result of a drill. */
export interface Verified {
  readonly createdAt: string
  /** Of the program that made the backup. */
  readonly version: string
  readonly tables: number
  readonly rows: number
  /** Sentences; none where the backup is good. */
  readonly faults: readonly string[]
}

const faultsOf = (file: string, rowsByTable: ReadonlyMap<string, number>): string[] => {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const { quick_check: check } = selectingOne<{ quick_check: string }>(db, 'pragma quick_check(1)').get()
    const faults = check === 'ok' ? [] : [`The restored database is damaged: ${check}`]
    for (const [table, rows] of rowsByTable) {
      if (fleeting.has(table)) continue
      const { n } = selectingOne<{ n: number }>(db, `select count(*) as n from ${quoted(table)}${ownRows(table)}`).get()
      if (n !== rows) faults.push(`${table}: the backup holds ${rows} rows, and ${n} were restored.`)
    }
    return faults
  } finally {
    db.close()
  }
}

/**
 * Restores a backup into a temporary folder by the code of `restore`, checks what is there, and removes it.
 * @throws Problem 409 where the file can't be restored at all
 */
export const verifyBackup = async (file: string, opener: Opener, temporary: string): Promise<Verified> => {
  const { head, rows, rowsByTable } = await examine(file, opener, knownMigrations('sqlite'))
  const folder = mkdtempSync(join(temporary, 'stockade-verify-'))
  // Nothing of this installation's configuration: neither its database nor its key.
  const config = readConfig({ STOCKADE_DATA_DIR: folder })
  try {
    await restore(config, file, false, opener)
    const faults = faultsOf(sqliteFile(config), rowsByTable)
    const differences = faults.length > 0 ? [] : await recountBans(config, false)
    return {
      createdAt: head.created_at,
      version: head.version,
      tables: rowsByTable.size,
      rows,
      faults: [
        ...faults,
        ...differences.map(
          ({ table, held, counted }) => `${table} holds ${held} in all, and the bans make ${counted}.`,
        ),
      ],
    }
  } catch (error) {
    if (isDiskFull(error)) throw conflict(`The disk ran full in ${folder}: the backup could not be verified.`)
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
