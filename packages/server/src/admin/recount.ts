import type { Config } from '../config.ts'
import { conflict } from '../core/problem.ts'
import { recount, repair } from '../features/retention/recount.store.ts'
import type { Difference } from '../features/retention/recount.store.ts'
import { openStorage, schemaState, storageExists } from './storage.ts'

/** Compares the sums of bans with the rows, and mends them where asked. @returns what was wrong. */
export const recountBans = async (config: Config, mend: boolean): Promise<Difference[]> => {
  if (!storageExists(config)) throw conflict(`There is no database in ${config.dataDir}.`)
  const db = await openStorage(config)
  try {
    if ((await schemaState(db)).state !== 'current')
      throw conflict('The database is not of this version. Start the server of this version once.')
    const differences = await recount(db.read, db.engine)
    if (mend && differences.length > 0) await repair(db)
    return differences
  } finally {
    await db.close()
  }
}
