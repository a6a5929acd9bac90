import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { parseEnv } from 'node:util'
import { codeOf } from '@stockade/contract/error-code.ts'
import { Misuse } from './failure.ts'

/*
 * On the server's own host its settings say where it answers and with which certificate. The packages name the file of settings in
 * STOCKADE_SETTINGS; only root and the service may read it.
 */

const anywhere = new Set(['', '0.0.0.0', '::', 'localhost', '127.0.0.1', '::1'])

/** Null where there is no such file. @throws Misuse where this user may not read it */
const readPrivate = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new Misuse(
      `${file} can't be read by this user, and it says where the server of this host answers. Run this with sudo (--preserve-env=STOCKADE_API_KEY_FILE keeps your key), or give --url or STOCKADE_URL.`,
    )
  }
}

const ownUrl = (settings: NodeJS.Dict<string>, mode: string): string => {
  const { STOCKADE_HOST: host = '', STOCKADE_PORT: port = '8420', STOCKADE_BASE_URL: base } = settings
  // A certificate of an authority is for the public name.
  if (base && (mode === 'files' || mode === 'acme')) return base
  const path = URL.parse(base ?? '')?.pathname.replace(/\/+$/, '') ?? ''
  const name = anywhere.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${mode === 'off' ? 'http' : 'https'}://${name}:${port || '8420'}${path}`
}

/**
 * The address of the server that runs on this host; null where the settings of none are here. From then on this process trusts the certificate
 * that this server signed itself.
 */
export const urlOfOwnHost = (env: NodeJS.ProcessEnv): string | null => {
  const file = env.STOCKADE_SETTINGS
  const text = file ? readPrivate(file) : null
  if (text === null) return null
  const settings = parseEnv(text)
  const hasFiles = Boolean(settings.STOCKADE_TLS_CERT)
  const mode = settings.STOCKADE_TLS || (hasFiles ? 'files' : 'off')
  if (mode === 'self') {
    const certificate = readPrivate(join(settings.STOCKADE_DATA_DIR || 'data', 'tls.pem'))
    if (certificate !== null) setDefaultCACertificates([...getCACertificates('default'), certificate])
  }
  return ownUrl(settings, mode)
}
