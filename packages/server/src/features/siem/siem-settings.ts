import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { allSiemTypes } from '@stockade/contract'
import type { siem as contract } from '@stockade/contract'
import { keysOf } from '@stockade/contract/records.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import type { Author } from '../../core/author.ts'
import { hasControls, isHost } from '../../core/checks.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { invalid } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Change, Events } from '../../events/events.ts'
import type { Reader } from '../../events/reader.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { boundTarget } from '../settings/bound.ts'
import type { SettingName, Settings, SettingsService } from '../settings/settings.service.ts'
import { wayOf } from './destination.ts'
import type { Destination } from './destination.ts'
import { forgetWritten, saveState } from './siem.store.ts'

type SettingsChange = { -readonly [K in keyof contract.SiemSettings]?: contract.SiemSettings[K] } & {
  token?: string | null
}

export interface SiemSettingsService {
  settings(): contract.SiemSettings
  /** Answers whether anything changed. @throws Problem 400 naming the field */
  update(author: Author, change: Omit<SettingsChange, 'token_set'>): Promise<boolean>
}

const fields = [
  'enabled',
  'format',
  'host',
  'port',
  'protocol',
  'tls_enabled',
  'framing',
  'tls_verify',
  'ca_cert',
  'path',
  'events',
  'min_severity',
  'batch_size',
  'flush_interval',
] as const satisfies readonly (keyof contract.SiemSettings)[]
/** What a token is bound to. */
const bound = ['host', 'port', 'protocol', 'tls_enabled', 'tls_verify', 'ca_cert'] as const
/** A change of one of these is another target. */
const ofTarget = [
  'format',
  'host',
  'port',
  'protocol',
  'framing',
  'tls_enabled',
  'tls_verify',
  'ca_cert',
  'path',
  'token',
]

export const createSiemSettings = (needs: {
  clock: Clock
  events: Events
  settings: SettingsService
  secrets: Pick<Secrets, 'seal'>
  outgoing: Pick<Outgoing, 'reach'>
  destination: Pick<Destination, 'token'>
  /** The place of forwarding in the stream of events. */
  reader: Pick<Reader, 'skip'>
  /** Queues what happened so far. */
  collect: () => Promise<void>
}): SiemSettingsService => {
  const { clock, events, settings, secrets, outgoing, reader, collect } = needs
  const { token } = needs.destination
  const get = settings.get

  const check = async (change: Omit<SettingsChange, 'token_set'>) => {
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
    const way = wayOf(of('format'), of('protocol'), of('tls_enabled'))
    if ('words' in way) throw invalid(way.field, way.words)
  }
  const valuesOf = (change: Omit<SettingsChange, 'token_set'>): Partial<Settings> => {
    const values: Record<string, unknown> = {}
    for (const name of fields) if (change[name] !== undefined) values[`siem.${name}`] = change[name]
    if (change.events) values['siem.events'] = keysOf(allSiemTypes).filter(type => change.events?.includes(type))
    if (change.token !== undefined) {
      const newToken = change.token === '' ? null : change.token
      const same = newToken !== null && token() === newToken
      values['siem.token'] = newToken === null ? null : same ? get('siem.token') : secrets.seal(newToken, 'siem.token')
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

  /** As the audit log may show it. */
  const maskedValue = (name: SettingName, value: unknown) => {
    if (name === 'siem.token') return value === null ? null : '***'
    return name === 'siem.ca_cert' && typeof value === 'string' ? `SHA-256 ${sha256(value)}` : value
  }
  /** What follows for the queue. */
  const applyToQueue = async (change: Change, changed: Partial<Settings>, now: number) => {
    const isTurnedOn = changed['siem.enabled']
    if (isTurnedOn === true) {
      // What happened while it was off is not forwarded.
      await reader.skip(change)
      await saveState(change.sql, { since: now, off_at: null, draining: 0 })
    }
    if (isTurnedOn === false) await saveState(change.sql, { off_at: now, draining: 1, connected: 0 })
    const fresh = { attempts: 0, retry_at: 0, last_error: null, failing_since: null }
    if (keysOf(changed).some(name => ofTarget.includes(name.slice('siem.'.length)))) {
      // What was written to the target before was for that one.
      await forgetWritten(change.sql, Number.MAX_SAFE_INTEGER)
      await saveState(change.sql, { ...fresh, connected: 0, stream_open: 0 })
    } else await saveState(change.sql, fresh)
  }
  const apply = async (change: Change, author: Author, values: Partial<Settings>, names: readonly SettingName[]) => {
    const now = clock()
    const changed: Partial<Settings> = Object.fromEntries(names.map(name => [name, values[name]]))
    await settings.set(change, changed, now)
    await applyToQueue(change, changed, now)
    for (const name of names) {
      if (name === 'siem.token_target') continue
      const data = { field: name, old_value: maskedValue(name, get(name)), new_value: maskedValue(name, values[name]) }
      await change.record({ name: 'siem.update', author, data })
    }
  }
  return {
    settings: () => ({
      enabled: get('siem.enabled'),
      format: get('siem.format'),
      host: get('siem.host'),
      port: get('siem.port'),
      protocol: get('siem.protocol'),
      tls_enabled: get('siem.tls_enabled'),
      framing: get('siem.framing'),
      tls_verify: get('siem.tls_verify'),
      ca_cert: get('siem.ca_cert'),
      path: get('siem.path'),
      events: [...get('siem.events')],
      min_severity: get('siem.min_severity'),
      batch_size: get('siem.batch_size'),
      flush_interval: get('siem.flush_interval'),
      token_set: get('siem.token') !== null,
    }),
    async update(author, given) {
      // A token is for the host that it was entered for, and goes with it.
      const change = given.host === null && given.token === undefined ? { ...given, token: null } : given
      await check(change)
      const values = valuesOf(change)
      const names = keysOf(values).filter(name => JSON.stringify(values[name]) !== JSON.stringify(get(name)))
      if (names.length === 0) return false
      // What happened so far goes by the settings so far.
      await collect()
      await events.change(change => apply(change, author, values, names))
      await settings.reload()
      return true
    },
  }
}

const isCertificates = (text: string): boolean => {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? []
  return (
    blocks.length > 0 &&
    blocks.every(block => {
      return readOr(
        false,
        () => new X509Certificate(block) instanceof X509Certificate && block.startsWith('-----BEGIN CERTIFICATE-----'),
      )
    })
  )
}
