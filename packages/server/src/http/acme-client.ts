import { createHash, createPublicKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { second } from '../core/clock.ts'
import type { Outgoing, OutgoingReply } from '../outgoing/outgoing.ts'
import { bytes, der, namesExtension, oid, sequence } from './der.ts'

/* The client's side of ACME (RFC 8555) with challenges by http (8.3): one account, one order at a time. */

/** An authority that refused or did not answer; the message is for operators. */
export class AcmeError extends Error {
  /** Milliseconds that the authority wants to be left alone. */
  readonly retryAfter: number
  constructor(message: string, retryAfter = 0) {
    super(message)
    this.retryAfter = retryAfter
  }
}
export interface Account {
  readonly key: KeyObject
  /** Its address at the authority; null before it is registered. */
  readonly url: string | null
}

interface Challenge {
  readonly type: string
  readonly url: string
  readonly token: string
  readonly error: unknown
}
interface Authorization {
  readonly status: string
  /** What is to be proved, in words. */
  readonly name: string
  readonly challenges: readonly Challenge[]
}
interface Order {
  readonly status: string
  readonly authorizations: readonly string[]
  readonly finalize: string
  readonly certificate: string | null
  readonly error: unknown
}
type Directory = Readonly<Record<'newNonce' | 'newAccount' | 'newOrder', string>>

const mostText = 300
/** Words of somebody else's server, for a log line. */
const plain = (text: unknown): string =>
  typeof text === 'string' ? text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, mostText) : ''
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
/** A problem document (RFC 7807) in words. */
const wordsOf = (problem: unknown): string => {
  const { type, detail, subproblems } = recordOf(problem)
  const kind = plain(type).split(':').at(-1) ?? ''
  const parts = listOf(subproblems)
    .slice(0, 3)
    .map(recordOf)
    .map(({ identifier, detail: words }) => `${plain(recordOf(identifier).value)}: ${plain(words)}`)
  return [`${plain(detail) || 'no reason given'}${kind ? ` (${kind})` : ''}`, ...parts].join('; ')
}
const base64url = (data: string | Buffer) => Buffer.from(data).toString('base64url')

const jwkOf = (key: KeyObject) => {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  // Its members in this order are what RFC 7638 hashes.
  return { crv, kty, x, y }
}
/** What is shown at `/.well-known/acme-challenge/TOKEN`. */
const keyAuthorization = (token: string, key: KeyObject) =>
  `${token}.${base64url(
    createHash('sha256')
      .update(JSON.stringify(jwkOf(key)))
      .digest(),
  )}`

/** A request for a certificate (PKCS #10) in DER. */
const requestFor = (names: readonly string[], key: KeyObject): Buffer => {
  const extensions = sequence(oid.extensionRequest, der(0x31, sequence(namesExtension(names))))
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const content = sequence(bytes('020100'), sequence(), publicKey, der(0xa0, extensions))
  return sequence(content, sequence(oid.ecdsaWithSha256), der(0x03, Buffer.from([0]), sign('sha256', content, key)))
}

