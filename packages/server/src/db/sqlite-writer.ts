import { Worker, parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { errorText } from '@stockade/contract/error-code.ts'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { giveMemoryBack } from '../core/memory.ts'
import { createSerial } from '../core/serial.ts'
import type { Prepare, PreparedProcedure } from './database.ts'
import type { CopyReply, WriterData } from './sqlite-threads.ts'

/*
 * The only writer of the SQLite file, in a thread of its own so that commits never stop the event loop. It takes plain
 * data, one message after the other; the sender keeps transactions apart.
 */

export type WriterRequest =
  | { readonly id: number; readonly kind: 'query'; readonly sql: string; readonly parameters: readonly SQLInputValue[] }
  | {
      readonly id: number
      readonly kind: 'run'
      readonly name: string
      readonly module: string
      readonly input: unknown
    }
  | { readonly id: number; readonly kind: 'close' }
export interface QueryAnswer {
  readonly rows: readonly unknown[]
  readonly changes: number
  readonly lastId: number
}
export type WriterReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string; readonly code: number | null }

/** Unsolicited messages: checkpoints failed several times in a row, or work again. */
export type WriterNews =
  | { readonly news: 'copying fails'; readonly reason: string }
  | { readonly news: 'copying works again' }

const port = parentPort
if (!port) throw new Error('This runs as a worker thread.')

/**
 * WAL with FULL: a commit that was acknowledged survives a power cut where the disk honours fsync. Small pages, because
 * a batch of bans dirties many index pages and each goes into the WAL whole. A small cache, because SQLite looks through
 * all of it at the end of each transaction that moved pages of an index (the file system has the rest in memory). It
 * checkpoints by itself only when the checkpointer beside it did not get to it.
 */
const openForWriting = (file: string): DatabaseSync => {
  const db = new DatabaseSync(file, { timeout: 2000 })
  db.exec(`pragma page_size = 2048; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;
    pragma wal_autocheckpoint = 120000; pragma cache_size = -16384; pragma temp_store = memory;
    pragma journal_size_limit = 67108864`)
  return db
}

giveMemoryBack()
const data = workerData as WriterData
const db = openForWriting(data.file)
const statements = new Map<string, StatementSync>()
const procedures = new Map<string, PreparedProcedure<unknown, unknown>>()

const statementOf = (sql: string): StatementSync => {
  const knownStatement = statements.get(sql)
  if (knownStatement) return knownStatement
  const newStatement = db.prepare(sql)
  if (statements.size > 500) statements.clear()
  statements.set(sql, newStatement)
  return newStatement
}

const query = (sql: string, values: readonly SQLInputValue[]): QueryAnswer => {
  const statement = statementOf(sql)
  if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0, lastId: 0 }
  const done = statement.run(...values)
  return { rows: [], changes: Number(done.changes), lastId: Number(done.lastInsertRowid) }
}

const procedureOf = async (name: string, module: string) => {
  const knownProcedure = procedures.get(name)
  if (knownProcedure) return knownProcedure
  const { prepare } = (await import(module)) as { prepare: Prepare<unknown, unknown> }
  const newProcedure = prepare(db)
  procedures.set(name, newProcedure)
  return newProcedure
}

const answer = async (request: WriterRequest): Promise<unknown> => {
  if (request.kind === 'query') return query(request.sql, request.parameters)
  if (request.kind === 'close') {
    await checkpoints.close()
    db.exec('pragma optimize')
    db.close()
    return null
  }
  const procedure = await procedureOf(request.name, request.module)
  db.exec('begin immediate')
  try {
    const value = procedure(request.input)
    db.exec('commit')
    return value
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

/** So many pages in the log (40 MB) are copied into the file in one go: by then most of them were written several times. */
const mostLogged = data.mostLogged ?? 20_000
/** Consecutive failures before they are reported. */
const toldAfter = 3
/** Checkpoints beside the writer; the writer itself copies only the rest, so that the log can restart. */
const createCheckpoints = () => {
  // NOOP tells without doing anything (SQLite 3.51); before, it is taken for PASSIVE, which is right too.
  const look = db.prepare('pragma wal_checkpoint(noop)')
  const finish = db.prepare('pragma wal_checkpoint(passive)')
  /** Pages of the log that are not in the file yet. A fully copied log restarts with the next commit, not earlier. */
  const uncopied = () => {
    const { log = 0, checkpointed = 0 } = recordOf(look.get())
    return Number(log) - Number(checkpointed)
  }
  let worker: Worker | null = null
  let state: 'resting' | 'copying' | 'copied' = 'resting'
  let looked = 0
  /** Where a long read keeps pages from being copied, the next round comes when as much was written again. */
  let threshold = mostLogged
  let failures = 0
  const note = (failed: string | null) => {
    if (failed === null) {
      if (failures >= toldAfter) port.postMessage({ news: 'copying works again' } satisfies WriterNews)
      failures = 0
    } else if (++failures === toldAfter)
      port.postMessage({ news: 'copying fails', reason: failed } satisfies WriterNews)
  }
  const start = () => {
    const newWorker = new Worker(new URL('./sqlite-checkpointer.ts', import.meta.url), { workerData })
    newWorker.unref()
    newWorker.on('message', ({ failed }: CopyReply) => {
      state = 'copied'
      note(failed)
    })
    newWorker.on('error', error => note(errorText(error)))
    newWorker.on('exit', () => {
      worker = null
      if (state === 'copying') state = 'copied'
    })
    return newWorker
  }
  const go = () => {
    if (state === 'copied') {
      state = 'resting'
      finish.get()
      const left = uncopied()
      threshold = left >= mostLogged ? left + mostLogged : mostLogged
      return
    }
    if (state === 'copying' || ++looked % 16 !== 0 || uncopied() < threshold) return
    worker ??= start()
    worker.postMessage('copy')
    state = 'copying'
  }
  return {
    /** After each commit. Never throws. */
    look() {
      if (db.isTransaction) return
      try {
        go()
      } catch {
        // A disk that is full or failing, or no thread to be had: commits tell of the first, and SQLite's own checkpoint
        // comes where this one does not. Nothing here may keep the next change from being written.
      }
    },
    async close() {
      await worker?.terminate()
    },
  }
}
const checkpoints = createCheckpoints()

// Loading a procedure takes several turns of the event loop; messages are answered in their order all the same.
const inTurn = createSerial()
port.on('message', (request: WriterRequest) => {
  void inTurn(async () => {
    let reply: WriterReply
    try {
      reply = { id: request.id, ok: true, value: await answer(request) }
    } catch (error) {
      const code = recordOf(error).errcode
      const message = errorText(error)
      reply = { id: request.id, ok: false, message, code: typeof code === 'number' ? code : null }
    }
    port.postMessage(reply)
    if (request.kind === 'close') port.close()
    else checkpoints.look()
  })
})
