import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const defaultCap = 60_000

export interface Backoff {
  next(retryAfter?: number | null): number
  reset(): void
}

/**
 * Exponential back-off with full jitter: the first delay is uniform in one interval, then the bound doubles up to `cap`.
 * A `Retry-After` of the server replaces the delay, up to an hour.
 */
export const createBackoff = (options: { interval: () => number; cap?: number; random?: () => number }): Backoff => {
  const random = options.random ?? Math.random
  const cap = options.cap ?? defaultCap
  let failures = 0
  return {
    next(retryAfter: number | null = null): number {
      const bound = Math.min(cap, options.interval() * 2 ** Math.min(failures, 20))
      failures += 1
      const delay = random() * bound
      return retryAfter === null ? delay : Math.max(Math.min(retryAfter, 3_600_000), 0) + random() * 1000
    },
    reset(): void {
      failures = 0
    },
  }
}

/** A fixed offset in the interval for each server, which spreads a fleet. Ids are hashed because they begin with the time. */
export const slotOf = (serverId: string, interval: number): number => {
  const hash = createHash('sha256').update(serverId).digest()
  return Math.floor((hash.readUInt32BE(0) / 2 ** 32) * interval)
}

/** Milliseconds from `now` to the server's next slot, never 0. */
export const untilSlot = (serverId: string, interval: number, now: number): number => {
  const slot = slotOf(serverId, interval)
  return interval - ((((now - slot) % interval) + interval) % interval)
}

/** `Retry-After` in milliseconds, from seconds or an HTTP date (RFC 9110); null if absent or invalid. */
export const retryAfterOf = (header: unknown, now: number): number | null => {
  if (typeof header !== 'string') return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** When the budget runs low, polls wait first (heartbeats carry commands too), then reports, then heartbeats. */
export type Urgency = 'heartbeat' | 'report' | 'poll'

const reservedShare: Record<Urgency, number> = { heartbeat: 0, report: 0.1, poll: 0.25 }

export interface Budget {
  /** 0: the request may go now and is counted; otherwise how long to wait before the next call. */
  take(urgency: Urgency): number
}

/** Keeps to `perMinute` requests in any minute. */
export const createBudget = (options: { perMinute: number; now: () => number }): Budget => {
  const fieldValues: number[] = []
  return {
    take(urgency: Urgency): number {
      const now = options.now()
      while (fieldValues.length > 0 && now - (fieldValues[0] ?? 0) >= 60_000) fieldValues.shift()
      const limit = Math.floor(options.perMinute * (1 - reservedShare[urgency]))
      const blocking = fieldValues[fieldValues.length - limit]
      if (fieldValues.length < limit || blocking === undefined) {
        fieldValues.push(now)
        return 0
      }
      return Math.max(1, 60_000 - (now - blocking))
    },
  }
}

/**
 * A wake-up of a process at rest costs more than most of what it does then, and looks that are due together share answers. So what is done at
 * intervals is due at multiples of a beat, milliseconds, and what is done at multiples of 5 s at multiples of 5 s.
 */
export const beat = 500
const longBeat = 5000
/** A timer that fires this early or late, milliseconds, counts as on time. */
const slack = 50

/** Milliseconds from `now` until a multiple of the beat: the last one before `wait` is over. At least 1. */
export const untilBeat = (wait: number, now = performance.now()): number => {
  const step = wait % longBeat === 0 ? longBeat : beat
  return Math.max(1, Math.ceil(Math.floor((now + wait + slack) / step) * step - now))
}

/** Does the work at intervals of `ms`, which is a multiple of `beat`. Answers what ends that. */
export const onBeat = (ms: number, work: () => void): (() => void) => {
  let timer: NodeJS.Timeout
  const wait = (): void => {
    timer = setTimeout(() => {
      wait()
      work()
    }, untilBeat(ms))
  }
  wait()
  return () => clearTimeout(timer)
}

export interface Nap {
  wake(): void
  sleep(ms: number): Promise<void>
}

/** A sleep that `wake` ends, even if it was called just before the sleep began. */
export const createNap = (): Nap => {
  let woken = false
  let end: (() => void) | null = null
  return {
    wake(): void {
      woken = true
      end?.()
    },
    async sleep(ms: number): Promise<void> {
      if (!woken) {
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, ms)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      end = null
      woken = false
    },
  }
}

/** A sleep that only the signal cuts short. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  ms === 0 ? Promise.resolve() : sleep(ms, undefined, { signal }).catch(() => undefined)
