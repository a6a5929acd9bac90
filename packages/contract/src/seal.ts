import { isRecord, recordOf } from './untrusted.ts'

/*
 * Sealed commands: what an operator signs and a host verifies, specified in docs/spec/sealed-commands.md. Pure functions over texts and bytes, so
 * that server, agent, command line and browser use the same ones; callers pass in SHA-256.
 */

/** What one operator tells one host to do, once. Times are seconds since 1970. */
export interface Statement {
  readonly v: 1
  readonly type: string
  readonly params: Readonly<Record<string, unknown>>
  /** The id of the server that it is for. */
  readonly target: string
  /** 16 random bytes or more, base64url; a host takes each once. */
  readonly nonce: string
  readonly issued: number
  readonly expires: number
}

/** An operator's signature of a root. Binary fields are base64url without padding. */
export type Signature =
  | { readonly kind: 'ed25519'; readonly key: string; readonly signature: string }
  | {
      readonly kind: 'webauthn'
      readonly key: string
      readonly authenticator_data: string
      readonly client_data: string
      readonly signature: string
    }

/** What travels with a command. */
export interface Seal {
  /** The canonical text of the statement. */
  readonly statement: string
  /** The way from the statement to the root that was signed: siblings from the leaf up, `L` or `R` and 64 hex digits. */
  readonly proof: readonly string[]
  readonly signature: Signature
}

/** The longest time between `issued` and `expires`, how far ahead of a host's clock `issued` may be, and what is preselected. In seconds. */
export const sealTimes = { longest: 7 * 86_400, ahead: 300, usual: 3600 } as const
export const sealBounds = { statement: 64 * 1024, proof: 32, operators: 100, name: 64 } as const

/** Classes of commands that a host can ask a signature for: types, and two that depend on the parameters. */
export const wideBan = 'wide-ban'
export const wideWhitelist = 'wide-whitelist'
export const closedPort = 'closed-port'
/** What a host asks for when its root names no types. */
export const usuallySealed = [
  'deploy-template',
  'remove-template',
  'jail-disable',
  wideBan,
  wideWhitelist,
  closedPort,
  'upgrade-agent',
] as const
/**
 * Commands that need the signature of another class: approvals of what the server wants the host to hold, and the preview of a template, whose
 * expressions can ask a log what no line of it may tell.
 */
const sealedAs: Readonly<Record<string, string>> = {
  'template-preview': 'deploy-template',
  'approve-whitelist': wideWhitelist,
  'approve-port': closedPort,
  'approve-ban': wideBan,
}

/** What an agent says of a whitelist that it refuses until an operator approves this range. */
export const unapprovedRange = (range: string): string =>
  `${range} in the whitelist is a wide range that no operator approved on this host: the list is refused as a whole`
/** What an agent says of a sequence that it does not enforce until an operator approves this port. */
export const unapprovedPort = (port: number): string => `no operator approved on this host that port ${port} is closed`
/** What an agent says of a wide fleet ban, or a wide range of a list, that it leaves out until an operator approves it. */
export const unapprovedBan = (range: string): string =>
  `no operator approved on this host that the wide range ${range} is banned`
/** The approval that such a sentence asks for; null for any other text. */
export const approvalAskedBy = (
  error: string,
):
  | { readonly type: 'approve-whitelist'; readonly params: { readonly ip: string } }
  | { readonly type: 'approve-port'; readonly params: { readonly port: number } }
  | { readonly type: 'approve-ban'; readonly params: { readonly ip: string } }
  | null => {
  const banned = /no operator approved on this host that the wide range ([\da-f.:]+\/\d{1,3}) is banned/.exec(
    error,
  )?.[1]
  if (banned !== undefined && isWide(banned)) return { type: 'approve-ban', params: { ip: banned } }
  const ip = /([\da-f.:]+\/\d{1,3}) in the whitelist is a wide range that no operator approved/.exec(error)?.[1]
  if (ip !== undefined && isWide(ip)) return { type: 'approve-whitelist', params: { ip } }
  const port = Number(/no operator approved on this host that port (\d{1,5}) is closed/.exec(error)?.[1])
  return port >= 1 && port <= 65_535 ? { type: 'approve-port', params: { port } } : null
}

