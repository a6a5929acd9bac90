import { Server } from 'node:https'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { system } from '../core/author.ts'
import type { Clock } from '../core/clock.ts'
import { createOutput } from '../core/output.ts'
import { version } from '../core/places.ts'
import { makeSetupCode } from '../features/sessions/setup-code.store.ts'
import { closesIdle, listenBacklog } from '../http/connections.ts'
import { serveDashboard } from '../http/dashboard.ts'
import { mountDocuments } from '../http/documents.ts'
import { createHttp } from '../http/http.ts'
import { createRateLimits } from '../http/rate-limit.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { createSecurityLog } from '../http/security-log.ts'
import { openCertificate } from './certificate.ts'
import type { Certificate } from './certificate.ts'
import { buildFeatures } from './features.ts'
import { createFollowing } from './follow.ts'
import { openPlatform } from './platform.ts'
import type { Platform } from './platform.ts'
import { mountServiceRoutes } from './service-routes.ts'
import { shareDatabase } from './sharing.ts'

export interface App {
  /** Where it listens, such as `http://127.0.0.1:8420`. */
  listen(): Promise<string>
  /** The one-time code for the first administrator; null if there is an administrator. */
  readonly setupCode: string | null
  readonly baseUrl: () => string
  readonly log: FastifyBaseLogger
  /** Says that it is not ready any more, ends long polls and live feeds, and goes on answering until `close`. */
  drain(): void
  /** Finishes what was accepted, then releases everything. */
  close(): Promise<void>
}
type Features = Awaited<ReturnType<typeof buildFeatures>>

/** A browser that received it once refuses self-signed certificates of this name for good. */
const strictly =
  ({ isTrusted }: Certificate, baseUrl: () => string) =>
  () =>
    isTrusted() && baseUrl().startsWith('https:')

const openHttp = (
  { core }: Platform,
  features: Features,
  more: { readonly limits: RateLimits; readonly certificate: Certificate; readonly isDraining: () => boolean },
) => {
  const { config, clock, log, metrics } = core
  const { keys, sessions } = features
  return createHttp({
    ...more,
    tls: more.certificate.pair,
    log,
    isStrict: strictly(more.certificate, features.baseUrl),
    licence: features.license.refusal,
    quarantine: features.servers.refusalOfHost,
    credentials: { byKey: keys.byKey, byToken: sessions.byToken, byCookie: sessions.byCookie },
    trustedProxies: config.trustedProxies,
    httpsOnly: config.baseUrl?.startsWith('https:') ?? false,
    baseUrl: features.baseUrl,
    storage: core.isStorageError,
    settle: core.settle,
    observe: metrics.observe,
    refused: features.noteRefusal,
    security: createSecurityLog({
      clock,
      file: config.securityLog,
      print: ['info', 'debug', 'trace'].includes(config.logLevel) ? createOutput(process.stderr, () => '').write : null,
      fail: error => log.error({ err: error }, "the security log can't be written"),
    }),
  })
}

/** Creates the administrator that the environment names, or else a set-up code, if there is no user yet. */
const prepareFirstAdmin = async ({ core }: Platform, { users }: Features): Promise<string | null> => {
  const { admin } = core.config
  if (!(await users.none())) return null
  if (!admin) return makeSetupCode(core.db)
  const passwordHash = await users.preparePassword('STOCKADE_ADMIN_PASSWORD', admin.password)
  await core.events.change(change => users.create(change, system, { ...admin, passwordHash, role: 'Admin' }))
  return null
}

const assemble = async (platform: Platform): Promise<App> => {
  const { core, jobs } = platform
  const { config, log } = core
  let following: ReturnType<typeof createFollowing> | null = null
  const features = await buildFeatures(core, () => following?.taken() ?? Promise.resolve())
  const { built, baseUrl } = features
  following = createFollowing(built, error =>
    log.error({ err: error }, 'taking over a change of another process failed; it is tried again within a minute'),
  )
  // Before the live feed subscribes: it waits until changes are taken over.
  if (core.isShared) core.events.subscribe(following.take)

  const limits = createRateLimits({ standard: config.rateLimit, sensitive: config.rateLimitSensitive })
  const certificate = openCertificate(core, baseUrl)
  let isDraining = false
  const http = openHttp(platform, features, { limits, certificate, isDraining: () => isDraining })
  const { fastify } = http
  const untilClosed = closesIdle(fastify.server)
  mountServiceRoutes(http, { ...core, isDraining: () => isDraining })
  for (const feature of built) await feature.mount?.(http)
  mountDocuments(http, version, baseUrl)
  http.fallback(await serveDashboard(fastify, baseUrl, strictly(certificate, baseUrl)))
  const drain = () => {
    if (isDraining) return
    isDraining = true
    for (const feature of built) feature.drain?.()
  }
  fastify.addHook('preClose', async () => {
    drain()
    for (const feature of built) await feature.stop?.()
  })
  await shareDatabase(platform, following, limits)
  for (const { jobs: own = [] } of built) for (const job of own) jobs.add(job)
  if (fastify.server instanceof Server) for (const job of certificate.jobsFor(fastify.server)) jobs.add(job)
  const setupCode = await prepareFirstAdmin(platform, features)

  return {
    setupCode,
    baseUrl,
    log,
    drain,
    async listen() {
      const address = await fastify.listen({ host: config.host, port: config.port, backlog: listenBacklog })
      await certificate.start(address)
      jobs.start()
      return address
    },
    async close() {
      certificate.close()
      await untilClosed(fastify.close())
      await jobs.stop()
      for (const feature of built.toReversed()) await feature.close?.()
      await platform.close()
    },
  }
}

/** Builds the whole server. `clock` is for tests that move the time. */
export const createApp = async (config: Config, clock: Clock = Date.now): Promise<App> => {
  const platform = await openPlatform(config, clock)
  try {
    return await assemble(platform)
  } catch (error) {
    await platform.close()
    throw error
  }
}
