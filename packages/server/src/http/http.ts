import { randomBytes } from 'node:crypto'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseCookie } from 'cookie'
import { bounds, shapes } from '@stockade/contract'
import type { BodyOf, ContentType, Endpoint, LicenceFeature, ParamsOf, QueryOf, ReplyOf } from '@stockade/contract'
import { refusal } from '../core/actor.ts'
import type { Actor, AgentActor, Anonymous, Principal, UserActor } from '../core/actor.ts'
import { parseIp } from '../core/ip.ts'
import {
  Problem,
  badRequest,
  forbidden,
  notFound,
  tooManyRequests,
  unauthorized,
  unavailable,
} from '../core/problem.ts'
import { withoutNul } from '../core/text.ts'
import { createLargeBodies, largeFrom } from './large-body.ts'
import { addressKey } from './rate-limit.ts'
import type { Budget, RateLimits } from './rate-limit.ts'
import { readOut } from './read-out.ts'
import type { SecurityLog } from './security-log.ts'
import { answerBadAddress, answerBadRequest } from './unreadable.ts'
import { compileBody, compileText, validationProblem } from './validate.ts'

/** Finds who is behind a credential. Null: unknown, expired or revoked. */
export interface Credentials {
  byKey(key: string, ip: string): Principal | null | Promise<Principal | null>
  /** `quietly`: somebody looks whether it is still good, and does nothing with it. */
  byToken(token: string, ip: string, quietly?: boolean): Promise<Principal | null>
  byCookie(value: string, ip: string, quietly?: boolean): Promise<Principal | null>
}

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
export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<ReplyOf<E>> | ReplyOf<E>

export interface Http {
  readonly fastify: FastifyInstance
  /** Mounts an endpoint of the contract: access, budget, validation and the shape of the reply come from it. */
  serve<E extends Endpoint>(endpoint: E, handler: Handler<E>): void
  /** Who sends this request, by header or cookie. */
  identify(request: FastifyRequest, quietly?: boolean): Actor | Promise<Actor>
  /** The cookies that came with a request. */
  cookiesOf(request: FastifyRequest): Record<string, string | undefined>
  /** Refuses cookies that a page of another origin sent along. */
  checkOrigin(request: FastifyRequest): void
  /** What answers a page's path that is neither the API's nor a file. */
  fallback(answer: (reply: FastifyReply) => FastifyReply): void
  /** Endpoints that are mounted. */
  readonly mounted: readonly Endpoint[]
}

export interface HttpNeeds {
  readonly log: FastifyBaseLogger
  readonly limits: RateLimits
  readonly credentials: Credentials
  /** Why the licence does not allow a feature; null where it does. */
  readonly licence: (feature: LicenceFeature) => Problem | null
  readonly trustedProxies: readonly string[]
  /** The public address, for the origin check. */
  readonly baseUrl: () => string
  /**
   * The environment says that this is reached by https. An https address that was typed into the settings decides less: a newcomer who types
   * it before the proxy is there must not be locked out.
   */
  readonly httpsOnly: boolean
  /** Whether an error is one of a storage that is away or full; says so in the log, at times. */
  readonly storage: (error: unknown) => boolean
  /** Resolves when other processes know what was changed here. */
  readonly settle: () => Promise<void>
  /** Called after each reply, for the metrics. */
  /** Hears of each 401, 403 and 429. */
  readonly security: SecurityLog
  readonly observe: (endpoint: string, status: number, seconds: number) => void
  /** Called before a signed-in user or a key is answered 403 to a change; does not throw. */
  readonly refused: (
    actor: Principal,
    refused: { readonly endpoint: string; readonly path: string; readonly reason: string },
  ) => Promise<void>
}

export const cookieNames = { plain: 'stockade_session', secure: '__Host-stockade_session' } as const

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
  interface FastifyRequest {
    /** What of the contract was asked for; null for everything else that is served. */
    endpoint: Endpoint | null
    actor: Actor | null
    byCookie: boolean
  }
}

/** `GET /servers`, made once for each endpoint. */
const names = new WeakMap<Endpoint, string>()
const nameOf = (endpoint: Endpoint): string => {
  const known = names.get(endpoint)
  if (known !== undefined) return known
  const name = `${endpoint.method} ${endpoint.path}`
  names.set(endpoint, name)
  return name
}
const empty = shapes.shape({})
const anywhere = { rate: 'standard' } as const
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const prefix = '/api/v1'