const retryAfterOf = ({ headers }: OutgoingReply): number => {
  const retryAfter = String(headers['retry-after'] ?? '')
  const seconds = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / second
  return seconds > 0 ? seconds * second : 0
}
const parse = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return recordOf(value)
  } catch {
    return {}
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const challengeOf = (value: unknown): Challenge => {
  const { type, url, token, error } = recordOf(value)
  return { type: textOf(type), url: textOf(url), token: textOf(token), error }
}
const authorizationIn = (text: string): Authorization => {
  const { status, identifier, challenges } = parse(text)
  return {
    status: plain(status),
    name: plain(recordOf(identifier).value),
    challenges: listOf(challenges).map(challengeOf),
  }
}
const orderIn = (text: string): Order => {
  const { status, authorizations, finalize, certificate, error } = parse(text)
  return {
    status: plain(status),
    authorizations: listOf(authorizations).map(textOf),
    finalize: textOf(finalize),
    certificate: typeof certificate === 'string' ? certificate : null,
    error,
  }
}

/** Replies are small; a chain of certificates is the largest. */
const mostBytes = 256 * 1024
const patience = 15 * second
const mostNonces = 10
const mostLooks = 90
const longestPause = 10 * second

/** Signs and sends; nonces that are refused are replaced, as 6.5 wants. */
const createTransport = (
  outgoing: Pick<Outgoing, 'request'>,
  { directory: directoryUrl, ca }: { readonly directory: string; readonly ca?: string },
) => {
  let nonce: string | null = null
  let knownDirectory: Directory | null = null
  const send = async (url: string, body?: string): Promise<OutgoingReply> => {
    const options = { timeout: patience, most: mostBytes, ...(ca === undefined ? {} : { ca }) }
    const reply = await outgoing
      .request(
        url,
        body === undefined
          ? options
          : { ...options, method: 'POST', headers: { 'content-type': 'application/jose+json' }, body },
      )
      .catch((error: Error & { code?: string }) => {
        throw new AcmeError(`${new URL(url).host} can't be reached: ${error.message || error.code}`)
      })
    const nextNonce = reply.headers['replay-nonce']
    if (typeof nextNonce === 'string') nonce = nextNonce
    return reply
  }
  const refusal = (what: string, reply: OutgoingReply) =>
    new AcmeError(
      `the authority refused ${what}: ${wordsOf(parse(reply.text))}, HTTP ${reply.status}`,
      retryAfterOf(reply),
    )
  const directory = async (): Promise<Directory> => {
    if (knownDirectory) return knownDirectory
    const reply = await send(directoryUrl)
    const { newNonce, newAccount, newOrder } = parse(reply.text)
    if (typeof newNonce !== 'string' || typeof newAccount !== 'string' || typeof newOrder !== 'string')
      throw new AcmeError(`${directoryUrl} is not the directory of an ACME authority (HTTP ${reply.status})`)
    return (knownDirectory = { newNonce, newAccount, newOrder })
  }
  /** `payload` null reads (6.3). */
  const post = async (what: string, url: string, payload: object | null, account: Account): Promise<OutgoingReply> => {
    for (let tries = 1; ; tries += 1) {
      if (nonce === null) await send((await directory()).newNonce)
      if (nonce === null) throw new AcmeError('the authority gives no nonces')
      const who = account.url === null ? { jwk: jwkOf(account.key) } : { kid: account.url }
      const head = base64url(JSON.stringify({ alg: 'ES256', nonce, url, ...who }))
      nonce = null
      const content = payload === null ? '' : base64url(JSON.stringify(payload))
      const signature = sign('sha256', Buffer.from(`${head}.${content}`), {
        key: account.key,
        dsaEncoding: 'ieee-p1363',
      })
      const reply = await send(
        url,
        JSON.stringify({ protected: head, payload: content, signature: base64url(signature) }),
      )
      if (reply.status >= 200 && reply.status < 300) return reply
      const isStale = String(parse(reply.text).type).endsWith(':badNonce')
      if (!isStale || tries >= mostNonces) throw refusal(what, reply)
    }
  }
  return { directory, post }
}

export const createAcmeClient = (
  outgoing: Pick<Outgoing, 'request'>,
  authority: { readonly directory: string; readonly ca?: string },
  signal: AbortSignal,
) => {
  const { directory, post } = createTransport(outgoing, authority)
  const location = ({ headers }: OutgoingReply, what: string): string => {
    if (typeof headers.location !== 'string') throw new AcmeError(`the authority gives no address for ${what}`)
    return headers.location
  }
  /** Reads until it is as wanted, as often as the authority says. */
  const until = async <T>(
    what: string,
    url: string,
    account: Account,
    { read, isDone }: { readonly read: (text: string) => T; readonly isDone: (value: T) => boolean },
  ): Promise<T> => {
    for (let looks = 0; looks < mostLooks; looks += 1) {
      const reply = await post(what, url, null, account)
      const value = read(reply.text)
      if (isDone(value)) return value
      await wait(Math.min(Math.max(retryAfterOf(reply), second / 2), longestPause), null, { signal })
    }
    throw new AcmeError(`the authority did not finish ${what} in time`)
  }
  const prove = async (url: string, account: Account, show: (token: string, text: string) => void): Promise<void> => {
    const authorization = authorizationIn((await post('to read an authorization', url, null, account)).text)
    if (authorization.status === 'valid') return
    const challenge = authorization.challenges.find(({ type }) => type === 'http-01')
    if (!challenge) throw new AcmeError(`the authority has no challenge by http for ${authorization.name}`)
    show(challenge.token, keyAuthorization(challenge.token, account.key))
    await post('the challenge', challenge.url, {}, account)
    const isDone = ({ status }: Authorization) => status !== 'pending' && status !== 'processing'
    const { status, challenges } = await until('an authorization', url, account, { read: authorizationIn, isDone })
    if (status === 'valid') return
    const error = challenges.find(({ error: each }) => each)?.error
    throw new AcmeError(
      `the authority could not verify ${authorization.name}: ${wordsOf(error ?? { detail: `it is ${status}` })}`,
    )
  }
  return {
    /** Registers the key, or finds the account that it has. */
    async register(key: KeyObject, email: string | null): Promise<string> {
      const contact = email === null ? {} : { contact: [`mailto:${email}`] }
      const { newAccount } = await directory()
      const payload = { termsOfServiceAgreed: true, ...contact }
      return location(await post('the account', newAccount, payload, { key, url: null }), 'the account')
    },
    /** Resolves to a chain in PEM. `show` publishes what the authority will ask for. */
    async issue(
      names: readonly string[],
      key: KeyObject,
      account: Account,
      show: (token: string, text: string) => void,
    ): Promise<string> {
      const identifiers = names.map(value => ({ type: 'dns', value }))
      const newOrder = await post('the order', (await directory()).newOrder, { identifiers }, account)
      const orderUrl = location(newOrder, 'the order')
      const order = orderIn(newOrder.text)
      for (const url of order.authorizations) await prove(url, account, show)
      const isOpen = ({ status }: Order) => status !== 'pending'
      const { status } = await until('the order', orderUrl, account, { read: orderIn, isDone: isOpen })
      if (status === 'ready')
        await post('the request', order.finalize, { csr: base64url(requestFor(names, key)) }, account)
      const isDone = (each: Order) => each.status === 'valid' || each.status === 'invalid'
      const done = await until('the certificate', orderUrl, account, { read: orderIn, isDone })
      if (done.status !== 'valid' || done.certificate === null)
        throw new AcmeError(`the authority refused the order: ${wordsOf(done.error)}`)
      return (await post('the certificate', done.certificate, null, account)).text
    },
  }
}
