import type { BodyOf, siem } from '@stockade/contract'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { SecretDraft } from '../../kit/secret-draft.ts'
import type { useForm } from '../../kit/form.ts'
import { formTexts } from '../../kit/form.texts.ts'
import { readWhole } from '../settings/typed.ts'
import type { Format, SiemSettings } from './queries.ts'
import { siemTexts } from './siem.texts.ts'

/* The destination as its form holds it. Protocol and TLS are one choice there: not all of their pairs mean something. */

export const formats = ['syslog', 'cef', 'leef', 'json', 'collector'] as const satisfies readonly Format[]
export type Transport = 'tls' | 'tcp' | 'udp' | 'https' | 'http'

export interface Typed {
  readonly enabled: boolean
  readonly format: Format
  readonly host: string
  readonly port: string
  readonly transport: Transport
  /** A line feed after each message, in place of its length before it. */
  readonly lines: boolean
  readonly verify: boolean
  readonly ca: string
  readonly path: string
  readonly token: SecretDraft
  readonly events: SiemSettings['events']
  readonly minimum: number
  readonly batch: string
  readonly flush: string
}
export type DestinationForm = ReturnType<typeof useForm<Typed>>
type Body = BodyOf<typeof siem.updateSiemSettings>

export const isHttp = (format: Format): boolean => format === 'json' || format === 'collector'
export const transportsOf = (format: Format): readonly Transport[] =>
  isHttp(format) ? ['https', 'http'] : ['tcp', 'tls', 'udp']
export const isEncrypted = (transport: Transport): boolean => transport === 'tls' || transport === 'https'

export const transportOf = ({
  format,
  protocol,
  tls_enabled,
}: Pick<SiemSettings, 'format' | 'protocol' | 'tls_enabled'>): Transport => {
  if (isHttp(format)) return tls_enabled || protocol === 'https' ? 'https' : 'http'
  if (protocol === 'udp') return 'udp'
  return tls_enabled ? 'tls' : 'tcp'
}
const wires = {
  tls: { protocol: 'tcp', tls_enabled: true },
  tcp: { protocol: 'tcp', tls_enabled: false },
  udp: { protocol: 'udp', tls_enabled: false },
  https: { protocol: 'https', tls_enabled: true },
  http: { protocol: 'http', tls_enabled: false },
} as const

export const typedOf = (is: SiemSettings): Typed => ({
  enabled: is.enabled,
  format: is.format,
  host: is.host ?? '',
  port: String(is.port),
  transport: transportOf(is),
  lines: is.framing === 'newline',
  verify: is.tls_verify,
  ca: is.ca_cert ?? '',
  path: is.path ?? '',
  token: '',
  events: is.events,
  minimum: is.min_severity,
  batch: String(is.batch_size),
  flush: String(is.flush_interval),
})

/** The fields whose names differ in the API. */
const apiNames: Partial<Record<keyof Typed, string>> = {
  transport: 'protocol',
  lines: 'framing',
  verify: 'tls_verify',
  ca: 'ca_cert',
  minimum: 'min_severity',
  batch: 'batch_size',
  flush: 'flush_interval',
}
export const pathOf = (name: keyof Typed): string => apiNames[name] ?? name

/** The fields in words. */
export const fieldsOf = (is: SiemSettings) => {
  const t = textsOf(siemTexts)
  const { set, notSet } = textsOf(formTexts)
  return {
    enabled: t.enabled,
    format: { label: t.format, say: (format: Format) => t.formats[format] },
    host: t.host,
    port: t.port,
    transport: { label: t.transport, say: (transport: Transport) => t.transports[transport] },
    lines: t.lines,
    verify: t.verify,
    ca: { label: t.ca, say: (ca: string) => (ca.trim() ? set : notSet) },
    path: t.path,
    token: { label: t.token, isSet: is.token_set },
    events: { label: t.events, say: (events: readonly string[]) => t.eventsCount(events.length, 8) },
    minimum: t.minimum,
    batch: t.batch,
    flush: t.flush,
  }
}

const usualPorts = { tls: '6514', tcp: '514', udp: '514', https: '443', http: '80' } as const
/** Where receivers of that kind listen by custom. */
const usualPort = (format: Format, transport: Transport): string => {
  if (format === 'collector') return '8088'
  return usualPorts[transport]
}
/** A default port changes together with the kind of target. */
const portFor = (typed: Typed, format: Format, transport: Transport): string =>
  typed.port.trim() === usualPort(typed.format, typed.transport) ? usualPort(format, transport) : typed.port

