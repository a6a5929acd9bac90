import type { Config } from '../../config.ts'
import { webAddress } from '../../core/checks.ts'
import type { SettingsService } from './settings.service.ts'

type Listening = Pick<Config, 'host' | 'port' | 'tls'>

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
const loopbacks: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])
const urlAt = (host: string, { port, tls }: Listening): string =>
  `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Where this machine itself finds the server. */
export const localUrl = (config: Listening): string =>
  urlAt(wildcards.has(config.host) || loopbacks.has(config.host) ? 'localhost' : config.host, config)

/** Where other machines may find a server without a public address: a few of the addresses that it listens on. */
export const urlsForOthers = (config: Listening, addresses: readonly string[]): string[] =>
  wildcards.has(config.host) ? addresses.slice(0, 3).map(address => urlAt(address, config)) : []

/** The public address of the server: from the environment, from the settings, or that of this machine. */
export const createBaseUrl = (
  config: Listening & Pick<Config, 'baseUrl'>,
  settings: Pick<SettingsService, 'get'>,
): (() => string) => {
  let checked: { readonly text: string | null; readonly address: string | null } = { text: null, address: null }
  return () => {
    if (config.baseUrl !== null) return config.baseUrl
    const text = settings.get('service.site_url')
    // An address that was stored before the rules became as strict as today does not count.
    if (text !== checked.text) checked = { text, address: text === null ? null : webAddress(text) }
    return checked.address ?? localUrl(config)
  }
}
