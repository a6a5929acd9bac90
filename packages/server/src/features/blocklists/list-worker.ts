import { parentPort, workerData } from 'node:worker_threads'
import { listJobs } from './list-jobs.ts'
import type { ListJobs } from './list-jobs.ts'
import { NoList, TooLarge } from './parse.ts'

/* Does one thing with the content of a list, and ends. */

export interface ListWork {
  readonly name: keyof ListJobs
  readonly given: unknown
}
export type ListDone =
  | { readonly reply: unknown }
  /** A content that is no list, or one that is too large. */
  | { readonly refused: string; readonly isTooLarge: boolean }

const { name, given } = workerData as ListWork
const work = (): ListDone => {
  try {
    return { reply: listJobs[name](given as never) }
  } catch (error) {
    if (!(error instanceof NoList)) throw error
    return { refused: error.message, isTooLarge: error instanceof TooLarge }
  }
}
parentPort?.postMessage(work())
