import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { FastifyBaseLogger } from 'fastify'
import { service } from '@stockade/contract'
import { system } from './core/author.ts'
import { webAddress } from './core/checks.ts'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'
import { day, hour, minute, second } from './core/clock.ts'
import { refusal, sees } from './core/actor.ts'
import type { Clock } from './core/clock.ts'
import { forbidden, unavailable } from './core/problem.ts'
import { createSecrets, secretKeyIn } from './core/secrets.ts'
import { createStorageWatch } from './core/storage.ts'
import type { Database } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { openPostgres } from './db/postgres.ts'
import { addRateCounts, forgetRateCounts } from './db/rate-counts.ts'
import type { RateCount } from './db/rate-counts.ts'
import type { ScanWatch } from './db/scans.ts'
import { createSlowScans } from './db/slow-scans.ts'
import { openSqlite } from './db/sqlite.ts'
import { createEvents } from './events/events.ts'
import { followEvents } from './events/tail.ts'
import type { Tail } from './events/tail.ts'
import { mountAccounts } from './features/accounts/accounts.routes.ts'
import { createAccounts } from './features/accounts/accounts.service.ts'
import { mountAgents } from './features/agents/agents.routes.ts'
import { createAgents } from './features/agents/agents.service.ts'
import { mountDownloads } from './features/agents/downloads.ts'
import { mountBans } from './features/bans/bans.routes.ts'
import { createBans, guardBan } from './features/bans/bans.service.ts'
import { mountCommands } from './features/commands/commands.routes.ts'
import { createCommands } from './features/commands/commands.service.ts'
import { mountDesired } from './features/desired/desired.routes.ts'
import { createDesired } from './features/desired/desired.service.ts'
import { mountDeployments } from './features/deployments/deployments.routes.ts'
import { createDeployments } from './features/deployments/deployments.service.ts'
import { createQuotas } from './features/bans/quotas.ts'
import { createBanStats } from './features/bans/stats.ts'
import { createTopBans } from './features/bans/top.ts'
import { withDemoPlaces } from './features/ipinfo/demo.ts'
import { createIpInfo } from './features/ipinfo/ipinfo.service.ts'
import { mountKeys } from './features/accounts/keys.routes.ts'
import { createKeys } from './features/keys/keys.service.ts'
import { BadLicence } from './features/license/document.ts'
import { mountAudit } from './features/audit/audit.routes.ts'
import { auditKeyIn, auditMemoryIn, createAuditChain } from './features/audit/chain.ts'
import { createAudit } from './features/audit/audit.service.ts'
import { createRefused } from './features/audit/refused.ts'
import { mountLicense } from './features/license/license.routes.ts'
import { createLicense } from './features/license/license.service.ts'
import { mountLive } from './features/live/live.ts'
import { createLookup } from './features/lookup/lookup.service.ts'
import { mountLookup } from './features/lookup/lookup.routes.ts'
import { createReverse } from './features/lookup/reverse.ts'
import { mountMfa } from './features/mfa/mfa.routes.ts'
import { createMfa } from './features/mfa/mfa.service.ts'
import { mountNotifications } from './features/notifications/notifications.routes.ts'
import { createNotifications } from './features/notifications/notifications.service.ts'
import { mountOauth } from './features/oauth/oauth.routes.ts'
import { createProviderSettings } from './features/oauth/providers.settings.ts'
import { createOauth } from './features/oauth/oauth.service.ts'
import { createPasskeys } from './features/passkeys/passkeys.service.ts'
import { mountPortknock } from './features/portknock/portknock.routes.ts'
import { createPortknock } from './features/portknock/portknock.service.ts'
import { mountPreferences } from './features/preferences/preferences.routes.ts'
import { createPreferences } from './features/preferences/preferences.service.ts'
import { mountReputation } from './features/reputation/reputation.routes.ts'
import { createReputation } from './features/reputation/reputation.service.ts'
import { mountForget } from './features/retention/forget.routes.ts'
import { createForget } from './features/retention/forget.ts'
import { createRetention } from './features/retention/retention.service.ts'
import { createRegistry } from './features/servers/registry.ts'
import { mountServers } from './features/servers/servers.routes.ts'
import { createServers, sealedOf } from './features/servers/servers.service.ts'
import { updateServer } from './features/servers/servers.store.ts'
import { mountSiem } from './features/siem/siem.routes.ts'
import { createSiem } from './features/siem/siem.service.ts'
import { mountPasskeys } from './features/sessions/passkeys.routes.ts'
import { createProofs } from './features/sessions/proof.ts'
import { mountSessions } from './features/sessions/sessions.routes.ts'
import { createSessions } from './features/sessions/sessions.service.ts'
import { removeSessionsBy } from './features/sessions/sessions.store.ts'
import { makeSetupCode } from './features/sessions/setup-code.ts'
import { createTokens } from './features/sessions/tokens.ts'
import { mountSettings } from './features/settings/settings.routes.ts'
import { createSettings } from './features/settings/settings.service.ts'
import { mountTemplates } from './features/templates/templates.routes.ts'
import { createTemplates } from './features/templates/templates.service.ts'
import { createThrottle } from './features/users/throttle.ts'
import { createUsers } from './features/users/users.service.ts'
import { usersOfProvider } from './features/users/users.store.ts'
import { guardWhitelisted } from './features/whitelist/guard.ts'
import { createMirror } from './features/whitelist/mirror.ts'
import { mountWhitelist } from './features/whitelist/whitelist.routes.ts'
import { createWhitelist } from './features/whitelist/whitelist.service.ts'
import { serveDashboard } from './http/dashboard.ts'
import { mountDocuments } from './http/documents.ts'
import { createHttp } from './http/http.ts'
import { createMetrics } from './http/metrics.ts'
import { createSecurityLog } from './http/security-log.ts'
import { createRateLimits } from './http/rate-limit.ts'
import { createJobs } from './jobs/jobs.ts'
import { createOutgoing } from './outgoing/outgoing.ts'

