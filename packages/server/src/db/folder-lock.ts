import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { ConfigError } from '../config-reader.ts'

/** A server that stops at the same moment has this long to end, in milliseconds. */
const patience = 3000
/** Kept for ever: the lock ends with the connection. */
const heldLocks: DatabaseSync[] = []

/**
 * Locks a data folder for this process: a second server over the same SQLite database would not hear of changes of the first
 * one. The lock is SQLite's own on a file of its own, so the operating system releases it when the process ends, however it
 * ends.
 * @throws ConfigError where another server holds it
 */
export const lockFolder = (dataDir: string): void => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = new DatabaseSync(join(dataDir, 'stockade.lock'), { timeout: patience })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    const busy = 5
    if (recordOf(error).errcode !== busy) throw error
    throw new ConfigError(
      `another server already uses the data folder ${dataDir}. Stop it, or choose another folder with STOCKADE_DATA_DIR.`,
    )
  }
  heldLocks.push(lock)
}
