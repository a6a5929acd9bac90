import type { siem as contract } from '@stockade/contract'
import { readOr } from '@stockade/contract/untrusted.ts'
import { second } from '../../core/clock.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Target } from './line.ts'
import type { Plan } from './plan.ts'

const defaultPaths = { collector: '/services/collector/event', json: '/' } as const
const isHttp = (format: contract.SiemSettings['format']): format is 'collector' | 'json' => format in defaultPaths

/** How events travel; a sentence where the settings don't go together. */
export const wayOf = (
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

/** Where events go, as things are set now. */
export interface Destination {
  /** Null where there is none, or where it was sealed with another key (a restored copy without its secret). */
  token(): string | null
  /** A sentence where events can't go anywhere. */
  target(): Target | string
  /** Why nothing can be sent as things are set; null where it can. */
  hindrance(): string | null
  /** Whether events are forwarded: it is switched on, and a licence covers it. */
  isOn(): boolean
  /** Null while nothing is to be sent. */
  plan(): Plan | null
}

export const createDestination = (needs: {
  settings: Pick<SettingsService, 'get'>
  secrets: Pick<Secrets, 'open'>
  /** Whether a licence covers forwarding now. */
  licensed: () => boolean
}): Destination => {
  const { secrets } = needs
  const get = needs.settings.get

  const token = (): string | null => {
    const sealed = get('siem.token')
    if (sealed === null) return null
    return readOr(null, () => secrets.open(sealed, 'siem.token'))
  }
  const targetOf = (): Target | string => {
    const [format, host] = [get('siem.format'), get('siem.host')]
    const way = wayOf(format, get('siem.protocol'), get('siem.tls_enabled'))
    if ('words' in way) return way.words
    if (host === null) return 'No host is set.'
    if (get('siem.token') !== null && token() === null)
      return 'The token was stored with another secret key and can’t be read. Enter it again.'
    return {
      format,
      ...way,
      framing: get('siem.framing'),
      verify: get('siem.tls_verify'),
      ca: get('siem.ca_cert'),
      host,
      port: get('siem.port'),
      path: get('siem.path') ?? (isHttp(format) ? defaultPaths[format] : '/'),
      token: isHttp(format) ? token() : null,
    }
  }
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

  return { token, target: targetOf, hindrance, isOn, plan }
}