export const version = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version

export interface App {
  /** Where it listens, such as `http://127.0.0.1:8420`. */
  listen(): Promise<string>
  /** The one-time code for the first administrator; null when there is one. */
  readonly setupCode: string | null
  readonly baseUrl: () => string
  readonly log: FastifyBaseLogger
  /** Finishes what was accepted, then lets go of everything. */
  close(): Promise<void>
}

/**
 * The table of contents: every part, in the order in which it may use the ones before it.
 * `clock` is for tests that move the time.
 */
export const createApp = async (config: Config, clock: Clock = Date.now): Promise<App> => {
  const log: FastifyBaseLogger = pino({
    level: config.logLevel,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [
      'password',
      'token',
      'api_key',
      'authorization',
      'cookie',
      '*.password',
      '*.token',
      '*.authorization',
      '*.cookie',
    ],
  })
  const secrets = createSecrets(config.secretKey ?? secretKeyIn(config.dataDir))

  // Storage and the stream of events
  const storage = createStorageWatch(told => log.error(told, 'storage does not answer; requests get 503'))
  const slowScans = createSlowScans(told => log.warn(told, 'searches take long'))
  const watch: ScanWatch = told => {
    metrics.scanned(told.outcome, (told.waited + told.ran) / second, told.waited / second)
    slowScans.watch(told)
  }
  const postgres = config.databaseUrl ? await openPostgres(config.databaseUrl, storage, { watch }) : null
  const db: Database =
    postgres ??
    (await openSqlite(join(config.dataDir, 'stockade.sqlite3'), {
      watch,
      hear: ({ news, ...why }) =>
        log.warn(
          why,
          news === 'copying fails'
            ? 'the log of SQLite is not copied into its file and grows; commits go on'
            : 'the log of SQLite is copied into its file again',
        ),
    }))
  await migrate(db)
  let tail: Tail | null = null
  const settle = () => tail?.settle() ?? Promise.resolve()
  const events = createEvents(
    db,
    clock,
    error => log.error({ err: error }, 'a subscriber of events failed'),
    postgres ? () => tail?.nudge() : null,
  )
  const jobs = createJobs(db, randomUUID(), clock, (error, job) => {
    metrics.failed(job)
    if (!storage(error)) log.error({ err: error, job }, 'a job failed and will be tried again')
  })

  // Features
  const settings = await createSettings(db, clock, events)
  const known = { text: null as string | null, address: null as string | null }
  /** What was stored before it was checked as strictly as today counts no more. */
  const siteUrl = () => {
    const text = settings.get('service.site_url')
    if (text !== known.text) Object.assign(known, { text, address: text === null ? null : webAddress(text) })
    return known.address
  }
  const baseUrl = () => config.baseUrl ?? siteUrl() ?? `http://localhost:${config.port}`
  const places = createIpInfo({
    cityFile: config.geoipCity,
    asnFile: config.geoipAsn,
    dataDir: config.dataDir,
    log,
  })
  const ipinfo = config.demo ? withDemoPlaces(places) : places
  const users = createUsers(db, clock, settings)
  const throttle = createThrottle(db, clock)
  const mfa = createMfa({ db, clock, events, secrets, settings, throttle })
  const passkeys = createPasskeys({ db, clock, events, settings, baseUrl })
  const tokens = createTokens(secrets.tokens, clock)
  const sessions = createSessions({ db, clock, events, tokens, settings, users, mfa, passkeys, throttle })
  const proofs = createProofs({ db, clock, events, mfa, passkeys, throttle })
  const keys = await createKeys({ db, clock, events, users })
  const registry = await createRegistry(db, clock)
  const license = await createLicense({
    db,
    clock,
    events,
    publicKey: config.licensePublicKey,
    key: config.licenseKey,
    log,
  }).catch(async (error: unknown) => {
    if (!(error instanceof BadLicence)) throw error
    await db.close()
    throw new ConfigError(`STOCKADE_LICENSE_KEY is refused: ${error.message}`)
  })
  // Whoever came by a provider is out when it is turned off.
  settings.watch(async (change, before, after) => {
    for (const id of ['provider_a', 'provider_b'] as const) {
      if (!before[`oauth.${id}.enabled`] || after[`oauth.${id}.enabled`]) continue
      await removeSessionsBy(change.sql, id)
      for (const userId of await usersOfProvider(change.sql, id)) await keys.revokeOf(change, system, userId)
    }
  })
  events.subscribe(told => {
    if (told.some(({ name }) => name === 'settings.update'))
      keys.reload().catch((error: unknown) => log.error({ err: error }, 'keys could not be read again'))
  })
  const servers = createServers({
    db,
    clock,
    events,
    registry,
    keys,
    baseUrl,
    admit: license.admit,
    onRemove: async (change, serverNo) => {
      await commands.cancelAll(change, serverNo)
      await portknock.forget(change, serverNo)
    },
  })
  const accounts = createAccounts({
    db,
    clock,
    events,
    settings,
    users,
    mfa,
    passkeys,
    throttle,
    sessions,
    keys,
    servers,
    registry,
    baseUrl,
  })
  const oauth = createOauth({
    db,
    clock,
    events,
    secrets,
    settings,
    users,
    sessions,
    proofs,
    baseUrl,
    addresses: {
      providerA: config.providerAUrl,
      providerAApi: config.providerAApiUrl,
      providerBIssuer: config.providerBIssuer,
    },
    log,
  })
  const mirror = await createMirror(db, error => log.error({ err: error }, 'packing the whitelist failed'))
  const guards = { whitelisted: guardWhitelisted(mirror), own: guardBan(registry) }
  const guard: typeof guards.own = (actor, params) => {
    guards.whitelisted(params)
    guards.own(actor, params)
  }
  const templates = createTemplates({ db, clock, events })
  const commands = await createCommands({
    db,
    clock,
    events,
    config,
    servers,
    templates,
    guardBan: guard,
    sealedOf(serverNo) {
      const server = registry.byNo(serverNo)
      return server ? { hostname: server.row.hostname, sealed: sealedOf(server.row.sealed) } : null
    },
    site: passkeys.siteOrNull,
  })
  const deployments = createDeployments({ events, registry, templates, commands })
  const quotas = await createQuotas({
    db,
    clock,
    events,
    registry,
    limits: { reports: config.quotaRows, bytes: config.quotaBytes, endless: config.quotaEndless },
    fail(error) {
      if (!storage(error)) log.error({ err: error }, 'a used-up quota could not be told of')
    },
  })
  const bans = createBans({
    quotas,
    logLines: config.logLines,
    db,
    clock,
    events,
    registry,
    servers,
    commands,
    ipinfo,
    isListed: ip => mirror.covers(ip) !== null,
    guardBan: guard,
    onReported: count => metrics.bansReported(count),
    async onFirstBan(serverNo, at) {
      const row = await updateServer(db.write, serverNo, { first_ban_at: at })
      if (row) registry.put(row)
    },
  })
  const outgoing = createOutgoing({ ports: [config.port], baseUrl, database: databaseAddress(config.databaseUrl) })
  const reputation = createReputation({
    db,
    clock,
    events,
    settings,
    secrets,
    outgoing,
    registry,
    isListed: ip => mirror.covers(ip) !== null,
    url: config.reputationUrl,
    log,
  })
  const notifications = createNotifications({
    db,
    clock,
    settings,
    secrets,
    outgoing,
    registry,
    baseUrl,
    log,
  })
  const siem = createSiem({
    db,
    clock,
    events,
    settings,
    secrets,
    outgoing,
    bans,
    baseUrl,
    version,
    licensed: () => license.refusal('siem') === null,
    leads: jobs.leads,
    log,
  })
  const lookup = createLookup({
    db,
    clock,
    ipinfo,
    reputation,
    registry,
    reverse: createReverse(),
    entryFor: async ip => (await whitelist.check(ip.text)).matched_entry,
  })
  const banStats = createBanStats({ db, clock, servers })
  const whitelist = createWhitelist({
    db,
    clock,
    events,
    mirror,
    registry,
    lift: (author, lifts) =>
      commands.queueMany(
        author,
        lifts.map(({ serverNo, ip }) => ({ serverNo, type: 'unban-ip', params: { jail: '*', ip } })),
      ),
  })
  const shared = postgres !== null
  const { wake } = commands
  const portknock = await createPortknock({
    db,
    clock,
    events,
    registry,
    servers,
    quotas,
    wake,
    keptDays: config.eventRetentionDays,
  })
  const desired = await createDesired({ db, clock, events, registry, servers, mirror, knocks: portknock.hosts, wake })
  const agents = createAgents({
    clock,
    config,
    events,
    registry,
    keys,
    commands,
    bans,
    templates,
    desired,
    shared,
    settle,
  })

  // HTTP
  const metrics = createMetrics({
    servers: () => {
      const counts = { online: 0, offline: 0, pending: 0 }
      for (const { row } of registry.all()) counts[row.status]++
      return counts
    },
    live: () => live.count(),
    log: db.logBytes,
  })
  const refused = createRefused({
    events,
    clock,
    fail(error) {
      if (!storage(error)) log.error({ err: error }, 'a refusal could not be recorded')
    },
  })
  const limits = createRateLimits({ standard: config.rateLimit, sensitive: config.rateLimitSensitive })
  const http = await createHttp({
    log,
    limits,
    licence: license.refusal,
    credentials: { byKey: keys.byKey, byToken: sessions.byToken, byCookie: sessions.byCookie },
    trustedProxies: config.trustedProxies,
    httpsOnly: config.baseUrl?.startsWith('https:') ?? false,
    baseUrl,
    storage,
    settle,
    observe: metrics.observe,
    refused: refused.note,
    security: createSecurityLog({
      clock,
      file: config.securityLog,
      print: ['info', 'debug', 'trace'].includes(config.logLevel) ? line => void process.stderr.write(line) : null,
      fail: error => log.error({ err: error }, 'the security log can not be written'),
    }),
  })
  const { fastify } = http
  http.serve(service.health, () => ({ status: 'ok' as const, version }))
  http.serve(service.ready, async () => {
    if (closing) throw unavailable('The server is shutting down.')
    await db.ping().catch(() => {
      throw unavailable('Storage does not answer.')
    })
    return { status: 'ok' as const }
  })
  mountSessions(http, sessions, proofs, settings, {
    version,
    baseUrl,
    clock,
    demo: config.demo,
    standing: lookup.standing,
    serverCount: actor => registry.all().filter(({ row }) => sees(actor, row.no)).length,
  })
  mountMfa(http, mfa)
  mountPasskeys(http, passkeys, sessions, baseUrl)
  mountOauth(http, oauth, createProviderSettings({ settings, secrets, users }), baseUrl)
  mountSettings(http, settings, { baseUrl, clock })
  mountNotifications(http, notifications, settings)
  mountSiem(http, siem)
  mountLicense(http, license)
  mountAudit(http, createAudit({ db, clock }))
  mountKeys(http, keys, servers)
  mountAccounts(http, accounts, keys, servers)
  mountPreferences(http, createPreferences(db, clock))
  mountServers(http, servers)
  mountCommands(http, commands)
  mountTemplates(http, templates)
  mountDeployments(http, deployments)
  mountBans(http, bans, banStats, createTopBans({ db, clock, servers, ipinfo }))
  mountForget(http, createForget({ db, events, servers }))
  mountReputation(http, reputation, { settings, secrets })
  mountLookup(http, lookup)
  mountAgents(http, agents)
  mountWhitelist(http, whitelist)
  mountDesired(http, desired)
  mountPortknock(http, portknock)
  mountDownloads(fastify, baseUrl, servers.scriptFetched)
  // What another process changed is taken over before anybody is told of it
  let taking: Promise<unknown> = Promise.resolve()
  if (postgres)
    events.subscribe(told => {
      const fail = (error: unknown) =>
        log.error({ err: error }, 'taking over a change failed; the next minute repairs it')
      const servers = new Set(
        told.flatMap(({ name, serverNo }) => (name.startsWith('server.') && serverNo !== null ? [serverNo] : [])),
      )
      const waiting = new Set(
        told.flatMap(({ name, serverNo }) => (name.startsWith('command.') && serverNo !== null ? [serverNo] : [])),
      )
      const off = told.flatMap(({ name, data }) => (name === 'whitelist.remove' ? [Number(data.id)] : []))
      const any = (pattern: RegExp) => told.some(({ name }) => pattern.test(name))
      const work = [
        ...[...servers].map(no => registry.refresh(no)),
        ...[...waiting].map(no => commands.reload(no)),
        off.length > 0 || any(/^whitelist\.add$/) ? mirror.catchUp(off) : null,
        any(/^whitelist\.sync$/) ? desired.reload() : null,
        any(/^portknock\./) ? portknock.hosts.reload() : null,
        any(/^license\.activate$/) ? license.reload() : null,
        any(/^(key|server|user)\./) ? keys.reload() : null,
        any(/^settings\.|^siem\.update$|^user\.create$/) ? settings.reload() : null,
      ]
      taking = Promise.all([taking, ...work.map(part => part?.catch(fail))])
    })
  const live = await mountLive(http, {
    events: {
      subscribe: listener =>
        events.subscribe(told => {
          taking.then(() => listener(told)).catch((error: unknown) => log.error({ err: error }, 'the live feed failed'))
        }),
    },
    registry,
    bans,
    commands,
    renew: async request => {
      const actor = await http.identify(request, true)
      return actor.kind === 'anonymous' ? null : actor
    },
    log: error => log.error({ err: error }, 'the live feed failed'),
  })
  fastify.get('/metrics', async (request, reply) => {
    const forwarded = request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined
    const actor = await http.identify(request)
    const local = !forwarded && ['127.0.0.1', '::1'].includes(actor.ip)
    if (!local && refusal(actor, { access: 'read', scope: 'metrics', fleet: true } as never))
      throw forbidden('Metrics are for the host itself, or for a key with read permission.')
    return reply.type(metrics.contentType).send(await metrics.text())
  })
  mountDocuments(http, version, baseUrl)
  http.fallback(await serveDashboard(fastify, baseUrl))

  // What one process changed, the others take over
  if (postgres && config.databaseUrl) {
    tail = await followEvents(
      postgres,
      config.databaseUrl,
      events.dispatch,
      error => {
        if (!storage(error)) log.warn({ err: error }, 'following events failed; polling goes on')
      },
      () => taking,
    )
    const exchange = (counts: readonly RateCount[]) => addRateCounts(db.write, counts)
    jobs.add({ name: 'rate limits', every: second / 2, everywhere: true, run: () => limits.share(exchange) })
    jobs.add({ name: 'old rate limits', every: minute, run: () => forgetRateCounts(db.write, clock() - 5 * minute) })
    jobs.add({ name: 'sync', every: 2 * second, everywhere: true, run: registry.sync })
    jobs.add({
      name: 'reread',
      every: minute,
      everywhere: true,
      run: () =>
        Promise.all([
          commands.reload(),
          keys.reload(),
          settings.reload(),
          license.reload(),
          mirror.catchUp(),
          desired.reload(),
          portknock.hosts.reload(),
        ]).then(() => {}),
    })
  }

  // Jobs
  const retention = createRetention({
    db,
    clock,
    banDays: config.banRetentionDays,
    eventDays: config.eventRetentionDays,
    log,
  })
  jobs.add({ name: 'heartbeats', every: 5 * second, everywhere: true, run: registry.flush })
  jobs.add({
    name: 'last used',
    every: 20 * second,
    everywhere: true,
    run: () => Promise.all([keys.flush(), sessions.flush()]).then(() => {}),
  })
  jobs.add({ name: 'quotas', every: 2 * second, everywhere: true, run: quotas.flush })
  jobs.add({ name: 'bans without an end', every: minute, everywhere: true, run: quotas.recount })
  jobs.add({ name: 'old quotas', every: hour, run: quotas.sweep })
  jobs.add({ name: 'offline', every: 5 * second, run: agents.markOffline })
  jobs.add({ name: 'command time-outs', every: 5 * second, run: commands.expire })
  jobs.add({ name: 'whitelist expiry', every: second, run: whitelist.expire })
  jobs.add({ name: 'ban expiry', every: 5 * second, run: bans.expire })
  if (!postgres) jobs.add({ name: 'sums of bans', every: second, run: bans.sumUp })
  const chain = createAuditChain({
    db,
    clock,
    events,
    key: auditKeyIn(join(config.dataDir, 'audit.key')),
    memory: auditMemoryIn(join(config.dataDir, 'audit.last')),
  })
  jobs.add({ name: 'audit chain', every: second, run: chain.link })
  jobs.add({ name: 'audit checkpoint', every: minute, run: chain.checkpoint })
  jobs.add({
    name: 'retention',
    every: hour,
    // The chain is cut before what it stands for goes, and a little further on.
    run: () => chain.cut(clock() - config.eventRetentionDays * day + hour).then(retention.run),
  })
  jobs.add({ name: 'old knocks', every: hour, run: portknock.sweep })
  jobs.add({ name: 'licence clock', every: minute, run: license.observe })
  jobs.add({ name: 'reputation queue', every: 2 * second, run: reputation.collect })
  jobs.add({ name: 'reputation reports', every: 2 * second, run: reputation.send })
  jobs.add({ name: 'old reputation reports', every: hour, run: reputation.sweep })
  jobs.add({ name: 'notifications', every: second / 2, run: notifications.collect })
  jobs.add({ name: 'chat', every: second / 2, run: () => notifications.send('chat') })
  jobs.add({ name: 'e-mail', every: second / 2, run: () => notifications.send('email') })
  jobs.add({ name: 'daily summary', every: second, run: notifications.summarize })
  jobs.add({ name: 'SIEM queue', every: second / 4, run: siem.collect })
  jobs.add({ name: 'SIEM', every: second / 4, run: siem.send })
  jobs.add({ name: 'SIEM connection', every: 10 * second, everywhere: true, run: siem.yield })
  jobs.add({ name: 'old SIEM figures', every: hour, run: siem.sweep })
  jobs.add({ name: 'old notifications', every: hour, run: notifications.sweep })
  jobs.add({
    name: 'sessions',
    every: hour,
    run: () =>
      Promise.all([sessions.sweep(), mfa.sweep(), passkeys.sweep(), throttle.sweep(), oauth.sweep()]).then(() => {}),
  })

  // The first administrator
  let setupCode: string | null = null
  if (await users.none()) {
    if (config.admin) {
      const passwordHash = await users.preparePassword('STOCKADE_ADMIN_PASSWORD', config.admin.password)
      const admin = config.admin
      await events.change(change => users.create(change, system, { ...admin, passwordHash, role: 'Admin' }))
    } else setupCode = await makeSetupCode(db)
  }

  let closing = false
  fastify.addHook('preClose', async () => {
    closing = true
    commands.close()
    notifications.close()
    live.close()
    await siem.close()
  })
  return {
    setupCode,
    baseUrl,
    log,
    async listen() {
      const address = await fastify.listen({ host: config.host, port: config.port })
      jobs.start()
      return address
    },
    async close() {
      // A connection that was busy when closing began is idle once it is answered, and would keep the server open.
      const idle = setInterval(() => fastify.server.closeIdleConnections(), 50)
      await fastify.close().finally(() => clearInterval(idle))
      retention.close()
      await jobs.stop()
      await bans.drain()
      await Promise.all([registry.flush(), keys.flush(), sessions.flush(), quotas.flush()])
      await tail?.close()
      ipinfo.close()
      await db.close()
      slowScans.close()
    },
  }
}

/** Where PostgreSQL listens; null where the database is a file or a socket. */
const databaseAddress = (url: string | null) => {
  const parsed = url === null ? null : URL.parse(url)
  return parsed?.hostname ? { host: parsed.hostname, port: Number(parsed.port) || 5432 } : null
}
