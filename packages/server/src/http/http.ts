import { errorOf } from '@stockade/contract/error-code.ts'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bounds, shapes } from '@stockade/contract'
import type { BodyOf, Endpoint, LicenceFeature, ParamsOf, QueryOf, ReplyOf } from '@stockade/contract'
import type { Actor, AgentActor, Anonymous, Principal, UserActor } from '../core/actor.ts'
import type { Problem } from '../core/problem.ts'
import { createAdmission } from './admission.ts'
import { readBodies } from './body.ts'
import { createBudgets } from './budgets.ts'
import { compress, isCompressed } from './compressed.ts'
import { answerErrors } from './errors.ts'
import { openFastify } from './fastify.ts'
import { createIdentity } from './identity.ts'
import type { Credentials, Identity } from './identity.ts'
import { answerUnrouted } from './not-found.ts'
import { addressKey } from './rate-limit.ts'
import type { RateLimits } from './rate-limit.ts'
import { serialisedShape } from './reply-shape.ts'
import { addressOf, changing, nameOf, prefix } from './request.ts'
import type { SecurityLog } from './security-log.ts'
import type { TlsPair } from './tls.ts'

type ActorOf<E extends Endpoint> = E['access'] extends 'public'
  ? Actor | Anonymous
  : E['access'] extends 'agent'
    ? AgentActor
    : E['access'] extends 'session' | 'session-before-mfa'
      ? UserActor
      : Principal

export interface Call<E extends Endpoint> {
  readonly actor: ActorOf<E>
  readonly params: ParamsOf<E>
  readonly query: QueryOf<E>
  readonly body: BodyOf<E>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}
/** The body of the answer, or the reply itself where the handler has sent it. */
type Answer<E extends Endpoint> = ReplyOf<E> | FastifyReply
export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Answer<E>> | Answer<E>

export interface Http extends Identity {
  readonly fastify: FastifyInstance
  /** Mounts an endpoint of the contract: access, budget, validation and the shape of the reply come from it. */
  serve<E extends Endpoint>(endpoint: E, handler: Handler<E>): void
  /** Sets what answers a page's path that is neither the API's nor a file. */
  fallback(answer: (reply: FastifyReply) => FastifyReply): void
  /** The mounted endpoints. */
  readonly mounted: readonly Endpoint[]
}

export interface HttpNeeds {
  readonly log: FastifyBaseLogger
  readonly limits: RateLimits
  readonly credentials: Credentials
  /** Why the licence does not allow a feature; null where it does. */
  readonly licence: (feature: LicenceFeature) => Problem | null
  /** Why the keys of a host are not heard; null where they are. */
  readonly quarantine: (serverNo: number) => Problem | null
  readonly trustedProxies: readonly string[]
  readonly tls: TlsPair | null
  readonly isStrict: () => boolean
  readonly isDraining: () => boolean
  /** The public address, for the origin check. */
  readonly baseUrl: () => string
  /**
   * The environment declares an https address. An https address in the settings decides less: whoever types it before the proxy
   * is set up must not be locked out.
   */
  readonly httpsOnly: boolean
  /** Whether an error means that storage is away or full; logs it now and then. */
  readonly storage: (error: unknown) => boolean
  /** Resolves when other processes know what was changed here. */
  readonly settle: () => Promise<void>
  /** Called with each 401, 403 and 429. */
  readonly security: SecurityLog
  /** Called after each reply, for the metrics. */
  readonly observe: (endpoint: string, status: number, seconds: number) => void
  /** Called before a signed-in user or a key is answered 403 to a change; does not throw. */
  readonly refused: Parameters<typeof answerErrors>[1]['noteRefusal']
}

const empty = shapes.shape({})
/** What hosts download without a credential. */
const downloads = /^\/(install\.sh$|agent\/)/

export const createHttp = (needs: HttpNeeds): Http => {
  const mounted: Endpoint[] = []
  const fastify = openFastify(needs)
  const identity = createIdentity(needs)
  const budgets = createBudgets(needs.limits)
  const admit = createAdmission({ ...needs, budgets, identity })
  fastify.addHook('onRoute', route => {
    const { url } = route
    if (downloads.test(url))
      route.onRequest = (request, reply) => budgets.takeDownload(reply, addressKey(addressOf(request)), url)
  })
  readBodies(fastify)
  answerErrors(fastify, { isStorageError: needs.storage, security: needs.security, noteRefusal: needs.refused })
  const fallback = answerUnrouted(fastify, budgets)
  const settled = async <T>(answered: T | Promise<T>): Promise<T> => {
    const answer = await answered
    await needs.settle()
    return answer
  }
  return {
    ...identity,
    fastify,
    mounted,
    fallback,
    serve(endpoint, handler) {
      mounted.push(endpoint)
      const produces = [endpoint.produces ?? 'application/json'].flat()
      // After a change, the caller may ask another process. What agents report is too frequent for that, and nobody waits for it.
      const settles = changing.has(endpoint.method) && (endpoint.access !== 'agent' || endpoint.method === 'PUT')
      const isJson = produces.includes('application/json') && endpoint.status !== 302
      fastify.route({
        method: endpoint.method,
        url: `${prefix}${endpoint.path}`.replace(/\{(\w+)\}/g, ':$1'),
        config: { endpoint },
        // A hook of the route's own: looking up the endpoint in a hook of all routes costs more than most of what follows.
        onRequest: (request, reply, done) => {
          try {
            const waits = admit(request, reply, endpoint)
            if (waits instanceof Promise) waits.then(() => done(), done)
            else done()
          } catch (error) {
            done(errorOf(error))
          }
        },
        ...(isCompressed(nameOf(endpoint)) ? { onSend: compress } : {}),
        bodyLimit: endpoint.bodyLimit ?? bounds.body,
        schema: {
          ...(endpoint.params ? { params: endpoint.params } : {}),
          querystring: endpoint.query ?? empty,
          ...(endpoint.method === 'GET' ? {} : { body: endpoint.body ?? (endpoint.lenient ? {} : empty) }),
          ...(isJson ? { response: { [endpoint.status]: serialisedShape(endpoint.reply, produces) } } : {}),
        },
        handler: (request, reply) => {
          reply.status(endpoint.status)
          if (isJson) reply.header('cache-control', 'no-store')
          const { actor, params, query, body } = request as never as Call<typeof endpoint>
          const answered = handler({ actor, params, query, body, request, reply })
          return settles ? settled(answered) : Promise.resolve(answered)
        },
      })
    },
  }
}
