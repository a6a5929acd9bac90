import { parentPort, workerData } from 'node:worker_threads'
import { judgeLines } from './lines.ts'
import type { LineVerdict, Plan } from './lines.ts'

/* Tries lines in a thread that can be ended: an expression may take for ever, and nothing else stops one. */

export interface TrialJob {
  readonly plan: Plan
  readonly lines: readonly string[]
}
/** `begun` before the first line, then one for each line in order, or that an expression can not be run. */
export type TrialMessage = 'begun' | 'not run' | { readonly verdict: LineVerdict }

const { plan, lines } = workerData as TrialJob
const tell = (message: TrialMessage) => parentPort?.postMessage(message)
tell('begun')
try {
  for (const verdict of judgeLines(plan, lines)) tell({ verdict })
} catch (error) {
  if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
  tell('not run')
}
