import { randomBytes } from 'node:crypto'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { bounds } from '@stockade/contract/limits.ts'
import { createBasePath } from './base-path.ts'
import { boundConnections } from './connections.ts'
import { loggedPath, nameOf } from './request.ts'
import type { TlsPair } from './tls.ts'
import { answerBadAddress, answerBadRequest } from './unreadable.ts'

const plainHeaders = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const
const secureHeaders = { ...plainHeaders, 'strict-transport-security': 'max-age=31536000' } as const

/** Opens Fastify with our limits, headers on every reply, and metrics of every request. */
export const openFastify = (needs: {
  readonly log: FastifyBaseLogger
  readonly trustedProxies: readonly string[]
  readonly baseUrl: () => string
  /** Serves https with it; null: plain http. */
  readonly tls: TlsPair | null
  /** Whether browsers are told to use https only (HSTS). */
  readonly isStrict: () => boolean
  /** Whether each reply closes its connection, because the process is about to stop. */
  readonly isDraining: () => boolean
  readonly observe: (endpoint: string, status: number, seconds: number) => void
  /** How many files the process may open; without it as many as the system allows. */
  readonly files?: number
}): FastifyInstance => {
  const { log, trustedProxies, baseUrl, tls, isStrict } = needs
  const headersOfAll = () => (isStrict() ? secureHeaders : plainHeaders)
  const withoutBase = createBasePath(baseUrl)
  const origin = randomBytes(4).toString('hex')
  let requests = 0
  const fastify = Fastify({
    // Hide Fastify's info lines (one for each address of the host); operators only need its warnings.
    loggerInstance: log.level === 'info' ? log.child({}, { level: 'warn' }) : log,
    logController: new LogController({ disableRequestLogging: true }),
    ...(tls && { https: { cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' as const } }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: bounds.body,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    // A logger for each request costs more than finding the caller. Log lines about a request name it instead.
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
  // A client that sends a request's head drop by drop does not hold its connection for long.
  fastify.server.headersTimeout = 10_000
  const connections = boundConnections(fastify.server, log, needs.files)
  fastify.decorateRequest('endpoint', null)
  fastify.decorateRequest('actor', null)
  fastify.decorateRequest('byCookie', false)
  fastify.addHook('onRequest', (_, reply, done) => {
    reply.headers(headersOfAll())
    done()
  })
  // When the answer is sent, because a long poll that a drain ends began long before.
  fastify.addHook('onSend', ({ endpoint }, reply, payload, done) => {
    if (needs.isDraining() || connections.shouldClose(endpoint)) reply.header('connection', 'close')
    done(null, payload)
  })
  const isDebug = log.level === 'debug' || log.level === 'trace'
  fastify.addHook('onResponse', (request, reply, done) => {
    const { endpoint, id: reqId, method } = request
    const { statusCode: status, elapsedTime } = reply
    needs.observe(endpoint ? nameOf(endpoint) : 'other', status, elapsedTime / 1000)
    const ms = Math.round(elapsedTime)
    if (isDebug) request.log.debug({ reqId, method, url: loggedPath(request), status, ms }, 'answered')
    done()
  })
  return fastify
}
