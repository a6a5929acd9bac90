import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { shapes, allSiemTypes, siemTypes } from '@stockade/contract'
import type { ReplyOf, SiemType, siem as contract } from '@stockade/contract'
import { keysOf } from '@stockade/contract/records.ts'
import { createSerial } from '../../core/serial.ts'
import type { Author } from '../../core/author.ts'
import { hasControls, isHost } from '../../core/checks.ts'
import { day, hour, iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256, uuid7 } from '../../core/ids.ts'
import { Problem, conflict, invalid } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { BansService } from '../bans/bans.service.ts'
import { boundTarget } from '../settings/bound.ts'
import type { SettingName, Settings, SettingsService } from '../settings/settings.service.ts'
import { createCanonical, siemTypeOf } from './canonical.ts'
import type { SiemEvent } from './event.ts'
import { datagramBytes, formatted, streamBytes } from './formats/formats.ts'
import type { Teller } from './formats/formats.ts'
import { createReplays } from './replay.ts'
import type { Replays } from './replay.ts'
import { createSender } from './sender.ts'
import type { Plan, Sender } from './sender.ts'
import {
  addCounts,
  addWaiting,
  askFlush,
  countWaiting,
  countsSince,
  dropOldest,
  forgetOld,
  forgetWaiting,
  forgetWritten,
  lastDeliveries,
  newestWaiting,
  readState,
  saveState,
  uptime,
} from './siem.store.ts'
import { Unreached } from './line.ts'
import type { Step, Target } from './line.ts'
import { tryOnce } from './transport.ts'

type Change = { -readonly [K in keyof contract.SiemSettings]?: contract.SiemSettings[K] } & { token?: string | null }

export interface SiemService {
  settings(): contract.SiemSettings
  /** Answers whether anything changed. @throws Problem 400 naming the field */
  update(author: Author, change: Omit<Change, 'token_set'>): Promise<boolean>
  /** Sends a test event, also while forwarding is off. @throws Problem 400 `Connection failed` */
  test(author: Author): Promise<ReplyOf<typeof contract.testSiem>>
  status(): Promise<ReplyOf<typeof contract.siemStatus>>
  queue(limit: number): Promise<ReplyOf<typeof contract.siemQueue>>
  /** @throws Problem 409 while forwarding is off */
  flush(author: Author): Promise<ReplyOf<typeof contract.flushSiem>>
  discard(author: Author): Promise<ReplyOf<typeof contract.discardSiemQueue>>
  deliveries(): Promise<ReplyOf<typeof contract.siemDeliveries>>
  stats(period: keyof typeof shapes.periods): Promise<ReplyOf<typeof contract.siemStats>>
  /** @throws Problem 409 while forwarding is off, or while too many run */
  replay: Replays['start']
  readReplay: Replays['read']
  /** Takes over what the stream of events brings. */
  collect(): Promise<void>
  /** Sends what is due. */
  send: Sender['run']
  yield: Sender['yield']
  sweep(): Promise<void>
  close: Sender['close']
}

const fields = [
  'enabled',
  'format',
  'host',
  'port',
  'protocol',
  'tls_enabled',
  'tls_verify',
  'ca_cert',
  'path',
  'events',
  'min_severity',
  'batch_size',
  'flush_interval',
] as const satisfies readonly (keyof contract.SiemSettings)[]
/** A change of one of these is another target. */
/** What a token is bound to. */
const bound = ['host', 'port', 'protocol', 'tls_enabled', 'tls_verify', 'ca_cert'] as const
const ofTarget = ['format', 'host', 'port', 'protocol', 'tls_enabled', 'tls_verify', 'ca_cert', 'path', 'token']
const defaultPaths = { collector: '/services/collector/event', json: '/' } as const
const isHttp = (format: contract.SiemSettings['format']): format is 'collector' | 'json' => format in defaultPaths

