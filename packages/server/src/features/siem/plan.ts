import type { Target } from './line.ts'

/** What is to be done at the moment. */
export interface Plan {
  readonly target: Target
  readonly batchSize: number
  /** Milliseconds. */
  readonly flushInterval: number
}
