import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { horizonIn, horizonQuery } from './horizon-query.ts'
import type { Snapshot } from './horizon-query.ts'

/** `horizonIn`, read from this database. */
export const horizonOf = async (db: Pick<Database, 'read'>): Promise<string> =>
  horizonIn((await sql.raw<Snapshot>(horizonQuery).execute(db.read)).rows[0])
