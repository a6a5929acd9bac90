import type { Config } from '../../config.ts'
import { webAddress } from '../../core/checks.ts'
import type { SettingsService } from './settings.service.ts'

/** Where this machine itself finds the server. */
export const localUrl = ({ port, tls }: Pick<Config, 'port' | 'tls'>): string =>
  `${tls ? 'https' : 'http'}://localhost:${port}`

/** The public address of the server: from the environment, from the settings, or that of this machine. */
export const createBaseUrl = (
  config: Pick<Config, 'baseUrl' | 'port' | 'tls'>,
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
