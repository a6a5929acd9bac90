import { keysOf } from '@stockade/contract/records.ts'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateClass } from '@stockade/contract'
import { parseIp } from '../core/ip.ts'
import type { RateCount } from '../db/rate-counts.ts'

/** What is left of a budget; `resetAt` is epoch milliseconds. */
export interface Budget {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
  readonly exceeded: boolean
}

export interface RateLimits {
  /** Takes one request from the budget of that credential or address. Null when the class has no limit. */
  take(kind: RateClass, who: string): null | Promise<Budget>
  /** The same from a budget ten times as large: of all credentials of one user, or for what a whole network downloads. */
  takeOfMany(kind: RateClass, who: string): null | Promise<Budget>
  /** Exchanges counts with the other processes: what they counted is taken off here too. */
  share(exchange: (counts: readonly RateCount[]) => Promise<readonly RateCount[]>): Promise<void>
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
  const limiters = {
    standard: make(limits.standard),
    sensitive: make(limits.sensitive),
    manyStandard: make(limits.standard * 10),
    manySensitive: make(limits.sensitive * 10),
  }
  const budget = (limit: number, left: RateLimiterRes, exceeded: boolean): Budget => ({
    limit,
    remaining: Math.max(0, left.remainingPoints),
    resetAt: Date.now() + left.msBeforeNext,
    exceeded,
  })
  const minute = 60_000
  /** Requests of this process that the others have not heard of, and what was last heard of everybody's. */
  const untold = new Map<string, RateCount>()
  const heard = new Map<string, number>()
  let shared = false
  const note = (kind: keyof typeof limiters, who: string) => {
    const bucket = Math.floor(Date.now() / minute) * minute
    const key = `${kind} ${who}`
    const name = `${bucket} ${key}`
    untold.set(name, { key, bucket, n: (untold.get(name)?.n ?? 0) + 1 })
  }
  const consume = (kind: keyof typeof limiters, who: string): null | Promise<Budget> => {
    const limiter = limiters[kind]
    if (!limiter) return null
    if (shared) note(kind, who)
    return limiter.consume(who).then(
      left => budget(limiter.points, left, false),
      (left: unknown) => {
        if (left instanceof RateLimiterRes) return budget(limiter.points, left, true)
        throw left
      },
    )
  }
  return {
    async share(exchange) {
      shared = true
      // Some at a time: the rest goes with the next round.
      const toldKeys = [...untold].slice(0, 2000)
      for (const [name] of toldKeys) untold.delete(name)
      const rows = await exchange(toldKeys.map(([, count]) => count))
      const mine = new Map(toldKeys)
      for (const { key, bucket, n } of rows) {
        const name = `${bucket} ${key}`
        const others = n - (heard.get(name) ?? 0) - (mine.get(name)?.n ?? 0)
        heard.set(name, n)
        const [kind, who = ''] = key.split(/ (.*)/s)
        const limited = keysOf(limiters).find(each => each === kind)
        if (limited && others > 0) await limiters[limited]?.penalty(who, others)
      }
      const oldest = Date.now() - 2 * minute
      for (const name of heard.keys()) if (Number(name.split(' ')[0]) < oldest) heard.delete(name)
    },
    take: (kind, who) => (kind === 'none' ? null : consume(kind, who)),
    takeOfMany: (kind, who) =>
      kind === 'none' ? null : consume(kind === 'standard' ? 'manyStandard' : 'manySensitive', who),
  }
}
