import { X509Certificate, createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { errorText } from '@stockade/contract/error-code.ts'
import type { FastifyBaseLogger } from 'fastify'
import { ConfigError } from '../config-reader.ts'
import { day, second } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { ownNames, renewOwn, selfSigned } from './self-signed.ts'
import type { TlsFiles } from './self-signed.ts'

export interface TlsPair {
  readonly cert: Buffer
  readonly key: Buffer
  /** Milliseconds since 1970. */
  readonly endsAt: number
  /** Signed by the server for as long as no authority has signed one. */
  readonly isProvisional: boolean
}

/** Says what is wrong in a sentence; null where it is fine. */
const faultOf = (cert: Buffer, key: Buffer, now: number): string | null => {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(cert)
  } catch {
    return 'the certificate is not a PEM certificate'
  }
  try {
    if (!certificate.checkPrivateKey(createPrivateKey(key))) return 'the key does not belong to the certificate'
    createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
  } catch {
    return 'the key is not a PEM private key without a passphrase'
  }
  return certificate.validToDate.getTime() < now ? `the certificate ended on ${certificate.validTo}` : null
}

/** Reads and checks both files. @throws Error with a sentence. */
const readPair = ({ certFile, keyFile }: Pick<TlsFiles, 'certFile' | 'keyFile'>, now: number): TlsPair => {
  const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)]
  const fault = faultOf(cert, key, now)
  if (fault !== null) throw new Error(fault)
  return { cert, key, endsAt: new X509Certificate(cert).validToDate.getTime(), isProvisional: false }
}

/**
 * What a server that fetches its certificate starts with: the one that it has, or, so that it can be reached at all, one of its own for
 * this run.
 */
export const openFetched = (files: TlsFiles, baseUrl: () => string, clock: Clock): TlsPair => {
  try {
    return readPair(files, clock())
  } catch {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const cert = Buffer.from(selfSigned(ownNames(baseUrl()), privateKey, clock()))
    const key = Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' }))
    return { cert, key, endsAt: Infinity, isProvisional: true }
  }
}

/** The pair that the server starts with. @throws ConfigError that names the files. */
export const openTls = (files: TlsFiles, baseUrl: () => string, clock: Clock): TlsPair => {
  try {
    if (files.isOwn) renewOwn(files, baseUrl(), clock)
    return readPair(files, clock())
  } catch (error) {
    const reason = errorText(error)
    throw new ConfigError(`the certificate ${files.certFile} and its key ${files.keyFile} can't be used: ${reason}.`)
  }
}

/** How long a pin is taken from memory. The server itself looks at its files as often. */
const pinLasts = 10 * second

/** Tells the pin (`sha256//…`) of the key that the server serves; null without TLS of its own, and before a first certificate was fetched. */
export const createServedPin = (files: Pick<TlsFiles, 'certFile'> | null, clock: Clock): (() => string | null) => {
  let pin: string | null = null
  let readAt = -Infinity
  return () => {
    if (files === null || Math.abs(clock() - readAt) < pinLasts) return pin
    readAt = clock()
    try {
      const { publicKey } = new X509Certificate(readFileSync(files.certFile))
      const spki = publicKey.export({ format: 'der', type: 'spki' })
      pin = `sha256//${createHash('sha256').update(spki).digest('base64')}`
    } catch {
      pin = null
    }
    return pin
  }
}

/** What a file is now, or null where it is missing. */
const versionOf = (file: string) =>
  stat(file).then(
    ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
    () => null,
  )
const warnsBefore = 14 * day

/**
 * Takes renewed files over while the server runs: connections that are open go on, new ones get the new certificate. A pair that
 * is half written or wrong is refused, and the one before keeps serving. Returns how often to look and what to do then.
 */
export const createTlsReload = (
  needs: TlsFiles & {
    readonly baseUrl: () => string
    readonly started: TlsPair
    readonly server: Pick<Server, 'setSecureContext'>
    readonly clock: Clock
    readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
    /** Set where the certificate is fetched: who fetches it tells what goes wrong. */
    readonly acme?: object | null
    /** Called when a pair of the files is served. */
    readonly taken?: () => void
  },
): (() => Promise<void>) => {
  const { certFile, keyFile, isOwn, baseUrl, server, clock, log, taken = () => {} } = needs
  let { endsAt } = needs.started
  // None of the files is served yet where it began with a provisional one.
  let readVersion: string | null = needs.started.isProvisional ? '' : null
  let refusedVersion: string | null = null
  let warnedAt = 0
  const take = (version: string) => {
    try {
      const pair = readPair({ certFile, keyFile }, clock())
      server.setSecureContext({ cert: pair.cert, key: pair.key, minVersion: 'TLSv1.2' })
      endsAt = pair.endsAt
      taken()
      log.info({ file: certFile, ends: new Date(endsAt).toISOString() }, 'the certificate was read again')
    } catch (error) {
      const reason = errorText(error)
      // Two files are rarely replaced at once: it is looked at again, and told once.
      if (refusedVersion !== version)
        log.warn({ certFile, keyFile, reason }, 'the certificate was not read, the one before is kept')
      refusedVersion = version
      return
    }
    readVersion = version
  }
  return async () => {
    if (isOwn) renewOwn(needs, baseUrl(), clock)
    const versions = await Promise.all([versionOf(certFile), versionOf(keyFile)])
    const version = versions.join(' ')
    if (readVersion === null) readVersion = version
    else if (version !== readVersion && !versions.includes(null)) take(version)
    const now = clock()
    if (!needs.acme && endsAt - now < warnsBefore && now - warnedAt > day) {
      warnedAt = now
      log.warn({ file: certFile, ends: new Date(endsAt).toISOString() }, 'the certificate ends soon: renew it')
    }
  }
}
