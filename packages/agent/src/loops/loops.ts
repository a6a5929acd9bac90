import type { Loop } from './loop.ts'
import type { StateLoop } from './state.ts'

/** All that speaks to the server again and again. */
export interface Loops {
  readonly heartbeat: Loop & { readonly interval: () => number }
  readonly poll: Loop
  readonly state: StateLoop
  readonly sender: Loop
  readonly results: Loop
  readonly comparison: Loop
}
