import type { HistogramData } from './histogram.ts'

/* What the coordinator and its workers tell each other. */

/** A registered server: its id and its key. */
export interface Enrolled {
  readonly id: string
  readonly key: string
}
/** One simulated host, and its way to the servers. */
export interface Place extends Enrolled {
  readonly base: string
  /** Address that its connections come from; null: any. */
  readonly source: string | null
}
/** The hosts of one worker. Times in seconds. */
export interface Slice {
  readonly worker: number
  readonly workers: number
  readonly places: readonly Place[]
  readonly heartbeat: number
  readonly startPeriod: number
  readonly bansPerSecond: number
  readonly seed: number
}

export type Instruction =
  | { readonly kind: 'start'; readonly slice: Slice }
  /** Heartbeats from now on are measured under this name. */
  | { readonly kind: 'phase'; readonly name: string }
  /** The next heartbeat of each host is told, with this number. */
  | { readonly kind: 'mark'; readonly mark: number }
  | { readonly kind: 'attack' }
  /** Send what waits, then tell what was measured. */
  | { readonly kind: 'stop' }

/** What happened since the last message. Times as `machineNow` tells them. */
export interface Seen {
  readonly kind: 'seen'
  /** When hosts held a whitelist, by its version. */
  readonly whitelists: Readonly<Record<string, readonly number[]>>
  /** Commands that a host was handed for the first time. */
  readonly deliveries: readonly number[]
  /** The first heartbeat of each host since the mark. */
  readonly mark: number
  readonly beats: readonly number[]
  /** Event ids of bans that the server acknowledged. */
  readonly bans: readonly string[]
}
export interface Measurements {
  readonly kind: 'measured'
  readonly latencies: Readonly<Record<string, HistogramData>>
  readonly errors: Readonly<Record<string, number>>
}
export type Message = Seen | Measurements

/** Milliseconds of the machine's monotonic clock, which is the same in all of its processes. */
export const machineNow = (): number => Number(process.hrtime.bigint()) / 1e6
