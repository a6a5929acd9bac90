import { lastOf } from '@stockade/contract/spans.ts'
import { Worker } from 'node:worker_threads'
import { minute } from '../../../core/clock.ts'
import type { AttackerPage, AttackersAsked } from '../attackers.store.ts'
import type { BanSearch } from '../search.store.ts'
import type { ColumnRow, ColumnsFound } from './group.ts'
import type { ColumnFilter } from './hits.ts'
import type { ColumnTree } from './mask.ts'
import type { ColumnsQuestion, ColumnsReply, ColumnsRequest, ColumnsSource } from './columns-worker.ts'

/** Groups bans by address from columns in memory. */
export interface BanColumns {
  /** Null where the columns can't answer: they failed, or the bans do not fit. `tree` is the search of the filter. */
  group(asked: AttackersAsked, tree: ColumnTree | null, now: number): Promise<AttackerPage | null>
  /** Distinct addresses that were banned on these servers from a moment on; null where the bans are not read already. */
  countAddresses(servers: ReadonlySet<number>, from: number): Promise<number | null>
  /** Reads the bans now, before somebody asks and waits for it. */
  warmUp(): void
  close(): Promise<void>
}
/** An idle thread ends after this time, and its memory goes back to the system. */
const idleBeforeRelease = 10 * minute
/** After a failure or too many bans SQL answers for so long. */
const pauseAfterFailure = 10 * minute

const columnFilterOf = (filter: BanSearch, tree: ColumnTree | null): ColumnFilter => {
  const { ip } = filter
  return {
    tree,
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

const pageOf = ({ rows, ...totals }: ColumnsFound, lifted: ReadonlySet<number>): AttackerPage => ({
  rows: rows.map(row => factsOf(row, lifted)),
  ...totals,
})
/** Null: the thread failed, or ended. */
type Waiting = (reply: Exclude<ColumnsReply, { kind: 'loaded' | 'failed' }> | null) => void
interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  isLoaded: boolean
}

export const createBanColumns = (
  source: ColumnsSource,
  fail: (error: unknown) => void,
  idle: number = idleBeforeRelease,
): BanColumns => {
  let thread: Thread | null = null
  let nextKey = 1
  let lastAsked = 0
  let pausedUntil = 0
  let isClosed = false
  /** Requests that still wait are answered by SQL. */
  const release = async (released: Thread) => {
    if (thread === released) thread = null
    for (const resolve of released.waiting.values()) resolve(null)
    released.waiting.clear()
    await released.worker.terminate()
  }
  const stop = (failed: Thread, error: unknown) => {
    pausedUntil = performance.now() + pauseAfterFailure
    fail(error)
    void release(failed)
  }
  const hear = (from: Thread, reply: ColumnsReply) => {
    if (reply.kind === 'loaded') {
      from.isLoaded = true
      return
    }
    const resolve = from.waiting.get(reply.key)
    from.waiting.delete(reply.key)
    if (reply.kind === 'failed') {
      // It may have taken in a part of what is new, so it begins again later.
      stop(from, new Error(reply.message))
      resolve?.(null)
      return
    }
    resolve?.(reply)
  }
  const start = (): Thread => {
    const worker = new Worker(new URL('./columns-worker.ts', import.meta.url), {
      workerData: source,
      // Small heaps: the columns lie outside, and rows are read one at a time.
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 96 },
    })
    worker.unref()
    const started: Thread = { worker, waiting: new Map(), isLoaded: false }
    worker.on('message', (reply: ColumnsReply) => hear(started, reply))
    worker.on('error', error => stop(started, error))
    worker.on('exit', () => void release(started))
    const sleep = setInterval(() => {
      if (started.waiting.size > 0 || performance.now() - lastAsked < idle) return
      clearInterval(sleep)
      void release(started)
    }, idle / 10)
    sleep.unref()
    worker.on('exit', () => clearInterval(sleep))
    return started
  }
  const wake = (): Thread => {
    lastAsked = performance.now()
    return (thread ??= start())
  }
  const ask = (question: ColumnsQuestion): Promise<Parameters<Waiting>[0]> => {
    const { worker, waiting } = wake()
    const request: ColumnsRequest = { ...question, key: nextKey++ }
    return new Promise(resolve => {
      waiting.set(request.key, resolve)
      worker.postMessage(request)
    })
  }
  const isPaused = () => isClosed || performance.now() < pausedUntil
  return {
    async group({ filter, ...paging }, tree, now) {
      if (isPaused()) return null
      // SQL of PostgreSQL is faster than reading all bans; that of SQLite is not.
      if ('databaseUrl' in source && !wake().isLoaded) return null
      const reply = await ask({ kind: 'group', asked: { ...paging, filter: columnFilterOf(filter, tree), now } })
      return reply?.kind === 'found' ? pageOf(reply.found, new Set(reply.lifted)) : null
    },
    async countAddresses(servers, from) {
      if (isPaused() || !thread?.isLoaded) return null
      const reply = await ask({ kind: 'count', asked: { servers: [...servers], from } })
      return reply?.kind === 'counted' ? reply.addresses : null
    },
    warmUp() {
      if (!isPaused()) wake()
    },
    async close() {
      isClosed = true
      if (thread) await release(thread)
    },
  }
}