/** Another format; the way there follows where the old one does not fit. */
export const chooseFormat = (typed: Typed, format: Format): Partial<Typed> => {
  const [first] = transportsOf(format)
  const transport = transportsOf(format).includes(typed.transport) ? typed.transport : (first ?? 'tcp')
  // A port of syslog is none of the web's, also where somebody chose it.
  const port =
    isHttp(format) === isHttp(typed.format) ? portFor(typed, format, transport) : usualPort(format, transport)
  return { format, transport, port }
}
export const chooseTransport = (typed: Typed, transport: Transport): Partial<Typed> => ({
  transport,
  port: portFor(typed, typed.format, transport),
})

/** A whole address that is put into the field of the host goes to the fields that it is made of. */
export const typeHost = (typed: Typed, text: string): Partial<Typed> => {
  const match = /^\s*([a-z]+):\/\/(\[[\da-f:.]+\]|[^/:\s]+)(?::(\d{1,5}))?(\/\S*)?\s*$/i.exec(text)
  const transport = transportsOf(typed.format).find(name => name === match?.[1]?.toLowerCase())
  if (!match || transport === undefined) return { host: text }
  const path = match[4] === '/' ? undefined : match[4]
  return {
    host: (match[2] ?? '').replace(/^\[|\]$/g, ''),
    transport,
    port: match[3] ?? (isHttp(typed.format) ? usualPorts[transport] : typed.port),
    ...(isHttp(typed.format) && path ? { path } : {}),
  }
}

/** Whether the token that is kept may go to the host that is typed. */
const isOfOtherHost = (typed: Typed, is: SiemSettings): boolean =>
  is.token_set && is.host !== null && typed.host.trim() !== is.host && typed.token === ''

/** What has to be mended before it can be saved, by field. */
export const problemsOf = (typed: Typed, is: SiemSettings): Partial<Record<keyof Typed, string>> => {
  const t = textsOf(siemTexts).wrong
  const problems: Partial<Record<keyof Typed, string>> = {}
  const host = typed.host.trim()
  if (host === '' && typed.enabled) problems.host = t.noHost
  else if (/[/\s]/.test(host)) problems.host = t.host
  if (readWhole(typed.port, 1, 65_535) === null) problems.port = t.port
  if (readWhole(typed.batch, 1, 1000) === null) problems.batch = t.batch
  if (readWhole(typed.flush, 1, 3600) === null) problems.flush = t.flush
  if (isHttp(typed.format)) {
    if (typed.path.trim() !== '' && !/^\/[!-~]*$/.test(typed.path.trim())) problems.path = t.path
    if (isOfOtherHost(typed, is)) problems.token = t.token
  }
  if (isEncrypted(typed.transport) && typed.ca.trim() !== '' && !/-----BEGIN CERTIFICATE-----/.test(typed.ca))
    problems.ca = t.ca
  return problems
}

/** Whether saving takes the token away, because it is of another host and this format needs none. */
export const losesToken = (typed: Typed, is: SiemSettings): boolean => !isHttp(typed.format) && isOfOtherHost(typed, is)

/** What to send: only what changed. */
// oxlint-disable-next-line complexity -- one condition for each field that may have changed
export const changeOf = (typed: Typed, changed: ReadonlySet<string>, is: SiemSettings): Body => {
  const number = (name: 'port' | 'batch' | 'flush', most: number) =>
    changed.has(name) ? readWhole(typed[name], 1, most) : null
  const [port, batch, flush] = [number('port', 65_535), number('batch', 1000), number('flush', 3600)]
  const wired = changed.has('format') || changed.has('transport') || changed.has('enabled')
  return {
    ...(changed.has('enabled') ? { enabled: typed.enabled } : {}),
    ...(changed.has('format') ? { format: typed.format } : {}),
    ...(changed.has('host') ? { host: typed.host.trim() || null } : {}),
    ...(port === null ? {} : { port }),
    ...(wired ? wires[typed.transport] : {}),
    ...(changed.has('lines') ? { framing: typed.lines ? 'newline' : 'octet-counting' } : {}),
    ...(changed.has('verify') ? { tls_verify: typed.verify } : {}),
    ...(changed.has('ca') ? { ca_cert: typed.ca.trim() || null } : {}),
    ...(changed.has('path') ? { path: typed.path.trim() || null } : {}),
    ...(changed.has('token') ? { token: typed.token } : losesToken(typed, is) ? { token: null } : {}),
    ...(changed.has('events') ? { events: [...typed.events] } : {}),
    ...(changed.has('minimum') ? { min_severity: typed.minimum } : {}),
    ...(batch === null ? {} : { batch_size: batch }),
    ...(flush === null ? {} : { flush_interval: flush }),
  }
}
