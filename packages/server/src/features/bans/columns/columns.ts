import { Worker } from 'node:worker_threads'
import { lastOf } from '../../../core/ip.ts'
import type { AttackerPage, AttackersAsked } from '../attackers.store.ts'
import type { BanSearch } from '../search.store.ts'
import type { ColumnFilter, ColumnRow, ColumnsAsked } from './group.ts'
import type { ColumnsReply, ColumnsRequest } from './columns-worker.ts'

/** Groups bans by address from columns in memory, on SQLite. */
export interface BanColumns {
  /** Begins to load; nothing where it did already. */
  start(): void
  /** Null while the columns are loading, where they failed, and for filters that they do not know. */
  group(asked: AttackersAsked, now: number): Promise<AttackerPage> | null
  close(): Promise<void>
}

/** The filter in numbers; null where only SQL can answer it. */
export const columnFilterOf = (filter: BanSearch): ColumnFilter | null => {
  if (filter.tree) return null
  const { ip } = filter
  return {
    servers: filter.servers === 'all' ? null : [...filter.servers],
    server: filter.serverNo ?? null,
    jail: filter.jailId ?? null,
    country: filter.countryId ?? null,
    asn: filter.asn ?? null,
    range: ip ? { first: ip.bytes, last: ip.prefix === null ? ip.bytes : lastOf(ip) } : null,
    active: filter.active ?? null,
    from: filter.from ?? null,
    to: filter.to ?? null,
  }
}
const factsOf = (
  { activeBans, activeServers, expires, permanent, newest, hours, ...row }: ColumnRow,
  lifted: ReadonlySet<number>,
) => ({
  ...row,
  now: { activeBans, activeServers, expires, permanent, hours, lifted: newest !== null && lifted.has(newest) },
})

type Waiting = { readonly resolve: (page: AttackerPage) => void; readonly reject: (error: Error) => void }

export const createBanColumns = (file: string, fail: (error: unknown) => void): BanColumns => {
  let worker: Worker | null = null
  let isReady = false
  let nextKey = 1
  const waiting = new Map<number, Waiting>()
  const end = (error: Error) => {
    isReady = false
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  const hear = (reply: ColumnsReply) => {
    if (reply.kind === 'ready') {
      isReady = true
      return
    }
    const asked = waiting.get(reply.key)
    waiting.delete(reply.key)
    if (reply.kind === 'failed') return asked?.reject(new Error(reply.message))
    const { rows, attackers, bans, activeAddresses } = reply.found
    const lifted = new Set(reply.lifted)
    asked?.resolve({ rows: rows.map(row => factsOf(row, lifted)), attackers, bans, activeAddresses })
  }
  return {
    start() {
      if (worker) return
      worker = new Worker(new URL('./columns-worker.ts', import.meta.url), { workerData: { file } })
      worker.unref()
      worker.on('message', hear)
      worker.on('error', error => {
        end(error instanceof Error ? error : new Error(String(error)))
        fail(error)
      })
      worker.on('exit', () => end(new Error('The database is closed.')))
    },
    group({ filter, sort, descending, offset, limit }, now) {
      const asked = columnFilterOf(filter)
      if (!isReady || !worker || !asked) return null
      const request: ColumnsRequest & ColumnsAsked = {
        key: nextKey++,
        filter: asked,
        now,
        sort,
        descending,
        offset,
        limit,
      }
      const thread = worker
      return new Promise((resolve, reject) => {
        waiting.set(request.key, { resolve, reject })
        thread.postMessage(request)
      })
    },
    async close() {
      const thread = worker
      worker = null
      await thread?.terminate()
    },
  }
}
