import { createHash, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { commandTypeNames } from '@stockade/contract/command-types/names.ts'
import { codeOf } from '@stockade/contract/error-code.ts'
import { readOperatorKey, sealBounds, usuallySealed } from '@stockade/contract/seal.ts'
import type { OperatorKey } from '@stockade/contract/seal.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import { privateDirectory, writeDurably } from '../files.ts'
import { asFields, asInteger, asList } from '../json.ts'
import { errorText } from '../text.ts'

/** Somebody whose signature this host takes; only the host's own root adds one. */
export interface Operator extends OperatorKey {
  readonly fingerprint: string
  readonly publicKey: KeyObject
  /** Epoch milliseconds. */
  readonly addedAt: number
}

/** `operators.json`: whose signature counts, and which classes of commands need one. */
export interface Trust {
  readonly sealed: readonly string[]
  readonly operators: readonly Operator[]
}

const formatVersion = 1
const knownFields = ['version', 'sealed', 'operators']

export const trustFile = (configDirectory: string): string => join(configDirectory, 'operators.json')

/** The SHA-256 of the key's DER, as OpenSSH writes fingerprints. */
export const fingerprintOf = (spki: string): string => {
  const digest = createHash('sha256').update(Buffer.from(spki, 'base64url')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

/**
 * Null where this host seals nothing. @throws Error with a sentence for a file that cannot be read, that others can write, or that is not
 * understood in every part: then no command may pass.
 */
export const loadTrust = (configDirectory: string): Trust | null => {
  const file = trustFile(configDirectory)
  const text = readTrusted(file)
  if (text === null) return null
  try {
    return parseTrust(JSON.parse(text))
  } catch (error) {
    throw new Error(`${file} is not understood (${error instanceof Error ? error.message : 'not JSON'})`, {
      cause: error,
    })
  }
}

/** Whether this host asks for an operator's signature for that class. It also does while its trust file cannot be read. */
export const wantsSeal = (configDirectory: string, sealedClass: string): boolean =>
  readOr(true, () => loadTrust(configDirectory)?.sealed.includes(sealedClass) ?? false)

const readTrusted = (file: string): string | null => {
  try {
    const { mode, uid } = fs.statSync(file)
    if ((mode & 0o022) !== 0 || (uid !== 0 && uid !== process.getuid?.()))
      throw new Error("others than this host's root can write it")
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(`${file} cannot be trusted: ${errorText(error)}`, { cause: error })
  }
}

const parseTrust = (value: unknown): Trust => {
  const fields = asFields(value)
  const unknown = Object.keys(fields).find(name => !knownFields.includes(name))
  if (unknown !== undefined) throw new Error(`it holds ${unknown}, which this agent does not know`)
  if (fields['version'] !== formatVersion) throw new Error(`it is not of version ${formatVersion}`)
  if (!Array.isArray(fields['operators']) || !Array.isArray(fields['sealed'])) throw new Error('a list is missing')
  const operators = asList(fields['operators']).map(operatorOf)
  if (operators.length > sealBounds.operators) throw new Error(`it names more than ${sealBounds.operators} operators`)
  return { operators, sealed: checkClasses(asList(fields['sealed'])) }
}

/** @throws Error for a class that this agent cannot ask a signature for. */
export const checkClasses = (classes: readonly unknown[]): string[] => {
  const sealableTypes: readonly string[] = [...commandTypeNames, ...usuallySealed]
  return classes.map(name => {
    if (typeof name === 'string' && sealableTypes.includes(name)) return name
    throw new Error(`${String(name)} is no class of commands; known are ${[...new Set(sealableTypes)].join(', ')}`)
  })
}

const operatorOf = (value: unknown): Operator => {
  const fields = asFields(value)
  const added = readOperatorKey(String(fields['key']))
  return withKey(added, asInteger(fields['added_at'], 0))
}

/** @throws Error for a key of a kind or strength that this host does not take. */
export const withKey = (operator: OperatorKey, addedAt: number): Operator => {
  const publicKey = createPublicKey({ key: Buffer.from(operator.spki, 'base64url'), format: 'der', type: 'spki' })
  const canonical = publicKey.export({ type: 'spki', format: 'der' }).toString('base64url')
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey
  const fits =
    type === 'ed25519' ||
    (operator.kind === 'webauthn' &&
      ((type === 'ec' && details?.namedCurve === 'prime256v1') ||
        (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048)))
  if (!fits || canonical !== operator.spki)
    throw new Error('the key is neither Ed25519 nor, for a passkey, ECDSA on P-256 or RSA of 2048 bits and more')
  return { ...operator, publicKey, addedAt, fingerprint: fingerprintOf(operator.spki) }
}

export const saveTrust = (
  configDirectory: string,
  lines: readonly { key: string; addedAt: number }[],
  sealed: readonly string[],
): void => {
  privateDirectory(configDirectory)
  const operators = lines.map(({ key, addedAt }) => ({ key, added_at: addedAt }))
  writeDurably(
    trustFile(configDirectory),
    `${JSON.stringify({ version: formatVersion, sealed, operators }, null, 2)}\n`,
  )
}