/** Ranges wider than a /24 of IPv4 or a /48 of IPv6. */
export const isWide = (range: string): boolean => {
  const [address = '', prefix] = range.split('/')
  return prefix !== undefined && Number(prefix) < (address.includes(':') ? 48 : 24)
}

/** Whether a host that seals those classes wants a signature for this command. */
export const needsSeal = (
  sealed: readonly string[],
  type: string,
  params: Readonly<Record<string, unknown>>,
): boolean =>
  sealed.includes(type) ||
  sealed.includes(sealedAs[type] ?? '') ||
  (type === 'ban-ip' && sealed.includes(wideBan) && isWide(String(params.ip)))

/**
 * RFC 8785 for what occurs here: objects with sorted keys, arrays, strings, booleans, null and safe integers.
 * @throws Error for any other value.
 */
export const canonicalJson = (value: unknown): string => {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isRecord(value)) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined)
    const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${sorted.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`
  }
  throw new Error(
    `${typeof value === 'number' ? 'a number that is not a whole one' : typeof value} has no canonical form`,
  )
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const noncePattern = /^[A-Za-z0-9_-]{22,128}$/
const fields = ['expires', 'issued', 'nonce', 'params', 'target', 'type', 'v']

/**
 * Reads a statement from its canonical text.
 * @throws Error with a sentence unless the text is canonical and every field is there and well formed.
 */
// oxlint-disable-next-line complexity -- one refusal for each field of a statement
export const readStatement = (text: string): Statement => {
  if (text.length > sealBounds.statement) throw new Error('the signed statement is unreasonably large')
  const value = parsed(text)
  if (canonicalJson(value) !== text) throw new Error('the signed statement is not in its canonical form')
  if (!isRecord(value) || Object.keys(value).sort().join() !== fields.join())
    throw new Error('the signed statement has other fields than a statement has')
  const { v, type, params, target, nonce, issued, expires } = value
  if (v !== 1) throw new Error('the signed statement is of another version')
  if (typeof type !== 'string' || !/^[a-z-]{1,40}$/.test(type)) throw new Error('the signed statement names no type')
  if (!isRecord(params)) throw new Error('the signed statement has no parameters')
  if (typeof target !== 'string' || !uuidPattern.test(target)) throw new Error('the signed statement names no target')
  if (typeof nonce !== 'string' || !noncePattern.test(nonce))
    throw new Error('the signed statement has no proper nonce')
  if (!isTime(issued) || !isTime(expires)) throw new Error('the signed statement has no proper times')
  if (expires <= issued || expires - issued > sealTimes.longest)
    throw new Error('the signed statement holds longer than seven days, or not at all')
  return { v, type, params, target, nonce, issued, expires }
}
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the signed statement is not JSON')
  }
}

export type Sha256 = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>

const utf8 = new TextEncoder()
const join = (...parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
export const hexOf = (bytes: Uint8Array): string => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], pair => Number.parseInt(pair, 16))

/** Leaves and nodes begin with another byte, so that no node passes for a leaf. */
const leafOf = (text: string, sha256: Sha256) =>
  sha256(join(Uint8Array.of(0), utf8.encode(`stockade-command-v1\n${text}`)))
const nodeOf = (left: Uint8Array, right: Uint8Array, sha256: Sha256) => sha256(join(Uint8Array.of(1), left, right))

/** The levels of the tree over some statements, leaves first. The last of an odd number rises as it is. */
const levelsOf = async (texts: readonly string[], sha256: Sha256): Promise<Uint8Array[][]> => {
  let level = await Promise.all(texts.map(text => leafOf(text, sha256)))
  const levels = [level]
  while (level.length > 1) {
    const below = level
    const pairs = Array.from({ length: Math.ceil(below.length / 2) }, (_, index) =>
      below.slice(2 * index, 2 * index + 2),
    )
    level = await Promise.all(
      pairs.map(async ([left, right]) => (left && right ? nodeOf(left, right, sha256) : (left ?? new Uint8Array()))),
    )
    levels.push(level)
  }
  return levels
}

/** The root over statements, which is what gets signed, and the proof of each. @throws Error for none. */
export const sealTree = async (
  texts: readonly string[],
  sha256: Sha256,
): Promise<{ root: Uint8Array; proofs: string[][] }> => {
  const levels = await levelsOf(texts, sha256)
  const root = levels.at(-1)?.[0]
  if (!root) throw new Error('there is nothing to sign')
  const proofs = texts.map((_, leaf) =>
    levels.slice(0, -1).flatMap((level, height) => {
      const index = leaf >> height
      const sibling = level[index ^ 1]
      return sibling ? [`${index & 1 ? 'L' : 'R'}${hexOf(sibling)}`] : []
    }),
  )
  return { root, proofs }
}

/** The root that a statement leads to by its proof. @throws Error for a proof that is malformed or too long. */
export const rootOf = async (text: string, proof: readonly string[], sha256: Sha256): Promise<Uint8Array> => {
  if (proof.length > sealBounds.proof) throw new Error('the proof of the signature is too long')
  let node = await leafOf(text, sha256)
  for (const step of proof) {
    if (!/^[LR][0-9a-f]{64}$/.test(step)) throw new Error('the proof of the signature is malformed')
    const sibling = bytesOf(step.slice(1))
    node = await (step.startsWith('L') ? nodeOf(sibling, node, sha256) : nodeOf(node, sibling, sha256))
  }
  return node
}

/** What an Ed25519 key signs. A passkey's challenge is the SHA-256 of it. */
export const sealMessage = (root: Uint8Array): Uint8Array => utf8.encode(`stockade-seal-v1\n${hexOf(root)}\n`)

/**
 * The parameters as they stand in a statement. What a deployment carries stands there as a digest, so that a statement for
 * thousands of hosts stays small.
 */
export const statedParams = async (
  params: Readonly<Record<string, unknown>>,
  sha256: Sha256,
): Promise<Record<string, unknown>> => {
  const { template, ...rest } = params
  if (template === undefined) return rest
  return { ...rest, template_sha256: hexOf(await sha256(utf8.encode(canonicalJson(template)))) }
}

/** An operator's public key in the form for hosts, one line of text. */
export interface OperatorKey {
  readonly kind: 'ed25519' | 'webauthn'
  readonly name: string
  /** SubjectPublicKeyInfo in DER, base64url. */
  readonly spki: string
  /** Of a passkey only: the site that it belongs to. */
  readonly rp_id?: string
  readonly origin?: string
}
const keyLine = 'stockade-operator-key-v1:'
export const writeOperatorKey = (key: OperatorKey): string =>
  keyLine +
  btoa(String.fromCharCode(...utf8.encode(canonicalJson(key))))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '')
/** @throws Error with a sentence for anything else than such a line. */
// oxlint-disable-next-line complexity -- one refusal for each field of a key
export const readOperatorKey = (line: string): OperatorKey => {
  const text = line.trim()
  if (!text.startsWith(keyLine) || text.length > 8192) throw new Error(`an operator's key begins with ${keyLine}`)
  const packed = text.slice(keyLine.length).replace(/-/g, '+').replace(/_/g, '/')
  const value = keyJson(packed)
  const { kind, name, spki, rp_id, origin, ...more } = value
  const isPasskey = kind === 'webauthn'
  if ((kind !== 'ed25519' && !isPasskey) || Object.keys(more).length > 0)
    throw new Error('this operator key is of a kind that is not known here')
  if (typeof name !== 'string' || name.length < 1 || name.length > sealBounds.name || !/^[\x20-\x7e]+$/.test(name))
    throw new Error('this operator key has no proper name')
  if (typeof spki !== 'string' || !/^[A-Za-z0-9_-]{40,2000}$/.test(spki))
    throw new Error('this operator key holds no key')
  if (!isPasskey) return { kind: 'ed25519', name, spki }
  if (typeof rp_id !== 'string' || typeof origin !== 'string' || !/^[a-z0-9.-]{1,253}$/.test(rp_id))
    throw new Error('this passkey does not say which site it belongs to')
  return { kind, name, spki, rp_id, origin }
}
const keyJson = (packed: string): Readonly<Record<string, unknown>> => {
  try {
    const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0))
    return recordOf(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    throw new Error('this operator key was cut or changed on its way')
  }
}