/** The last addresses as they came, canonical: hosts call again and again. */
const canonical = new Map<string, string | null>()
const canonicalOf = (text: string): string | null => {
  const known = canonical.get(text)
  if (known !== undefined) return known
  const read = parseIp(text)?.text ?? null
  if (canonical.size >= 10_000) canonical.clear()
  canonical.set(text, read)
  return read
}
/** The caller's address: canonical, and the connection's own where a trusted proxy sent nonsense. */
export const addressOf = (request: FastifyRequest): string =>
  canonicalOf(request.ip) ?? canonicalOf(request.socket.remoteAddress ?? '') ?? '0.0.0.0'

const budgetHeaders = (budget: Budget) => ({
  'x-ratelimit-limit': String(budget.limit),
  'x-ratelimit-remaining': String(budget.remaining),
  'x-ratelimit-reset': String(Math.ceil(budget.resetAt / 1000)),
})

/** What hosts download without a credential. */
const downloads = /^\/(install\.sh$|agent\/)/
/** The name that was typed at a sign-in. */
const typedName = (body: unknown): string | null => {
  const { username } = (body ?? {}) as { username?: unknown }
  return typeof username === 'string' ? username : null
}

const plainHeaders = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const
const secureHeaders = { ...plainHeaders, 'strict-transport-security': 'max-age=31536000' } as const

/** Paths that are no page of the dashboard. */
const ours = /^\/(api|agent|metrics|install\.sh)(\/|$)/

