import { join, resolve } from 'node:path'
import { parseIp } from './core/ip.ts'
import type { Reader } from './config-reader.ts'

/** Certificates by ACME (RFC 8555). */
export interface AcmeConfig {
  readonly directory: string
  readonly names: readonly string[]
  readonly email: string | null
  /** PEM certificates by which the authority's own https is checked; null: those of the system. */
  readonly caFile: string | null
}
/** Where certificate and key lie. The server makes them itself where `isOwn`, and fetches the certificate where `acme` is given. */
export interface TlsConfig {
  readonly certFile: string
  readonly keyFile: string
  readonly isOwn: boolean
  readonly acme: AcmeConfig | null
}

const letsEncrypt = 'https://acme-v02.api.letsencrypt.org/directory'
const mostNames = 50
const acmeVariables = ['ACME_DIRECTORY', 'ACME_NAMES', 'ACME_EMAIL', 'ACME_CA'] as const
const isLabel = (label: string) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)

const isFetchable = (name: string): boolean =>
  !parseIp(name.replace(/^\[|\]$/g, '')) && name.length <= 253 && name.includes('.') && name.split('.').every(isLabel)

const readNames = ({ text, refuse }: Reader, baseUrl: string | null): readonly string[] => {
  const nameList = text('ACME_NAMES')
  const source = nameList === null ? 'BASE_URL' : 'ACME_NAMES'
  const host = baseUrl === null ? '' : new URL(baseUrl).hostname
  const names = (nameList ?? host).split(',').flatMap(part => part.trim().toLowerCase() || [])
  if (names.length === 0)
    return refuse('TLS', 'can be acme only where the name of this server is known: set STOCKADE_BASE_URL too.')
  if (names.length > mostNames) return refuse(source, `must hold at most ${mostNames} names.`)
  const odd = names.find(name => !isFetchable(name))
  return odd === undefined
    ? [...new Set(names)]
    : refuse(source, `must hold names that a certificate can be fetched for; "${odd}" is none.`)
}
const readAcme = (
  reader: Reader,
  { baseUrl, directory }: { readonly baseUrl: string | null; readonly directory: string | null },
): AcmeConfig => {
  const { text, refuse } = reader
  const names = readNames(reader, baseUrl)
  if (baseUrl !== null && !baseUrl.startsWith('https:'))
    return refuse('BASE_URL', `must begin with https:// where STOCKADE_TLS is acme, not "${baseUrl}".`)
  const email = text('ACME_EMAIL')
  if (email !== null && !/^[^\s@,?]{1,64}@[^\s@,?]{1,190}$/.test(email))
    return refuse('ACME_EMAIL', `must be one e-mail address, not "${email}".`)
  const caFile = text('ACME_CA')
  return { directory: directory ?? letsEncrypt, names, email, caFile: caFile === null ? null : resolve(caFile) }
}

const readFiles = (
  { refuse }: Reader,
  { certFile, keyFile }: { readonly certFile: string | null; readonly keyFile: string | null },
): TlsConfig =>
  certFile === null || keyFile === null
    ? refuse('TLS_CERT', 'and STOCKADE_TLS_KEY go together: set both for https, or none.')
    : { certFile: resolve(certFile), keyFile: resolve(keyFile), isOwn: false, acme: null }

/** `off`, `files` with the operator's certificate, `self` with one that the server signs itself, `acme` with one that it fetches. */
export const readTls = (
  reader: Reader,
  own: {
    readonly dataDir: string
    readonly baseUrl: string | null
    readonly directory: string | null
    readonly isShared: boolean
  },
): TlsConfig | null => {
  const { text, refuse } = reader
  const files = { certFile: text('TLS_CERT'), keyFile: text('TLS_KEY') }
  const hasFiles = files.certFile !== null || files.keyFile !== null
  const mode = text('TLS') ?? (hasFiles ? 'files' : 'off')
  const alone = mode === 'acme' ? undefined : acmeVariables.find(name => text(name) !== null)
  if (alone !== undefined) return refuse(alone, 'needs STOCKADE_TLS=acme.')
  if (mode === 'files') return readFiles(reader, files)
  if (mode !== 'off' && mode !== 'self' && mode !== 'acme')
    return refuse('TLS', `must be off, self, files or acme, not "${mode}".`)
  if (hasFiles) return refuse('TLS_CERT', `needs STOCKADE_TLS=files, not ${mode}.`)
  if (mode === 'off') return null
  if (own.isShared)
    return refuse('TLS', `can be ${mode} with SQLite only: several processes need one certificate. Use files.`)
  const at = (name: string) => join(own.dataDir, name)
  return mode === 'self'
    ? { certFile: at('tls.pem'), keyFile: at('tls.key'), isOwn: true, acme: null }
    : { certFile: at('acme.pem'), keyFile: at('acme.key'), isOwn: false, acme: readAcme(reader, own) }
}

/** An authority asks on port 80 of each name whether this server has it. */
const acmePort = 80
export const readHttpPort = ({ text, refuse }: Reader, tls: TlsConfig | null): number | null => {
  const portText = text('HTTP_PORT')
  if (portText === null) return tls?.acme ? acmePort : null
  if (!/^\d{1,5}$/.test(portText) || Number(portText) > 65_535)
    return refuse('HTTP_PORT', `must be a port from 0 to 65535, not "${portText}".`)
  return tls ? Number(portText) : refuse('HTTP_PORT', 'leads to https: it needs STOCKADE_TLS.')
}
