import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { recordOf } from '@stockade/contract/untrusted.ts'

/*
 * A licence is one line: `stk1.` + base64url(JSON) + `.` + base64url(Ed25519 signature of everything before the last dot).
 * Whoever runs or sells Stockade is the authority; the private key never comes to a server.
 */

export const tiers = ['personal', 'pro'] as const
export type Tier = (typeof tiers)[number]

export interface Licence {
  readonly id: string
  readonly tier: Tier
  readonly serverLimit: number
  readonly registeredTo: string
  /** Epoch milliseconds. */
  readonly issuedAt: number
  /** Null: for good. */
  readonly expiresAt: number | null
}
export interface LicenceFeatures {
  readonly reputation: boolean
  readonly custom_templates: boolean
  readonly siem: boolean
  readonly terminal: boolean
  readonly port_knocking: boolean
}
/** Features of each tier. `terminal` is listed, but not part of this product. */
export const tierFeatures: Readonly<Record<Tier, LicenceFeatures>> = {
  personal: { reputation: true, custom_templates: true, siem: false, terminal: false, port_knocking: false },
  pro: { reputation: true, custom_templates: true, siem: true, terminal: false, port_knocking: true },
}
export const tierLimits: Readonly<Record<Tier, number>> = { personal: 3, pro: 25 }
export const mostServers = 1_000_000

/** Why a text is no licence here; a sentence for the operator. */
export class BadLicence extends Error {}

const version = 'stk1'
const encode = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64url')
/** Strictly: a second spelling of the same bytes would be a second key. */
const decode = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new BadLicence(cut)
  return bytes
}
const cut = 'This is no whole licence key. Copy all of it, from "stk1." to its end, and try again.'

/** A new authority: both keys as PEM text. */
export const makeAuthority = (): { readonly privateKey: string; readonly publicKey: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return { privateKey, publicKey }
}

/** Signs a licence. @throws Error when the key is no Ed25519 private key. */
export const issueLicence = (privateKey: string, licence: Omit<Licence, 'id'>): string => {
  const key = createPrivateKey(privateKey)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is no Ed25519 key')
  const document = {
    id: randomUUID(),
    tier: licence.tier,
    server_limit: licence.serverLimit,
    registered_to: licence.registeredTo,
    issued_at: licence.issuedAt,
    expires_at: licence.expiresAt,
  }
  const signed = `${version}.${encode(JSON.stringify(document))}`
  return `${signed}.${encode(sign(null, Buffer.from(signed), key))}`
}

/** A pasted key may have been wrapped into lines. */
export const tidy = (key: string): string => key.replace(/\s+/g, '')

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 253_402_300_800_000

/** What an authority signed. @throws BadLicence where the key is not whole, or the signature is another's. */
const signedBody = (key: string, publicKey: string): Buffer => {
  const [name = '', body = '', signature = '', ...more] = tidy(key).split('.')
  const foreign = /^stk(\d+)$/.exec(name)?.[1]
  if (foreign !== undefined && foreign !== '1')
    throw new BadLicence('This licence key was made for another version of Stockade. Update this server first.')
  if (name !== version || !body || !signature || more.length > 0) throw new BadLicence(cut)
  const proof = decode(signature)
  const bytes = decode(body)
  if (proof.length !== 64) throw new BadLicence(cut)
  if (!verify(null, Buffer.from(`${name}.${body}`), createPublicKey(publicKey), proof))
    throw new BadLicence(
      'The signature does not fit: the key was changed or cut, or comes from another authority than this server trusts.',
    )
  return bytes
}
const isLimit = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= mostServers
/** Null where a newer authority wrote what is not known here. */
const licenceIn = (document: Readonly<Record<string, unknown>>): Licence | null => {
  const { id, server_limit: serverLimit, registered_to: registeredTo } = document
  const { issued_at: issuedAt, expires_at: expiresAt } = document
  const tier = tiers.find(name => name === document.tier)
  if (typeof id !== 'string' || tier === undefined || typeof registeredTo !== 'string') return null
  if (!isLimit(serverLimit) || !isTime(issuedAt) || !(expiresAt === null || isTime(expiresAt))) return null
  return { id, tier, serverLimit, registeredTo, issuedAt, expiresAt }
}

/**
 * Checks the signature and reads the licence; whether it has expired is the caller's question.
 * @throws BadLicence
 */
export const readLicence = (key: string, publicKey: string): Licence => {
  const bytes = signedBody(key, publicKey)
  const unknown = new BadLicence(
    'The licence is signed, but holds something that this version does not know. Update this server first.',
  )
  let document: unknown
  try {
    document = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw unknown
  }
  const licence = licenceIn(recordOf(document))
  if (licence === null) throw unknown
  return licence
}