export const createHttp = async (needs: HttpNeeds): Promise<Http> => {
  const { credentials, limits } = needs
  const mounted: Endpoint[] = []
  const patterns: { method: string; pattern: RegExp }[] = []
  const origin = randomBytes(4).toString('hex')
  let requests = 0
  let fallback: ((reply: FastifyReply) => FastifyReply) | null = null

  const headersOfAll = () => (needs.baseUrl().startsWith('https:') ? secureHeaders : plainHeaders)
  const fastify = Fastify({
    // Fastify's own news (one line for each address of the host) is no news to an operator; its warnings are.
    loggerInstance: needs.log.level === 'info' ? needs.log.child({}, { level: 'warn' }) : needs.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: needs.trustedProxies.length > 0 ? [...needs.trustedProxies] : false,
    bodyLimit: bounds.body,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    // A logger for each request costs more than finding who asks; what is logged of one names it.
    childLoggerFactory: logger => logger,
    genReqId: () => `${origin}-${(++requests).toString(36)}`,
    requestTimeout: 30_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    rewriteUrl: request => withoutBase(request.url ?? '/'),
    frameworkErrors: answerBadAddress(headersOfAll),
    clientErrorHandler: answerBadRequest(headersOfAll),
  }) as unknown as FastifyInstance
  let known = { base: '', path: '' }
  /** A base URL may carry a path; a proxy may strip it or not, both are answered. */
  const withoutBase = (url: string): string => {
    const base = needs.baseUrl()
    if (base !== known.base) known = { base, path: new URL(base).pathname.replace(/\/+$/, '') }
    const { path } = known
    return path && (url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`))
      ? url.slice(path.length) || '/'
      : url
  }
  /** Files cost bandwidth: a network that installs many hosts gets them, a runtime less often than the rest. */
  const takeDownload = async (reply: FastifyReply, who: string, url: string): Promise<void> =>
    url.endsWith('.gz') ? void (await take(reply, anywhere, `d:${who}`)) : takeOfMany(reply, anywhere, `d:${who}`)
  fastify.addHook('onRoute', route => {
    const { url, method } = route
    if (!ours.test(url)) return
    if (downloads.test(url))
      route.onRequest = (request, reply) => takeDownload(reply, addressKey(addressOf(request)), url)
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
    for (const each of [method].flat()) if (each !== 'HEAD') patterns.push({ method: each, pattern })
  })
  // Whoever sends a request's head drop by drop does not hold a connection for long.
  fastify.server.headersTimeout = 10_000
  fastify.decorateRequest('endpoint', null)
  fastify.decorateRequest('actor', null)
  fastify.decorateRequest('byCookie', false)
  const large = createLargeBodies()
  fastify.addHook('onClose', () => large.close())
  fastify.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart !== 'body') return compileText(schema as object)
    const check = compileBody(schema as object)
    const once = (data: unknown) => {
      if (large.isValid(data)) return true
      const valid = check(data)
      once.errors = check.errors
      return valid
    }
    once.errors = check.errors
    return once
  })

  // An absent or empty body counts as {} whatever the content type says; anything else has to be JSON.
  const parseJson = fastify.getDefaultJsonParser('error', 'error')
  fastify.removeAllContentTypeParsers()
  // Named too, because only what is named is found without reading the header again for each request.
  fastify.addContentTypeParser(['application/json', '*'], { parseAs: 'string' }, (request, body, done) => {
    const text = String(body)
    if (text.length === 0) return done(null, {})
    const type = request.headers['content-type'] ?? ''
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type))
      return done(
        new Problem(415, 'Unsupported Media Type', 'Send the body as JSON, with Content-Type: application/json.'),
      )
    const { endpoint } = request
    if (text.length < largeFrom || !endpoint)
      return void parseJson(request, withoutNul(text), (error, parsed: unknown) => done(error, parsed ?? {}))
    large.read(nameOf(endpoint), text).then(
      value => done(null, value ?? {}),
      (error: unknown) => done(error as Error),
    )
  })

  const cookiesOf = (request: FastifyRequest) => parseCookie(request.headers.cookie ?? '')
  /** Answers at once for a key of a host, which is most of what comes; else waits for storage. */
  const identify = (request: FastifyRequest, quietly = false): Actor | Promise<Actor> => {
    const ip = addressOf(request)
    const known = (actor: Principal | null): Actor => actor ?? { kind: 'anonymous', ip }
    const header = request.headers.authorization
    if (header !== undefined) {
      const credential = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header)?.[1]
      if (!credential) return known(null)
      const found = credential.startsWith('svc_')
        ? credentials.byKey(credential, ip)
        : credentials.byToken(credential, ip, quietly)
      return found instanceof Promise ? found.then(known) : known(found)
    }
    const cookies = cookiesOf(request)
    // A sibling host can plant a cookie of the plain name: under https only the one counts that it can't.
    const value = cookies[cookieNames.secure] ?? (needs.httpsOnly ? undefined : cookies[cookieNames.plain])
    if (!value) return known(null)
    return credentials.byCookie(value, ip, quietly).then(actor => {
      request.byCookie = actor !== null
      return known(actor)
    })
  }
  const checkOrigin = (request: FastifyRequest) => {
    const sent = request.headers.origin ?? request.headers.referer
    const from = sent ? URL.parse(sent) : null
    const own = new URL(needs.baseUrl())
    // Under https a page that came in the clear is anybody's.
    const asSafe = !needs.httpsOnly || from?.protocol === 'https:'
    if (from && asSafe && (from.origin === own.origin || from.host === request.headers.host)) return
    throw forbidden(
      `A change by session cookie needs the Origin of this dashboard, ${own.origin}; this came from ${from?.origin ?? 'nowhere'}.`,
    )
  }
  const spend = (reply: FastifyReply, budget: Budget | null) => {
    if (!budget) return
    reply.headers(budgetHeaders(budget))
    if (budget.exceeded) throw tooManyRequests(Math.max(1, Math.ceil((budget.resetAt - Date.now()) / 1000)))
  }
  const take = (reply: FastifyReply, endpoint: Pick<Endpoint, 'rate'>, who: string): null | Promise<void> =>
    limits.take(endpoint.rate ?? 'standard', who)?.then(left => spend(reply, left)) ?? null
  const takeOfMany = async (reply: FastifyReply, endpoint: Pick<Endpoint, 'rate'>, who: string): Promise<void> => {
    const left = await limits.takeOfMany(endpoint.rate ?? 'standard', who)
    if (left?.exceeded) spend(reply, left)
  }
  const admitKnown = (
    request: FastifyRequest,
    reply: FastifyReply,
    endpoint: Endpoint,
    actor: Actor,
  ): void | Promise<void> => {
    const open = endpoint.access === 'public'
    request.actor = actor
    const judge = () => {
      const userId = Number((request.params as Record<string, string> | undefined)?.userId)
      const refused = refusal(actor, endpoint, userId) ?? (endpoint.licence ? needs.licence(endpoint.licence) : null)
      if (refused) throw refused
    }
    if (open) return judge()
    if (actor.kind === 'anonymous') {
      const refuse = () => {
        throw request.headers.authorization === undefined
          ? (refusal(actor, endpoint) ?? unauthorized('Sign in first.'))
          : unauthorized('This credential is unknown, expired or revoked.')
      }
      // Headers on every reply, also on this one; a budget apart, so that strangers can't use up the sign-in page's.
      return Promise.resolve(limits.take(endpoint.rate ?? 'standard', `x:${addressKey(actor.ip)}`)).then(budget => {
        if (budget) reply.headers(budgetHeaders(budget))
        refuse()
      })
    }
    const own = take(reply, endpoint, actor.kind === 'user' ? `s:${actor.sessionId}` : `k:${actor.keyId}`)
    // Many sessions and keys of one user are no way around the budget.
    const { userId } = actor
    const taken = userId === null ? own : own?.then(() => takeOfMany(reply, endpoint, `u:${userId}`))
    const after = () => {
      if (request.byCookie && changing.has(request.method)) checkOrigin(request)
      judge()
    }
    return taken instanceof Promise ? taken.then(after) : after()
  }
  /** Everything that is decided before the body is read, in the order of decisions section 14. Waits only where it must. */
  const admit = (request: FastifyRequest, reply: FastifyReply, endpoint: Endpoint): void | Promise<void> => {
    request.endpoint = endpoint
    // Where nothing is sent, no parser is asked.
    if (endpoint.method !== 'GET') request.body = {}
    if (request.raw.url?.includes('%00')) throw badRequest('The address holds a NUL character.')
    const known = () => {
      const actor = identify(request)
      return actor instanceof Promise
        ? actor.then(found => admitKnown(request, reply, endpoint, found))
        : admitKnown(request, reply, endpoint, actor)
    }
    const taken = endpoint.access === 'public' ? take(reply, endpoint, addressKey(addressOf(request))) : undefined
    return taken instanceof Promise ? taken.then(known) : known()
  }
  // Of every reply: no guessing of types, no other site's page reads it, no device is asked for.
  fastify.addHook('onRequest', (_, reply, done) => {
    reply.headers(headersOfAll())
    done()
  })
  const debugs = needs.log.level === 'debug' || needs.log.level === 'trace'
  fastify.addHook('onResponse', (request, reply, done) => {
    const { endpoint } = request
    needs.observe(endpoint ? nameOf(endpoint) : 'other', reply.statusCode, reply.elapsedTime / 1000)
    if (debugs)
      request.log.debug(
        {
          reqId: request.id,
          method: request.method,
          // Queries hold codes of invitations and of the set-up.
          url: request.url.split('?')[0],
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
        },
        'answered',
      )
    done()
  })

  const problemOf = (error: FastifyError | Problem | Error, request: FastifyRequest): Problem => {
    if (error instanceof Problem) return error
    const known = error as FastifyError
    if (known.validation) return validationProblem(known.validation as never)
    switch (known.code) {
      case 'FST_ERR_CTP_BODY_TOO_LARGE':
        return new Problem(
          413,
          'Payload Too Large',
          `The body is larger than ${String(request.routeOptions.bodyLimit ?? bounds.body)} bytes.`,
        )
      case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
        return new Problem(415, 'Unsupported Media Type', 'Send the body as JSON, with Content-Type: application/json.')
      case 'FST_ERR_BAD_URL':
        return badRequest('The address holds a malformed percent escape.')
      case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
        return badRequest('The body is not as long as Content-Length says.')
      case 'FST_ERR_REOPENED_CLOSE_SERVER':
      case 'FST_ERR_CLOSING':
        return unavailable('The server is shutting down. Try again in a moment.')
    }
    if (known.statusCode === 400)
      return badRequest(
        `The body is not valid JSON: ${known.message.replace(/^Body is not valid JSON but content-type is set to .*$/, 'it can not be parsed')}.`,
      )
    if (known.statusCode === 503) return unavailable('The server is shutting down. Try again in a moment.')
    if (needs.storage(error)) {
      return unavailable('Storage does not answer. Try again in a moment.')
    }
    request.log.error(
      { reqId: request.id, err: error, method: request.method, url: request.routeOptions.url },
      'defect',
    )
    return new Problem(
      500,
      'Internal Server Error',
      `Something went wrong here. The log has it under request id ${request.id}.`,
    )
  }
  fastify.setErrorHandler(async (error: FastifyError, request, reply) => {
    const problem = problemOf(error, request)
    if (/^FST_ERR_CTP_/.test(error.code ?? '')) await readOut(request.raw)
    const { endpoint } = request
    if (problem.status === 401 || problem.status === 403 || problem.status === 429)
      needs.security.note({
        status: problem.status,
        ip: addressOf(request),
        method: request.method,
        path: endpoint ? `${prefix}${endpoint.path}` : (request.routeOptions.url ?? '-'),
        user: typedName(request.body),
      })
    if (problem.status === 403 && endpoint && endpoint.access !== 'public' && changing.has(endpoint.method))
      if (request.actor && request.actor.kind !== 'anonymous')
        await needs.refused(request.actor, {
          endpoint: nameOf(endpoint),
          path: request.url.split('?')[0] ?? '',
          reason: problem.message,
        })
    return reply
      .status(problem.status)
      .headers(problem.headers)
      .header('cache-control', 'no-store')
      .type('application/json; charset=utf-8')
      .serializer((body: unknown) => JSON.stringify(body))
      .send(problem.body)
  })
  fastify.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const page = (request.method === 'GET' || request.method === 'HEAD') && !ours.test(path)
    if (page && fallback) return fallback(reply)
    // Looking for paths costs as much as asking for one that exists.
    await take(reply, anywhere, addressKey(addressOf(request)))
    const allow = [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
    const problem =
      allow.length > 0
        ? new Problem(
            405,
            'Method Not Allowed',
            `${request.method} is not for this path. It takes ${allow.join(', ')}.`,
            { headers: { allow: allow.join(', ') } },
          )
        : notFound(`There is nothing at ${path.slice(0, 200)}.`)
    return reply
      .status(problem.status)
      .headers(problem.headers)
      .type('application/json; charset=utf-8')
      .send(problem.body)
  })

  const settled = async <T>(answered: T | Promise<T>): Promise<T> => {
    const answer = await answered
    await needs.settle()
    return answer
  }

  return {
    fastify,
    identify,
    cookiesOf,
    checkOrigin,
    mounted,
    fallback(answer) {
      fallback = answer
    },
    serve(endpoint, handler) {
      const path = `${prefix}${endpoint.path}`
      mounted.push(endpoint)
      const produces = [endpoint.produces ?? 'application/json'].flat()
      // Whoever changed something may ask the next process for it. What hosts report is too much for that, and nobody waits.
      const settles = changing.has(endpoint.method) && (endpoint.access !== 'agent' || endpoint.method === 'PUT')
      const json = produces.includes('application/json') && endpoint.status !== 302
      fastify.route({
        method: endpoint.method,
        url: path.replace(/\{(\w+)\}/g, ':$1'),
        config: { endpoint },
        // A hook of the route's own: looking up what was asked for costs more than most of what follows.
        onRequest: (request, reply, done) => {
          try {
            const waits = admit(request, reply, endpoint)
            if (waits instanceof Promise) waits.then(() => done(), done)
            else done()
          } catch (error) {
            done(error as Error)
          }
        },
        bodyLimit: endpoint.bodyLimit ?? bounds.body,
        schema: {
          ...(endpoint.params ? { params: endpoint.params } : {}),
          querystring: endpoint.query ?? empty,
          ...(endpoint.method === 'GET' ? {} : { body: endpoint.body ?? (endpoint.lenient ? {} : empty) }),
          ...(json ? { response: { [endpoint.status]: serialised(endpoint.reply, produces) } } : {}),
        },
        handler: (request, reply) => {
          reply.status(endpoint.status)
          if (json) reply.header('cache-control', 'no-store')
          const answered = handler({
            actor: request.actor as never,
            params: request.params as never,
            query: request.query as never,
            body: request.body as never,
            request,
            reply,
          })
          return settles ? settled(answered) : Promise.resolve(answered)
        },
      })
    },
  }
}

/**
 * The reply's shape for the serialiser. It picks the branch of a union that fits, and a branch that admits nothing else
 * would fit no object with one field more: there, as elsewhere, what is not in the shape is left out.
 */
const serialised = (reply: Endpoint['reply'], produces: readonly ContentType[]): object => {
  const schema = 'anyOf' in reply ? open(reply) : reply
  return produces.length === 1 ? schema : { content: { 'application/json': { schema } } }
}
const open = (schema: unknown): object =>
  Array.isArray(schema)
    ? schema.map(part => (isObject(part) ? open(part) : part))
    : Object.fromEntries(
        Object.entries(schema as object)
          .filter(([key, value]) => key !== 'additionalProperties' || value !== false)
          .map(([key, value]): [string, unknown] => [key, isObject(value) ? open(value) : value]),
      )
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
