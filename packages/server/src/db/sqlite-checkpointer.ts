import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '@stockade/contract/error-code.ts'
import type { CopyReply, WriterData } from './sqlite-threads.ts'

/*
 * Copies the write-ahead log into the database file, beside the writer: tens of megabytes in scattered pages and a sync of
 * them take from fifty milliseconds to seconds, and no report should wait for that. One message is one round.
 */

const port = parentPort
if (!port) throw new Error('This runs as a worker thread.')
const db = new DatabaseSync((workerData as WriterData).file, { timeout: 0 })
db.exec('pragma synchronous = full; pragma cache_size = -256')
// Twice: the second takes what came during the first, and leaves little to the writer.
const copy = db.prepare('pragma wal_checkpoint(passive)')
port.on('message', () => {
  let failed: string | null = null
  try {
    copy.get()
    copy.get()
  } catch (error) {
    // A disk that is full or failing: the next round comes, and the writer tells where none succeeds.
    failed = errorText(error)
  }
  port.postMessage({ failed } satisfies CopyReply)
})
