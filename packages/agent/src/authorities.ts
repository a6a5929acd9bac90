import * as fs from 'node:fs'
import * as tls from 'node:tls'
import { readOr } from '@stockade/contract/untrusted.ts'

/** Where distributions keep the certificate authorities that the host trusts: Debian, Red Hat, SUSE, Alpine. */
const systemStores = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/**
 * The authorities for connections to the server: `ca` (PEM) alone if it is given, else the host's own store, so that an
 * authority that curl trusts on this host is trusted here too. Without a store: those that Node ships.
 * Parsed once, since a store holds about 150 certificates.
 */
export const trustedContext = (ca: string | null, stores: readonly string[] = systemStores): tls.SecureContext => {
  const store = ca ?? stores.map(textOf).find(text => text?.includes('BEGIN CERTIFICATE'))
  return tls.createSecureContext(store ? { ca: store } : {})
}

const textOf = (path: string): string | null => readOr(null, () => fs.readFileSync(path, 'utf8'))
