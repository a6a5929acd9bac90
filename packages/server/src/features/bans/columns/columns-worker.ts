import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '@stockade/contract/error-code.ts'
import { giveMemoryBack } from '../../../core/memory.ts'
import { createSerial } from '../../../core/serial.ts'
import { countAddresses } from './count-addresses.ts'
import type { CountAsked } from './count-addresses.ts'
import { groupColumns } from './group.ts'
import type { ColumnsAsked, ColumnsFound } from './group.ts'
import { followSqlite } from './load.sqlite.ts'
import type { Followed } from './taking-in.ts'

/* Bans in columns, in a thread of their own: a pass over a million of them must not hold up the event loop. */

/** Where the bans are: the file of SQLite, or the address of PostgreSQL. */
export type ColumnsSource = { readonly file: string } | { readonly databaseUrl: string }
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
const follow = async (source: ColumnsSource): Promise<Followed> => {
  if ('databaseUrl' in source) return (await import('./load.postgres.ts')).followPostgres(source.databaseUrl)
  const db = new DatabaseSync(source.file, { timeout: 2000 })
  db.exec('pragma query_only = on; pragma cache_size = -4096')
  return followSqlite(db)
}
const followed = await follow(workerData as ColumnsSource)
const send = (reply: ColumnsReply) => port.postMessage(reply)
send({ kind: 'loaded' })

const answerOf = async (request: ColumnsRequest): Promise<ColumnsReply> => {
  const { key } = request
  if (request.kind === 'count')
    return { kind: 'counted', key, addresses: countAddresses(followed.columns, request.asked) }
  const groups = groupColumns(followed.columns, request.asked)
  return {
    kind: 'found',
    key,
    found: groups,
    lifted: await followed.liftedAmong(groups.rows.flatMap(({ newest }) => newest ?? [])),
  }
}
/** One after the other: the columns must not change while somebody reads them. */
const inTurn = createSerial()
port.on('message', (request: ColumnsRequest) =>
  inTurn(async () => {
    try {
      await followed.catchUp()
      send(await answerOf(request))
    } catch (error) {
      send({ kind: 'failed', key: request.key, message: errorText(error) })
    }
  }),
)
setInterval(
  () =>
    inTurn(async () => {
      await followed.catchUp()
      if (followed.columns.unsettled() > worthSettling(followed.columns.size())) followed.columns.settle()
    }),
  idle,
).unref()
