import { timingSafeEqual } from 'node:crypto'
import type { Kysely } from 'kysely'
import { randomText, sha256 } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'

const key = 'setup_code_hash'

/** The one-time code that lets somebody with access to the console make the first administrator. */
export const makeSetupCode = async (db: Database): Promise<string> => {
  const code = randomText(24)
  await db.write
    .insertInto('meta')
    .values({ key, value: sha256(code) })
    .onConflict(on => on.column('key').doUpdateSet({ value: sha256(code) }))
    .execute()
  return code
}

/** Removes the code in the transaction of the set-up. False if another set-up used it. */
export const takeSetupCode = async (sql: Kysely<Schema>): Promise<boolean> => {
  const removedRow = await sql.deleteFrom('meta').where('key', '=', key).executeTakeFirst()
  return removedRow.numDeletedRows > 0n
}

export const isSetupCode = async (db: Database, code: string): Promise<boolean> => {
  const row = await db.read.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row !== undefined && timingSafeEqual(Buffer.from(row.value), Buffer.from(sha256(code)))
}
