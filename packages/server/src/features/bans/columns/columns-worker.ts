import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '@stockade/contract/error-code.ts'
import { giveMemoryBack } from '../../../core/memory.ts'
import { selecting } from '../../../db/selecting.ts'
import { countAddresses } from './count-addresses.ts'
import type { CountAsked } from './count-addresses.ts'
import { groupColumns } from './group.ts'
import type { ColumnsAsked, ColumnsFound } from './group.ts'
import { followBans } from './load.ts'

/* Bans in columns, in a thread of their own: a pass over a million of them must not hold up the event loop. */

export type ColumnsQuestion =
  | { readonly kind: 'group'; readonly asked: ColumnsAsked }
  | { readonly kind: 'count'; readonly asked: CountAsked }
export type ColumnsRequest = ColumnsQuestion & { readonly key: number }
export type ColumnsReply =
  /** Every ban is read. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'found'; readonly key: number; readonly found: ColumnsFound; readonly lifted: readonly number[] }
  | { readonly kind: 'counted'; readonly key: number; readonly addresses: number }
  | { readonly kind: 'failed'; readonly key: number; readonly message: string }

const port = parentPort
if (!port) throw new Error('This runs as a worker thread.')

/** Milliseconds between two looks at the database while nobody asks, and rows in chains that are worth sorting. */
const idle = 15_000
const worthSettling = (bans: number) => Math.max(20_000, bans / 16)

giveMemoryBack()
const db = new DatabaseSync((workerData as { readonly file: string }).file, { timeout: 2000 })
db.exec('pragma query_only = on; pragma cache_size = -4096')
const followed = followBans(db)
const send = (reply: ColumnsReply) => port.postMessage(reply)
send({ kind: 'loaded' })
const liftedAmong = (ids: readonly number[]): number[] =>
  ids.length === 0
    ? []
    : selecting<{ id: number }>(
        db,
        `select id from bans where id in (${ids.map(() => '?').join(', ')}) and unbanned_at is not null
          and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000)`,
      )
        .all(...ids)
        .map(({ id }) => id)

const answerOf = (request: ColumnsRequest): ColumnsReply => {
  const { key } = request
  if (request.kind === 'count')
    return { kind: 'counted', key, addresses: countAddresses(followed.columns, request.asked) }
  const found = groupColumns(followed.columns, request.asked)
  return { kind: 'found', key, found, lifted: liftedAmong(found.rows.flatMap(({ newest }) => newest ?? [])) }
}
port.on('message', (request: ColumnsRequest) => {
  try {
    followed.catchUp()
    send(answerOf(request))
  } catch (error) {
    send({ kind: 'failed', key: request.key, message: errorText(error) })
  }
})
setInterval(() => {
  followed.catchUp()
  if (followed.columns.unsettled() > worthSettling(followed.columns.size())) followed.columns.settle()
}, idle).unref()
