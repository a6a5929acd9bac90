import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const CAP = 300_000

/**
 * Full-jitter exponential back-off (reliability P6): the first delay is uniform in one interval, the bound then doubles
 * up to `cap`. What the server asks for by Retry-After is obeyed, up to an hour.
 */
export function createBackoff(options: { interval: () => number; cap?: number; random?: () => number }) {
  const random = options.random ?? Math.random
  const cap = options.cap ?? CAP
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

export type Backoff = ReturnType<typeof createBackoff>

/** A fixed place within the interval for each server, so that a fleet spreads; ids are hashed since they begin with the time. */
export function slotOf(serverId: string, interval: number): number {
  const hash = createHash('sha256').update(serverId).digest()
  return Math.floor((hash.readUInt32BE(0) / 2 ** 32) * interval)
}

/** Milliseconds from `now` to the server's next slot, never 0. */
export function untilSlot(serverId: string, interval: number, now: number): number {
  const slot = slotOf(serverId, interval)
  return interval - ((((now - slot) % interval) + interval) % interval)
}

/** `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110); null when absent or nonsense. */
export function retryAfterOf(header: unknown, now: number): number | null {
  if (typeof header !== 'string') return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Whose request it is: in a rush the polls wait first (heartbeats carry commands too), heartbeats and results last. */
export type Urgency = 'heartbeat' | 'report' | 'poll'

const KEPT_BACK: Record<Urgency, number> = { heartbeat: 0, report: 0.1, poll: 0.25 }

/** Keeps to `perMinute` requests in any minute. */
export function createBudget(options: { perMinute: number; now: () => number }) {
  const taken: number[] = []
  return {
    /** 0 when a request may go now (and is counted), else how long to wait before asking again. */
    take(urgency: Urgency): number {
      const now = options.now()
      while (taken.length > 0 && now - (taken[0] ?? 0) >= 60_000) taken.shift()
      const limit = Math.floor(options.perMinute * (1 - KEPT_BACK[urgency]))
      const blocking = taken[taken.length - limit]
      if (taken.length < limit || blocking === undefined) {
        taken.push(now)
        return 0
      }
      return Math.max(1, 60_000 - (now - blocking))
    },
  }
}

export type Budget = ReturnType<typeof createBudget>

/** A sleep that can be cut short by `wake()`, also by a wake that came just before it began. */
export function createNap() {
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

export type Nap = ReturnType<typeof createNap>

/** A sleep that only the signal cuts short. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  ms === 0 ? Promise.resolve() : sleep(ms, undefined, { signal }).catch(() => undefined)
