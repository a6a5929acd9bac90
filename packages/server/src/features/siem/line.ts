import { minute, second } from '../../core/clock.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Format, Framing } from './formats/formats.ts'

/** Where and how events go. */
export interface Target {
  readonly format: Format
  readonly way: 'udp' | 'stream' | 'http'
  readonly tls: boolean
  /** Of a stream. */
  readonly framing: Framing
  /** Whether a certificate that does not fit is refused. */
  readonly verify: boolean
  /** PEM text; null: the authorities that the system knows. */
  readonly ca: string | null
  readonly host: string
  readonly port: number
  /** Of HTTP. */
  readonly path: string
  readonly token: string | null
}
export interface Step {
  readonly name: 'resolve' | 'connect' | 'tls' | 'write' | 'answer'
  readonly ok: boolean
  readonly ms: number
  readonly detail: string
}
/** The target was not reached, or did not take what was written; the message is fit for operators and names the step. */
export class Unreached extends Error {
  readonly step: Step['name']
  constructor(step: Step['name'], message: string) {
    super(message)
    this.name = 'Unreached'
    this.step = step
  }
}
/**
 * What became of a batch. A failure is about the `events`, which the target never will take, or about the `target`, which
 * may later; `retryAfter` in milliseconds where it said so. `bytes` as they were sent.
 */
export type Outcome =
  | { readonly ok: true; readonly status: number | null; readonly bytes: number }
  | {
      readonly ok: false
      readonly about: 'events' | 'target'
      readonly status: number | null
      readonly words: string
      readonly retryAfter: number | null
      readonly bytes: number
    }

/** A way to a target, open or not. Only one call at a time. */
export interface Line {
  /** Makes the connection, or finds out whether it can be made. @throws Unreached */
  open(): Promise<void>
  isOpen(): boolean
  /** Sends formatted events; resolves when the other side has taken them, or on a stream when they are written. */
  send(messages: readonly string[]): Promise<Outcome>
  /** When a stream that was open ended without our doing; null while it did not. */
  brokenAt(): number | null
  /** Ends what is open. Answers whether the other side has surely got all that was written. */
  end(): Promise<boolean>
  /** Lets go at once: what is under way fails. */
  destroy(): void
}

export interface LineNeeds {
  readonly outgoing: Pick<Outgoing, 'reach'>
  readonly clock: () => number
  /** Hears of every step, for the test endpoint. */
  readonly note?: (step: Step) => void
  /** Milliseconds; for tests. */
  readonly times?: Partial<typeof lineTimes>
}
export const lineTimes = {
  /** For each of resolving, connecting and TLS. */
  connect: 5 * second,
  write: 10 * second,
  answer: 30 * second,
  /** How long an HTTP target counts as reachable after it was. */
  fresh: minute,
}

export const failure = (words: string, bytes: number): Outcome => ({
  ok: false,
  about: 'target',
  status: null,
  words,
  retryAfter: null,
  bytes,
})
