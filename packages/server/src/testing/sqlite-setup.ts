import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../db/migrate.ts'
import { openSqlite } from '../db/sqlite.ts'

/** A migrated SQLite file for the whole run, which servers of tests begin with a copy of. */
export default async function setup(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-template-'))
  const file = join(folder, 'stockade.sqlite3')
  const db = await openSqlite(file)
  await migrate(db)
  await db.close()
  process.env.STOCKADE_TEST_SQLITE_TEMPLATE = file
  return () => rmSync(folder, { recursive: true, force: true })
}
