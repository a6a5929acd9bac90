import type { FastifyReply } from 'fastify'
import type { Endpoint } from '@stockade/contract'
import { tooManyRequests } from '../core/problem.ts'
import type { Budget, RateLimits } from './rate-limit.ts'

type Rated = Pick<Endpoint, 'rate'>
const standard = { rate: 'standard' } as const

export const setBudgetHeaders = (reply: FastifyReply, budget: Budget): void => {
  void reply.headers({
    'x-ratelimit-limit': String(budget.limit),
    'x-ratelimit-remaining': String(budget.remaining),
    'x-ratelimit-reset': String(Math.ceil(budget.resetAt / 1000)),
  })
}
const spend = (reply: FastifyReply, budget: Budget | null) => {
  if (!budget) return
  setBudgetHeaders(reply, budget)
  if (budget.exceeded) throw tooManyRequests(Math.max(1, Math.ceil((budget.resetAt - Date.now()) / 1000)))
}

/** Takes requests from budgets. @throws Problem 429 when a budget is used up */
export const createBudgets = (limits: RateLimits) => {
  /** Null if the endpoint has no budget. */
  const take = (reply: FastifyReply, endpoint: Rated, who: string): null | Promise<void> =>
    limits.take(endpoint.rate ?? 'standard', who)?.then(left => spend(reply, left)) ?? null
  /** The larger budget that many credentials share. */
  const takeShared = async (reply: FastifyReply, endpoint: Rated, who: string): Promise<void> => {
    const left = await limits.takeOfMany(endpoint.rate ?? 'standard', who)
    if (left?.exceeded) spend(reply, left)
  }
  return {
    take,
    takeShared,
    takeStandard: async (reply: FastifyReply, who: string): Promise<void> => {
      await take(reply, standard, who)
    },
    /** Downloads cost bandwidth. A network that installs many hosts gets them; the large runtime less often than the rest. */
    takeDownload: async (reply: FastifyReply, who: string, url: string): Promise<void> => {
      await (url.endsWith('.gz') ? take(reply, standard, `d:${who}`) : takeShared(reply, standard, `d:${who}`))
    },
  }
}
export type Budgets = ReturnType<typeof createBudgets>
