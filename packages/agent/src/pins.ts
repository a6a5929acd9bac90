import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto'
import * as https from 'node:https'
import * as tls from 'node:tls'

/** curl's form of a pin: the SHA-256 of the key's SubjectPublicKeyInfo (RFC 7469), base64. */
const pinPattern = /^sha256\/\/[A-Za-z0-9+/]{43}=$/
/** The present key and the next one. */
const maxPins = 2

/** @throws Error with a sentence unless there are at most two pins, each well formed. */
export const checkPins = (pins: readonly string[]): void => {
  if (pins.length > maxPins)
    throw new Error(`there are ${pins.length} pins; ${maxPins} are allowed, the present key's and the next one's`)
  for (const pin of pins)
    if (!pinPattern.test(pin))
      throw new Error(`not a pin: ${pin.slice(0, 80)}; it has the form sha256//BASE64= with 43 characters before the =`)
}

/** The pin of a certificate in DER. */
export const pinOf = (certificate: Buffer): string => {
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  return `sha256//${createHash('sha256').update(spki).digest('base64')}`
}

/** What a server showed when a connection to it began. */
export interface ShownKey {
  /** Pin of its key; "" if it showed none. */
  readonly pin: string
  /** Why its certificate is not trusted by the authorities; null if it is. */
  readonly fault: string | null
}

/**
 * Connections that carry nothing before `judge` has accepted the key that the server showed: it answers a sentence to refuse it. With
 * `rejectUnauthorized: false` Node never calls `checkServerIdentity`, so the key is judged on `secureConnect`, and only then the socket is
 * handed to HTTP.
 */
export const judgedAgent = (judge: (shown: ShownKey) => string | null, settings: https.AgentOptions): https.Agent => {
  const agent = new https.Agent(settings)
  const connect = (
    options: tls.ConnectionOptions,
    done: (error: Error | null, socket?: tls.TLSSocket) => void,
  ): undefined => {
    const socket = tls.connect({ ...options, rejectUnauthorized: false })
    const fail = (error: Error): void => {
      socket.destroy()
      done(error)
    }
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      // It is empty where the server showed none.
      const { raw }: Partial<tls.PeerCertificate> = socket.getPeerCertificate()
      const fault = socket.authorized ? null : String(socket.authorizationError)
      const refusal = judge({ pin: raw ? pinOf(raw) : '', fault })
      if (refusal !== null) return fail(new Error(refusal))
      socket.off('error', fail)
      done(null, socket)
    })
    return undefined
  }
  return Object.assign(agent, { createConnection: connect })
}

/** Why a key is refused where `pins` decide; null if one of them fits. */
export const whyNotPinned = (pins: readonly string[], { pin: shown }: ShownKey): string | null =>
  pins.some(pin => same(pin, shown))
    ? null
    : `the server's key is ${shown || 'missing'}, which is not pinned: nothing was sent to it`

export const pinnedAgent = (pins: readonly string[], settings: https.AgentOptions): https.Agent =>
  judgedAgent(shown => whyNotPinned(pins, shown), settings)

const same = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
