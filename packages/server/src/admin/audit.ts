import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { conflict } from '../core/problem.ts'
import { auditKeyIn, auditMemoryIn, verifyAudit } from '../features/audit/chain.ts'
import type { Verified } from '../features/audit/chain.ts'
import { auditMemoryFile, openStorage, schemaState, storageExists } from './storage.ts'

/** Says whether the audit log is as it was written. Whether the server runs or not. */
export const verifyLog = async (config: Config): Promise<Verified> => {
  if (!storageExists(config)) throw conflict(`There is no database in ${config.dataDir}.`)
  const db = await openStorage(config)
  try {
    if ((await schemaState(db)).state !== 'current')
      throw conflict('The database is not of this version. Start the server of this version once.')
    const file = join(config.dataDir, 'audit.key')
    const memory = auditMemoryIn(auditMemoryFile(config))
    return await verifyAudit(db.read, existsSync(file) ? auditKeyIn(file) : null, memory, Date.now())
  } finally {
    await db.close()
  }
}
