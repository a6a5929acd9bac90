import { recordOf } from '@stockade/contract/untrusted.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint, LicenceFeature } from '@stockade/contract'
import type { Actor, Principal } from '../core/actor.ts'
import { badRequest, unauthorized } from '../core/problem.ts'
import type { Problem } from '../core/problem.ts'
import { setBudgetHeaders } from './budgets.ts'
import type { Budgets } from './budgets.ts'
import type { Identity } from './identity.ts'
import { addressKey } from './rate-limit.ts'
import type { RateLimits } from './rate-limit.ts'
import { addressOf, changing } from './request.ts'
import { refusal } from '../core/access.ts'

/**
 * Everything that is decided before the body is read, in this order: the budget of the address (for endpoints without a
 * credential), who the caller is, the budget of the credential and of its user, the origin of a cookie, and the access that the
 * contract declares. Waits only where it must, because most requests need no storage.
 */
export const createAdmission = (needs: {
  readonly limits: RateLimits
  readonly budgets: Budgets
  readonly identity: Identity
  readonly licence: (feature: LicenceFeature) => Problem | null
  /** Why the keys of a host are not heard; null where they are. */
  readonly quarantine: (serverNo: number) => Problem | null
}) => {
  const { limits, budgets, identity } = needs

  /** What speaks for a host in quarantine is heard only where it must be: whoever holds the host may hold its keys. */
  const quarantineRefusal = (actor: Actor, { access, inQuarantine }: Endpoint): Problem | null => {
    if (actor.kind !== 'key' || actor.serverNo === null || inQuarantine || access === 'public') return null
    return actor.isOfHost || access === 'agent' ? needs.quarantine(actor.serverNo) : null
  }
  const judge = (request: FastifyRequest, endpoint: Endpoint, actor: Actor) => {
    const userId = Number(recordOf(request.params).userId)
    const refused =
      refusal(actor, endpoint, userId) ??
      quarantineRefusal(actor, endpoint) ??
      (endpoint.licence ? needs.licence(endpoint.licence) : null)
    if (refused) throw refused
  }
  const refuseAnonymous = async (request: FastifyRequest, reply: FastifyReply, endpoint: Endpoint, actor: Actor) => {
    // A budget of its own, so that strangers can't use up that of the sign-in page.
    const budget = await limits.take(endpoint.rate ?? 'standard', `x:${addressKey(actor.ip)}`)
    if (budget) setBudgetHeaders(reply, budget)
    throw request.headers.authorization === undefined
      ? (refusal(actor, endpoint) ?? unauthorized('Sign in first.'))
      : unauthorized('This credential is unknown, expired or revoked.')
  }
  const takeBudgets = (reply: FastifyReply, endpoint: Endpoint, actor: Principal) => {
    const own = budgets.take(reply, endpoint, actor.kind === 'user' ? `s:${actor.sessionId}` : `k:${actor.keyId}`)
    // Many sessions and keys of one user are no way around the budget.
    const { userId } = actor
    return userId === null ? own : own?.then(() => budgets.takeShared(reply, endpoint, `u:${userId}`))
  }
  const admitActor = (
    request: FastifyRequest,
    reply: FastifyReply,
    endpoint: Endpoint,
    actor: Actor,
  ): void | Promise<void> => {
    request.actor = actor
    if (endpoint.access === 'public') return judge(request, endpoint, actor)
    if (actor.kind === 'anonymous') return refuseAnonymous(request, reply, endpoint, actor)
    const judgeKnown = () => {
      if (request.byCookie && changing.has(request.method)) identity.checkOrigin(request)
      judge(request, endpoint, actor)
    }
    const budgetRefusal = takeBudgets(reply, endpoint, actor)
    return budgetRefusal instanceof Promise ? budgetRefusal.then(judgeKnown) : judgeKnown()
  }
  return (request: FastifyRequest, reply: FastifyReply, endpoint: Endpoint): void | Promise<void> => {
    request.endpoint = endpoint
    // If nothing is sent, no parser runs and the body stays as it is here.
    if (endpoint.method !== 'GET') request.body = {}
    if (request.raw.url?.includes('%00')) throw badRequest('The address holds a NUL character.')
    const identifyAndAdmit = () => {
      const actor = identity.identify(request)
      return actor instanceof Promise
        ? actor.then(found => admitActor(request, reply, endpoint, found))
        : admitActor(request, reply, endpoint, actor)
    }
    const budgetRefusal =
      endpoint.access === 'public' ? budgets.take(reply, endpoint, addressKey(addressOf(request))) : undefined
    return budgetRefusal instanceof Promise ? budgetRefusal.then(identifyAndAdmit) : identifyAndAdmit()
  }
}
