import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { addressClaimText } from '@stockade/contract/address-proof.ts'
import type { Identity } from '../config.ts'
import { oneOffTransport } from '../one-off.ts'
import { whyNotPinned } from '../pins.ts'
import type { ShownKey } from '../pins.ts'
import { readAddressProof } from '../replies.ts'
import { challenge } from '../wire.ts'

/** A new way to the server, not yet proved. */
export interface Way {
  readonly baseUrl: string
  readonly ca: string | null
  readonly pins: readonly string[]
  readonly proxy: string | null
}

const timeout = 10_000

/**
 * Asks the server at a new address to prove that it stores this host's key, before that key is sent there. Answers the pins for the
 * address: those of `way`, or that of a key which no authority vouches for and which the server proved to be its own.
 *
 * An `ordered` address must be one that a relay cannot use: the server serves this TLS key itself, or its configuration names the address. For
 * an address that root typed it is enough that nobody between decrypts what the server encrypts.
 *
 * @throws Error with a sentence
 */
export const proveAddress = async (
  way: Way,
  { server_id, api_key }: Pick<Identity, 'server_id' | 'api_key'>,
  isOrdered: boolean,
): Promise<readonly string[]> => {
  let shownKey: ShownKey | null = null
  const judge = (key: ShownKey): string | null => {
    shownKey = key
    return way.pins.length > 0 ? whyNotPinned(way.pins, key) : null
  }
  const transport = oneOffTransport({ ...way, apiKey: null, judge })
  const nonce = randomBytes(32).toString('base64url')
  try {
    const { proof, knownAs, tlsKey } = readAddressProof(
      await challenge(transport, { server_id, nonce, address: way.baseUrl }, timeout),
    )
    const claim = { nonce, serverId: server_id, address: way.baseUrl, knownAs, tlsKey }
    const hash = createHash('sha256').update(api_key).digest()
    const expectedProof = createHmac('sha256', hash).update(addressClaimText(claim)).digest()
    if (!isSame(expectedProof, Buffer.from(proof, 'hex')))
      throw new Error(`${way.baseUrl} did not prove that it knows this host, so it got no key: is this another server?`)
    return trusted(way, shownKey, { knownAs, tlsKey }, isOrdered)
  } finally {
    transport.close()
  }
}

/** @throws Error with a sentence, where the way to the proven server may lead through somebody else */
const trusted = (
  { baseUrl, pins }: Way,
  shown: ShownKey | null,
  { knownAs, tlsKey }: { knownAs: string | null; tlsKey: string | null },
  isOrdered: boolean,
): readonly string[] => {
  if (shown !== null && shown.pin === tlsKey)
    // The server itself is at the other end, also behind a relay that only passes bytes on.
    return pins.length === 0 && shown.fault !== null ? [shown.pin] : pins
  if (shown !== null && pins.length === 0 && shown.fault !== null)
    throw new Error(`the certificate at ${baseUrl} is not trusted: ${shown.fault}; it got no key`)
  if (knownAs === 'configuration' || (knownAs === 'settings' && !isOrdered)) return pins
  if (isOrdered)
    throw new Error(
      `the server does not name ${baseUrl} in its configuration, and somebody else may be between, so it got no key: set STOCKADE_BASE_URL to it`,
    )
  if (shown !== null && tlsKey !== null)
    throw new Error(
      `the key at ${baseUrl} is not the server's own, so it got no key: if that is your proxy, set STOCKADE_BASE_URL to this address`,
    )
  return pins
}

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)
