import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue } from 'node:sqlite'
import { errorText } from '@stockade/contract/error-code.ts'

/*
 * Reads of the SQLite file that may take long, in a process of their own: the event loop of the server goes on, and a
 * statement that takes too long can be ended, which neither a thread nor this SQLite interface allows.
 */

export interface ScanRequest {
  readonly sql: string
  readonly parameters: readonly SQLInputValue[]
}
export type ScanReply =
  | { readonly ok: true; readonly rows: readonly unknown[] }
  | { readonly ok: false; readonly message: string }

const db = new DatabaseSync(process.argv[2] ?? '', { timeout: 2000 })
db.exec('pragma query_only = on; pragma cache_size = -32768; pragma temp_store = memory')

process.on('message', ({ sql, parameters }: ScanRequest) => {
  let reply: ScanReply
  try {
    reply = { ok: true, rows: db.prepare(sql).all(...parameters) }
  } catch (error) {
    reply = { ok: false, message: errorText(error) }
  }
  process.send?.(reply)
})
process.on('disconnect', () => process.exit())
// A signal that ends the server's group comes here, too; the server says when it is time.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
