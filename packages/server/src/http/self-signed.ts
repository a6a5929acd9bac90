import {
  X509Certificate,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { ConfigError } from '../config-reader.ts'
import { day } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { parseIp } from '../core/ip.ts'
import { ownAddresses } from '../core/own-addresses.ts'
import { bytes, der, extension, namesExtension, oid, sequence } from './der.ts'

/*
 * A certificate that the server signs itself, for networks without an authority. Its key stays for ever: hosts are bound to it by a pin,
 * while the certificate is renewed and follows the server's names.
 */

/** Where the certificate lies, with its chain, and its private key; both PEM. `isOwn`: the server writes them itself. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly isOwn: boolean
}

/** `YYMMDDhhmmssZ`, for years before 2050. */
const utcTime = (time: number) =>
  der(0x17, Buffer.from(`${new Date(time).toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`))
const nameOf = (text: string) => sequence(der(0x31, sequence(oid.commonName, der(0x0c, Buffer.from(text)))))

const lasts = 397 * day
const renewsBefore = 30 * day

/** An X.509 certificate in PEM for DNS names and addresses; valid from an hour ago, for hosts whose clock is late. */
export const selfSigned = (names: readonly string[], key: KeyObject, now: number): string => {
  const algorithm = sequence(oid.ecdsaWithSha256)
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const name = nameOf('Stockade')
  const extensions = sequence(
    namesExtension(names),
    extension(oid.keyUsage, bytes('03020780')),
    extension(oid.extendedKeyUsage, sequence(oid.serverAuth)),
  )
  const content = sequence(
    der(0xa0, bytes('020102')),
    der(0x02, serial),
    algorithm,
    name,
    sequence(utcTime(now - day / 24), utcTime(now + lasts)),
    name,
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    der(0xa3, extensions),
  )
  const signature = sign('sha256', content, key)
  const whole = sequence(content, algorithm, der(0x03, Buffer.from([0]), signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${(whole.match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`
}

/** Machines with many networks, of containers for example, have more addresses than a certificate needs. */
const mostAddresses = 64

/** What clients call this machine: the host of the public address first, then its own names and addresses. */
export const ownNames = (baseUrl: string): readonly string[] => {
  const host = URL.parse(baseUrl)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const certificateHosts = [
    host,
    hostname(),
    'localhost',
    '127.0.0.1',
    '::1',
    ...ownAddresses().slice(0, mostAddresses),
  ]
  // A name of a machine may hold what no certificate can.
  return [...new Set(certificateHosts)].filter(name => parseIp(name) !== null || /^[A-Za-z0-9.-]{1,253}$/.test(name))
}

/** Writes a file whole or not at all. */
export const write = (file: string, text: string, mode: number): void => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, text, { mode })
  renameSync(`${file}.new`, file)
}
/** The server's own key, made on the first start. @throws ConfigError where the file is unusable. */
const ownKey = (keyFile: string): KeyObject => {
  if (!existsSync(keyFile)) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    write(keyFile, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), 0o600)
  }
  try {
    return createPrivateKey(readFileSync(keyFile))
  } catch (error) {
    const reason = codeOf(error) === 'EACCES' ? 'this user may not read it' : 'it is not a private key in PEM'
    throw new ConfigError(
      `${keyFile} can't be used: ${reason}. Restore it: hosts are bound to this key. Without it there is a new key, and hosts need its pin`,
    )
  }
}

/** `sha256//…`, as curl's `--pinnedpubkey` and the agent take it: the SHA-256 of the public key. */
export const pinOf = ({ keyFile }: TlsFiles): string => {
  const publicKey = createPublicKey(ownKey(keyFile)).export({ format: 'der', type: 'spki' })
  return `sha256//${createHash('sha256').update(publicKey).digest('base64')}`
}

export const namesIn = ({ subjectAltName = '' }: X509Certificate): ReadonlySet<string> =>
  new Set(
    subjectAltName.split(', ').map(entry => {
      const name = entry.replace(/^(DNS|IP Address):/, '')
      return parseIp(name)?.text ?? name
    }),
  )
const isGood = (certFile: string, key: KeyObject, names: readonly string[], now: number): boolean => {
  try {
    const certificate = new X509Certificate(readFileSync(certFile))
    const certificateNames = namesIn(certificate)
    return (
      certificate.checkPrivateKey(key) &&
      certificate.validToDate.getTime() - now > renewsBefore &&
      names.every(name => certificateNames.has(parseIp(name)?.text ?? name))
    )
  } catch {
    return false
  }
}
/** Writes the certificate where it is missing, ends within 30 days or lacks a name. */
export const renewOwn = ({ certFile, keyFile }: TlsFiles, baseUrl: string, clock: Clock): void => {
  const key = ownKey(keyFile)
  const names = ownNames(baseUrl)
  if (!isGood(certFile, key, names, clock())) write(certFile, selfSigned(names, key, clock()), 0o644)
}
