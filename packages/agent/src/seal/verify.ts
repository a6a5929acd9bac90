import { createHash, timingSafeEqual, verify } from 'node:crypto'
import { canonicalJson, readStatement, rootOf, sealMessage, sealTimes, statedParams } from '@stockade/contract/seal.ts'
import type { Seal, Signature, Statement } from '@stockade/contract/seal.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import { asFields, asList, asText } from '../json.ts'
import type { Fields } from '../json.ts'
import type { Command } from '../wire.ts'
import type { Operator } from './operators.ts'

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** The command as an operator signed it, and who did. */
export interface Signed {
  readonly statement: Statement
  readonly operator: Operator
}

/**
 * Whether an operator that this host trusts signed this very command for this very host. Nothing that the server says counts but the
 * signature; the clock is the host's own. Reuse is judged elsewhere.
 * @throws Error with a sentence that says what is wrong.
 */
export const verifySeal = async (
  command: Command,
  sealed: unknown,
  host: { readonly serverId: string; readonly operators: readonly Operator[]; readonly now: number },
): Promise<Signed> => {
  const seal = sealOf(sealed)
  const statement = readStatement(seal.statement)
  await matchCommand(command, statement)
  if (statement.target !== host.serverId.toLowerCase()) throw new Error('it was signed for another server')
  checkTimes(statement, host.now)
  const operator = host.operators.find(({ fingerprint }) => fingerprint === seal.signature.key)
  if (!operator) throw new Error(`the key ${seal.signature.key} is not trusted on this host`)
  if (operator.kind !== seal.signature.kind) throw new Error(`the key of ${operator.name} is of another kind`)
  const message = Buffer.from(sealMessage(await rootOf(seal.statement, seal.proof, sha256)))
  if (seal.signature.kind === 'ed25519') checkSignature(operator, message, seal.signature.signature)
  else checkAssertion(operator, message, seal.signature)
  return { statement, operator }
}

const matchCommand = async (command: Command, statement: Statement): Promise<void> => {
  if (command.type !== statement.type) throw new Error(`a ${statement.type} was signed, not a ${command.type}`)
  if (canonicalJson(await statedParams(command.params, sha256)) !== canonicalJson(statement.params))
    throw new Error('other parameters were signed')
}

const checkTimes = (statement: Statement, now: number): void => {
  const clock = `this host's clock says ${new Date(now).toISOString()}`
  if (statement.expires * 1000 <= now)
    throw new Error(`the signature expired at ${new Date(statement.expires * 1000).toISOString()}; ${clock}`)
  if (statement.issued * 1000 > now + sealTimes.ahead * 1000)
    throw new Error(
      `it was signed at ${new Date(statement.issued * 1000).toISOString()}, which is in the future; ${clock}`,
    )
}

const checkSignature = (operator: Operator, message: Buffer, signature: string): void => {
  const digest = operator.publicKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  if (!isSigned(digest, message, operator, signature))
    throw new Error(`the signature is not one of ${operator.name} over this command`)
}

const isSigned = (digest: string | null, message: Buffer, operator: Operator, signature: string): boolean =>
  readOr(false, () => verify(digest, message, operator.publicKey, Buffer.from(signature, 'base64url')))

const userPresentFlag = 0x01
const userVerifiedFlag = 0x04

/** WebAuthn Level 3, section 7.2, as far as a party needs it that keeps no sessions. */
const checkAssertion = (
  operator: Operator,
  message: Buffer,
  signature: Extract<Signature, { kind: 'webauthn' }>,
): void => {
  const clientText = Buffer.from(signature.client_data, 'base64url')
  const client = clientOf(clientText)
  const challenge = createHash('sha256').update(message).digest('base64url')
  if (client['type'] !== 'webauthn.get') throw new Error('the passkey was not asked for a signature')
  if (client['challenge'] !== challenge) throw new Error('the passkey signed something else')
  if (client['origin'] !== operator.origin)
    throw new Error(`the passkey was used on another site than ${operator.origin ?? ''}`)
  if (client['crossOrigin'] === true || client['topOrigin'] !== undefined)
    throw new Error('the passkey was used inside another site')
  const data = Buffer.from(signature.authenticator_data, 'base64url')
  const site = createHash('sha256')
    .update(operator.rp_id ?? '')
    .digest()
  if (data.length < 37 || !timingSafeEqual(data.subarray(0, 32), site))
    throw new Error('the passkey belongs to another site')
  const flags = data[32] ?? 0
  if ((flags & userPresentFlag) === 0) throw new Error('the passkey signed without its user')
  if ((flags & userVerifiedFlag) === 0)
    throw new Error('the passkey did not verify its user (PIN, fingerprint or face)')
  const signed = Buffer.concat([data, createHash('sha256').update(clientText).digest()])
  checkSignature(operator, signed, signature.signature)
}

const clientOf = (text: Buffer): Fields => {
  try {
    return asFields(JSON.parse(text.toString('utf8')))
  } catch {
    throw new Error('what the passkey signed is not JSON')
  }
}

const base64urlPattern = /^[A-Za-z0-9_-]{1,8192}$/

const sealOf = (value: unknown): Seal => {
  const fields = asFields(value)
  const signature = asFields(fields['signature'])
  const text = (name: string): string => {
    const fieldText = asText(signature[name])
    if (!base64urlPattern.test(fieldText)) throw new Error(`the signature's ${name} is malformed`)
    return fieldText
  }
  const proof = asList(fields['proof']).map(step => asText(step))
  const statement = asText(fields['statement'])
  if (statement === '') throw new Error('it carries no signed statement')
  const common = { key: asText(signature['key']), signature: text('signature') }
  if (signature['kind'] === 'ed25519') return { statement, proof, signature: { kind: 'ed25519', ...common } }
  if (signature['kind'] !== 'webauthn') throw new Error('the signature is of a kind that this agent does not know')
  const assertion = { authenticator_data: text('authenticator_data'), client_data: text('client_data') }
  return { statement, proof, signature: { kind: 'webauthn', ...common, ...assertion } }
}
