import { X509Certificate, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '@stockade/contract/error-code.ts'
import type { FastifyBaseLogger } from 'fastify'
import { recordOf } from '@stockade/contract/untrusted.ts'
import type { AcmeConfig } from '../config-tls.ts'
import { hour, minute } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { AcmeError, createAcmeClient } from './acme-client.ts'
import { namesIn, write } from './self-signed.ts'

/*
 * A certificate that the server fetches and renews: docs/adr/0032-acme.md. The certificate, its key, the account's key and what became of the
 * last try lie in the data folder.
 */

export interface AcmeState {
  /** Where certificate and account are from. */
  readonly directory: string
  readonly account: string | null
  readonly triedAt: number
  /** Tries in a row that failed. */
  readonly failures: number
  readonly error: string | null
}
interface Files {
  readonly certFile: string
  readonly keyFile: string
}
export interface Acme {
  /** What the authority wants to see below `/.well-known/acme-challenge/`; null for what was not announced. */
  readonly answer: (token: string) => string | null
  /** Fetches a certificate where one is due. Does not throw. */
  readonly run: () => Promise<void>
  readonly close: () => void
}

const stateFile = ({ certFile }: Pick<Files, 'certFile'>) => join(dirname(certFile), 'acme.json')
const nothing: AcmeState = { directory: '', account: null, triedAt: 0, failures: 0, error: null }
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
/** What became of the last try; what is unreadable counts as nothing. */
export const readAcmeState = (files: Pick<Files, 'certFile'>): AcmeState => {
  try {
    const read = recordOf(JSON.parse(readFileSync(stateFile(files), 'utf8')))
    const { directory, account, triedAt, failures, error }: Readonly<Record<string, unknown>> = { ...nothing, ...read }
    if (typeof directory !== 'string' || !isWhole(triedAt) || !isWhole(failures)) return nothing
    return { directory, account: textOrNull(account), triedAt, failures, error: textOrNull(error) }
  } catch {
    return nothing
  }
}

/** A P-256 key; a new one where the file has none. */
const keyIn = (file: string): KeyObject => {
  try {
    const key = createPrivateKey(readFileSync(file))
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    // Nothing is bound to it: a new one does as well.
  }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  write(file, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), 0o600)
  return privateKey
}

/** After two thirds of its life, and up to a 24th later: not all servers of an authority come at once. */
const renewalOf = ({ validFromDate, validToDate, serialNumber }: X509Certificate): number => {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  const part = Number.parseInt(serialNumber.slice(-4), 16) / 0x1_00_00
  return from + (to - from) * (2 / 3 + part / 24)
}
const isDue = ({ certFile, keyFile }: Files, names: readonly string[], now: number): boolean => {
  try {
    const certificate = new X509Certificate(readFileSync(certFile))
    const certificateNames = namesIn(certificate)
    const isFit = certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))
    return !isFit || now >= renewalOf(certificate) || !names.every(name => certificateNames.has(name))
  } catch {
    return true
  }
}

/** After a failure: 5 minutes, twice as long each time, 12 hours at most. Authorities lock out who asks more often. */
const pauseAfter = (failures: number): number =>
  failures === 0 ? 0 : Math.min(5 * minute * 2 ** (failures - 1), 12 * hour)

export const createAcme = (needs: {
  readonly config: AcmeConfig
  readonly files: Files
  readonly outgoing: Pick<Outgoing, 'request'>
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Called after the files were written. */
  readonly taken: () => Promise<void>
}): Acme => {
  const { config, files, outgoing, clock, log, taken } = needs
  const { directory, names, email, caFile } = config
  const challengeByToken = new Map<string, string>()
  const ending = new AbortController()
  let state = readAcmeState(files)
  if (state.directory !== directory) state = { ...nothing, directory }
  // An operator who restarts the server may have fixed the cause, so a start waits 5 minutes at most. A restart loop must not ask each time.
  let next = state.triedAt + Math.min(pauseAfter(state.failures), 5 * minute)
  let running: Promise<void> | null = null
  const keep = (change: Partial<AcmeState>) => {
    state = { ...state, ...change }
    write(stateFile(files), JSON.stringify(state), 0o600)
  }
  const fetchCertificate = async () => {
    const ca = caFile === null ? {} : { ca: readFileSync(caFile, 'utf8') }
    const client = createAcmeClient(outgoing, { directory, ...ca }, ending.signal)
    const accountKey = keyIn(join(dirname(files.certFile), 'acme-account.key'))
    const key = keyIn(files.keyFile)
    // Before the order: where nothing can be written, nothing is asked for.
    keep({ triedAt: clock() })
    // It answers with the account that the key has, so a lost address costs nothing.
    const url = await client.register(accountKey, email)
    keep({ account: url })
    const chain = await client.issue(names, key, { key: accountKey, url }, (token, text) =>
      challengeByToken.set(token, text),
    )
    const certificate = new X509Certificate(chain)
    if (!certificate.checkPrivateKey(key)) throw new AcmeError('the authority sent a certificate for another key')
    write(files.certFile, chain, 0o644)
    keep({ failures: 0, error: null })
    log.info({ names, ends: certificate.validToDate.toISOString(), authority: directory }, 'a certificate was fetched')
  }
  const fail = (error: unknown) => {
    const reason = errorText(error)
    const failures = state.failures + 1
    const pause = Math.max(pauseAfter(failures), error instanceof AcmeError ? error.retryAfter : 0)
    next = clock() + pause
    log.warn({ names, authority: directory, reason, next: new Date(next).toISOString() }, 'no certificate was fetched')
    try {
      keep({ failures, error: reason })
    } catch {
      // A full disk is what failed, perhaps; the pause holds without the file.
      state = { ...state, failures, error: reason }
    }
  }
  const once = async () => {
    try {
      await fetchCertificate()
      await taken()
    } catch (error) {
      if (!ending.signal.aborted) fail(error)
    } finally {
      challengeByToken.clear()
      running = null
    }
  }
  return {
    answer: token => challengeByToken.get(token) ?? null,
    run() {
      if (running) return running
      const now = clock()
      if (ending.signal.aborted || now < next || !isDue(files, names, now)) return Promise.resolve()
      running = once()
      return running
    },
    close: () => ending.abort(),
  }
}
