import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateClass } from '@stockade/contract'
import { parseIp } from '../core/ip.ts'

/** What is left of a budget; `resetAt` is epoch milliseconds. */
export interface Budget {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
  readonly exceeded: boolean
}

export interface RateLimits {
  /** Takes one request from the budget of that credential or address. Null when the class has no limit. */
  take(kind: RateClass, who: string): Promise<Budget | null>
}

/** A neighbour's address in the same /64 is the same caller: hosts own at least that much. */
export const addressKey = (ip: string): string => {
  const parsed = parseIp(ip)
  if (!parsed) return `a:${ip.slice(0, 64)}`
  return `a:${Buffer.from(parsed.bytes.length === 16 ? parsed.bytes.subarray(0, 8) : parsed.bytes).toString('hex')}`
}

/** Requests a minute by class, each with a budget of its own for each caller. 0 turns a class off. */
export const createRateLimits = (limits: { readonly standard: number; readonly sensitive: number }): RateLimits => {
  const make = (points: number) => (points > 0 ? new RateLimiterMemory({ points, duration: 60 }) : null)
  const limiters = { standard: make(limits.standard), sensitive: make(limits.sensitive) }
  const budget = (limit: number, left: RateLimiterRes, exceeded: boolean): Budget => ({
    limit,
    remaining: Math.max(0, left.remainingPoints),
    resetAt: Date.now() + left.msBeforeNext,
    exceeded,
  })
  return {
    async take(kind, who) {
      const limiter = kind === 'none' ? null : limiters[kind]
      if (!limiter) return null
      try {
        return budget(limiter.points, await limiter.consume(who), false)
      } catch (left) {
        if (left instanceof RateLimiterRes) return budget(limiter.points, left, true)
        throw left
      }
    },
  }
}