/** How events travel; a sentence where the settings don't go together. */
const wayOf = (
  format: contract.SiemSettings['format'],
  protocol: contract.SiemSettings['protocol'],
  tls: boolean,
): Pick<Target, 'way' | 'tls'> | { readonly field: string; readonly words: string } => {
  if (isHttp(format))
    return protocol === 'udp'
      ? { field: 'protocol', words: `${format} travels over http or https, not over udp.` }
      : { way: 'http', tls: tls || protocol === 'https' }
  if (protocol === 'http' || protocol === 'https')
    return { field: 'protocol', words: `${format} travels over tcp or udp, not over ${protocol}.` }
  if (protocol === 'udp' && tls)
    return { field: 'tls_enabled', words: 'tls_enabled needs tcp: there is no TLS over udp here.' }
  return { way: protocol === 'udp' ? 'udp' : 'stream', tls }
}

/** Longest wait for the sending process. */
const flushWait = 15 * second

export const createSiem = (needs: {
  db: Database
  clock: Clock
  events: Events
  settings: SettingsService
  secrets: Pick<Secrets, 'open' | 'seal' | 'digest'>
  outgoing: Outgoing
  bans: Pick<BansService, 'viewAt'>
  baseUrl: () => string
  version: string
  /** Whether a licence covers forwarding now. */
  licensed: () => boolean
  leads: Jobs['leads']
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}): SiemService => {
  const { db, clock, events, settings, secrets, outgoing } = needs
  const get = settings.get
  const reader = createReader(db, 'siem')
  const canonical = createCanonical({ secrets, bans: needs.bans })
  const replays = createReplays({ db, clock, events, canonical })

  const teller = (): Teller => {
    const site = URL.parse(needs.baseUrl())?.hostname.replace(/^\[|\]$/g, '') ?? 'localhost'
    return { host: site === 'localhost' ? hostname() : site, version: needs.version }
  }
  /** Null where there is none, or where it was sealed with another key (a restored copy without its secret). */
  const token = (): string | null => {
    const sealed = get('siem.token')
    if (sealed === null) return null
    try {
      return secrets.open(sealed, 'siem.token')
    } catch {
      return null
    }
  }
  /** Where events go as things are set; a sentence where they can't go anywhere. */
  const targetOf = (): Target | string => {
    const [format, host] = [get('siem.format'), get('siem.host')]
    const found = wayOf(format, get('siem.protocol'), get('siem.tls_enabled'))
    if ('words' in found) return found.words
    if (host === null) return 'No host is set.'
    if (get('siem.token') !== null && token() === null)
      return 'The token was stored with another secret key and can’t be read. Enter it again.'
    return {
      format,
      ...found,
      verify: get('siem.tls_verify'),
      ca: get('siem.ca_cert'),
      host,
      port: get('siem.port'),
      path: get('siem.path') ?? (isHttp(format) ? defaultPaths[format] : '/'),
      token: isHttp(format) ? token() : null,
    }
  }
  /** Why nothing can be sent as things are set; null where it can. */
  const hindrance = () => {
    const target = targetOf()
    return typeof target === 'string' ? target : null
  }
  const isOn = () => get('siem.enabled') && needs.licensed()
  const plan = (): Plan | null => {
    const target = isOn() ? targetOf() : ''
    if (typeof target === 'string') return null
    return { target, batchSize: get('siem.batch_size'), flushInterval: get('siem.flush_interval') * second }
  }

  /** It is off, and all that happened before is queued. */
  let drained = false
  const collectOnce = async (): Promise<void> => {
    // Without a licence the place in the stream stays: what happens meanwhile is forwarded when there is one again.
    if (!needs.licensed() || (drained && !get('siem.enabled'))) return
    const { since, off_at, draining } = await readState(db.read)
    if (!(await needs.leads())) return
    drained = !get('siem.enabled') && draining === 0
    if (drained) return
    for (let more = true; more;) {
      const read = await reader.read(1000)
      more = read.more
      const { events: found, position } = read
      const wanted = new Set<SiemType>(get('siem.events'))
      const rows = found.flatMap(({ id, name, at }) => {
        const type = siemTypeOf(name)
        if (type === null || !wanted.has(type) || allSiemTypes[type] < get('siem.min_severity')) return []
        return at < since || (off_at !== null && at > off_at) ? [] : [{ event_id: id, type, at }]
      })
      if (found.length > 0)
        await db.write.transaction().execute(async sql => {
          // Another process does it by now, from where this one was.
          if (!(await needs.leads(sql))) return void (more = false)
          const now = clock()
          await addWaiting(sql, rows, now)
          const dropped = rows.length === 0 ? [] : await dropOldest(sql)
          await addCounts(
            sql,
            dropped.map(({ type, counted }) => ({ type, failed: 1 - counted })),
            now,
          )
          if (dropped.length > 0)
            needs.log.warn({ dropped: dropped.length }, 'the SIEM queue is full; its oldest events go')
          await reader.keep({ sql }, position)
        })
    }
    if (draining === 0 || !(await needs.leads())) return
    await saveState(db.write, { draining: 0 })
    drained = !get('siem.enabled')
  }
  /** One at a time. Resolves after a run that began after the call. */
  const inTurn = createSerial()
  const collect = () => inTurn(collectOnce)
  const sender = createSender({
    db,
    clock,
    outgoing,
    canonical,
    teller,
    plan,
    collect,
    replays,
    leads: needs.leads,
    log: needs.log,
  })

  const check = async (change: Omit<Change, 'token_set'>) => {
    const of = <K extends (typeof fields)[number]>(name: K) =>
      (change[name] ?? get(`siem.${name}`)) as Settings[`siem.${K}`]
    const host = change.host
    if (host !== undefined && host !== null) {
      if (!isHost(host)) throw invalid('host', 'host must be a host name or an address, without a port.')
      if (isIP(host))
        await outgoing.reach(host, of('port')).catch((error: unknown) => {
          throw error instanceof Refused ? invalid('host', `host can't be used: ${error.message}`) : error
        })
    }
    if (typeof change.token === 'string' && hasControls(change.token))
      throw invalid('token', 'token must not hold control characters or line breaks.')
    if (typeof change.ca_cert === 'string' && !isCertificates(change.ca_cert))
      throw invalid('ca_cert', 'ca_cert must be PEM text of one or more certificates, and of nothing else.')
    const willHost = host === undefined ? get('siem.host') : host
    if (!of('enabled')) return
    if (willHost === null) throw invalid('host', 'Forwarding needs a host. Set one, or leave it disabled.')
    const found = wayOf(of('format'), of('protocol'), of('tls_enabled'))
    if ('words' in found) throw invalid(found.field, found.words)
  }
  const valuesOf = (change: Omit<Change, 'token_set'>): Partial<Settings> => {
    const values: Record<string, unknown> = {}
    for (const name of fields) if (change[name] !== undefined) values[`siem.${name}`] = change[name]
    if (change.events) values['siem.events'] = keysOf(allSiemTypes).filter(type => change.events?.includes(type))
    if (change.token !== undefined) {
      const given = change.token === '' ? null : change.token
      const same = given !== null && token() === given
      values['siem.token'] = given === null ? null : same ? get('siem.token') : secrets.seal(given, 'siem.token')
    }
    const parts = (of: <K extends (typeof bound)[number]>(name: K) => Settings[`siem.${K}`]) =>
      [of('host'), ...bound.slice(1).map(of)] as const
    values['siem.token_target'] = boundTarget(
      'token',
      { stored: get('siem.token') !== null, given: change.token, noted: get('siem.token_target') },
      parts(name => get(`siem.${name}`)),
      parts(name => (change[name] === undefined ? get(`siem.${name}`) : change[name]) as never),
    )
    return values
  }

  return {
    settings: () => ({
      enabled: get('siem.enabled'),
      format: get('siem.format'),
      host: get('siem.host'),
      port: get('siem.port'),
      protocol: get('siem.protocol'),
      tls_enabled: get('siem.tls_enabled'),
      tls_verify: get('siem.tls_verify'),
      ca_cert: get('siem.ca_cert'),
      path: get('siem.path'),
      events: [...get('siem.events')],
      min_severity: get('siem.min_severity'),
      batch_size: get('siem.batch_size'),
      flush_interval: get('siem.flush_interval'),
      token_set: get('siem.token') !== null,
    }),
    async update(author, change) {
      await check(change)
      const values = valuesOf(change)
      const names = keysOf(values).filter(name => JSON.stringify(values[name]) !== JSON.stringify(get(name)))
      if (names.length === 0) return false
      // What happened so far goes by the settings so far.
      await collect()
      const shown = (name: SettingName, value: unknown) => {
        if (name === 'siem.token') return value === null ? null : '***'
        return name === 'siem.ca_cert' && typeof value === 'string' ? `SHA-256 ${sha256(value)}` : value
      }
      await events.change(async change => {
        const now = clock()
        const changed = Object.fromEntries(names.map(name => [name, values[name]])) as Partial<Settings>
        await settings.set(change, changed, now)
        const turned = changed['siem.enabled']
        if (turned === true) {
          // What happened while it was off is not forwarded.
          await reader.skip(change)
          await saveState(change.sql, { since: now, off_at: null, draining: 0 })
        }
        if (turned === false) await saveState(change.sql, { off_at: now, draining: 1, connected: 0 })
        const fresh = { attempts: 0, retry_at: 0, last_error: null, failing_since: null }
        if (names.some(name => ofTarget.includes(name.slice('siem.'.length)))) {
          // What was written to the target before was for that one.
          await forgetWritten(change.sql, Number.MAX_SAFE_INTEGER)
          await saveState(change.sql, { ...fresh, connected: 0, stream_open: 0 })
        } else await saveState(change.sql, fresh)
        for (const name of names) {
          if (name === 'siem.token_target') continue
          const data = { field: name, old_value: shown(name, get(name)), new_value: shown(name, values[name]) }
          await change.record({ name: 'siem.update', author, data })
        }
      })
      await settings.reload()
      return true
    },
    async test(author) {
      const now = clock()
      const event: SiemEvent = {
        id: uuid7(now),
        type: 'test',
        severity: 1,
        timestamp: iso(now),
        message: `Test event of ${get('service.site_name')}, sent by ${author.name}`,
        server: null,
        actor: { username: author.name, ip: author.ip },
        data: {},
      }
      await events.change(change => change.record({ name: 'siem.test', author, data: { event_id: event.id } }))
      const steps: Step[] = []
      const fail = (message: string) => new Problem(400, 'Connection failed', message, { extra: { steps } })
      const target = targetOf()
      if (typeof target === 'string') throw fail(target)
      const message = formatted(target.format, event, teller(), target.way === 'udp' ? datagramBytes : streamBytes)
      try {
        await tryOnce(target, message, {
          outgoing,
          clock,
          note: step => steps.push(step),
          times: { answer: 10 * second },
        })
      } catch (error) {
        if (!(error instanceof Unreached)) throw error
        throw fail(`${failedStep[error.step]} failed: ${error.message.replace(/\.$/, '')}.`)
      }
      return { message: `The test event was sent. Look for ${event.id} there.`, event_id: event.id, steps }
    },
    async status() {
      const now = clock()
      const state = await readState(db.read)
      const today = await countsSince(db.read, now - (now % day))
      const sum = (name: 'sent' | 'failed') => today.reduce((total, row) => total + row[name], 0)
      return {
        enabled: get('siem.enabled'),
        connected: isOn() && state.connected === 1,
        queue_size: await countWaiting(db.read),
        events_sent_today: sum('sent'),
        events_failed_today: sum('failed'),
        last_event: isoOrNull(state.last_sent_at),
        last_error: state.last_error ?? (isOn() ? hindrance() : null),
        uptime_percent: await uptime(db.read, now),
      }
    },
    async queue(limit) {
      const { size, rows } = await newestWaiting(db.read, limit)
      return {
        queue_size: size,
        events: rows.map(({ event_id, type, at, retry_count }) => ({
          id: canonical.idOf({ id: event_id, at }),
          type: type as SiemType,
          created_at: iso(at),
          retry_count,
        })),
      }
    },
    async flush(author) {
      if (!isOn()) {
        if ((await countWaiting(db.read)) === 0)
          return { message: 'Nothing waits to be sent.', events_sent: 0, events_failed: 0 }
        throw conflict('Forwarding is off, and events wait. Enable it in the SIEM settings first.')
      }
      const why = hindrance()
      if (why !== null) throw conflict(why)
      const sentBefore = (await countsSince(db.read, 0)).reduce((sum, row) => sum + row.sent, 0)
      const asked = await events.change(async change => {
        await change.record({ name: 'siem.flush', author })
        return askFlush(change.sql)
      })
      const until = performance.now() + flushWait
      while (performance.now() < until) {
        // Another process may be the one that sends; then this does nothing.
        await sender.run()
        const { flush_done, flush_sent, flush_failed } = await readState(db.read)
        if (flush_done >= asked) {
          const left = flush_failed === 0 ? 'Nothing waits any more.' : `${flush_failed} still wait.`
          return {
            message: `${flush_sent} events were sent. ${left}`,
            events_sent: flush_sent,
            events_failed: flush_failed,
          }
        }
        await new Promise(resolve => setTimeout(resolve, 50))
      }
      const sent = (await countsSince(db.read, 0)).reduce((sum, row) => sum + row.sent, 0) - sentBefore
      const left = await countWaiting(db.read)
      return { message: 'Sending goes on.', events_sent: Math.max(0, sent), events_failed: left }
    },
    async discard(author) {
      const events_discarded = await events.change(async change => {
        await change.record({ name: 'siem.discard', author, data: { events: await countWaiting(change.sql) } })
        return forgetWaiting(change.sql)
      })
      return { message: `${events_discarded} events were discarded.`, events_discarded }
    },
    async deliveries() {
      const rows = await lastDeliveries(db.read)
      return {
        deliveries: rows.map(({ at, events, bytes, ok, status, error, next_try }) => ({
          at: iso(at),
          events,
          bytes,
          ok: ok === 1,
          status,
          error,
          next_try: isoOrNull(next_try),
        })),
      }
    },
    async stats(period) {
      const now = clock()
      const hours = shapes.periods[period] / 3600
      // Whole hours, the present one included.
      const rows = await countsSince(db.read, now - (now % hour) - (hours - 1) * hour)
      const by_type: Record<string, number> = Object.fromEntries(Object.keys(siemTypes).map(type => [type, 0]))
      const by_hour = Array.from({ length: 24 }, (_, hour) => ({ hour, count: 0 }))
      const totals = { sent: 0, failed: 0, retried: 0 }
      for (const row of rows) {
        const n = row.sent + row.failed
        by_type[row.type] = (by_type[row.type] ?? 0) + n
        const bucket = by_hour[new Date(row.hour).getUTCHours()]
        if (bucket) bucket.count += n
        totals.sent += row.sent
        totals.failed += row.failed
        totals.retried += row.retried
      }
      const total_events = totals.sent + totals.failed
      const success_rate = total_events === 0 ? null : Math.round((totals.sent / total_events) * 10_000) / 100
      return { period, total_events, by_type, by_hour, delivery_stats: { ...totals, success_rate } }
    },
    async replay(author, input) {
      if (input.from > input.to) throw invalid('from', 'from must not be later than to.')
      if (!isOn()) throw conflict('Forwarding is off. Enable it in the SIEM settings first.')
      return replays.start(author, input)
    },
    readReplay: replays.read,
    collect,
    send: sender.run,
    yield: sender.yield,
    sweep: () => forgetOld(db.write, clock()),
    close: sender.close,
  }
}

const failedStep: Record<Step['name'], string> = {
  resolve: 'Resolving the host',
  connect: 'Connecting',
  tls: 'TLS',
  write: 'Writing',
  answer: 'The answer',
}

const isCertificates = (text: string): boolean => {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? []
  return (
    blocks.length > 0 &&
    blocks.every(block => {
      try {
        return new X509Certificate(block) instanceof X509Certificate && block.startsWith('-----BEGIN CERTIFICATE-----')
      } catch {
        return false
      }
    })
  )
}
