import { createHash, createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readOr } from '@stockade/contract/untrusted.ts'

/**
 * A signed release. MANIFEST is text: a first line `stockade-release 1`, then `version`, `released` and one `sha256 <hex> <name>` for each
 * file; MANIFEST.sig is an ECDSA P-256 signature of it in DER, which `openssl dgst -sha256 -verify` checks as well.
 */
export interface Release {
  readonly version: string
  readonly released: string
  readonly sha256ByName: ReadonlyMap<string, string>
}

const maxBytes = 64 * 1024
const maxKeys = 2
const fileName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const versionPattern = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(-[0-9A-Za-z.-]{1,40})?$/

/** The trusted keys of a PEM file: P-256 only, the present one and the next. @throws Error with a sentence. */
export const releaseKeys = (pem: string): KeyObject[] => {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----/g) ?? []
  if (blocks.length === 0 || blocks.length > maxKeys)
    throw new Error(`the file of release keys holds ${blocks.length} public keys; one or ${maxKeys} are expected`)
  return blocks.map(block => {
    const key = createPublicKey(block)
    if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new Error('a release key is not an ECDSA key on P-256')
    return key
  })
}

/** The release that a manifest describes. @throws Error unless one of the keys signed exactly this text, and all of it is understood. */
export const verifyRelease = (manifest: Buffer, signature: Buffer, keys: readonly KeyObject[]): Release => {
  if (manifest.length > maxBytes) throw new Error('the manifest is unreasonably large')
  if (!keys.some(key => signedBy(key, manifest, signature)))
    throw new Error('the manifest is not signed by a release key that this host trusts: nothing of it is used')
  return parseManifest(manifest.toString('utf8'))
}

const signedBy = (key: KeyObject, manifest: Buffer, signature: Buffer): boolean =>
  readOr(false, () => verify('sha256', manifest, key, signature))

const readLine = (line: string, fields: Map<string, string>, sha256ByName: Map<string, string>): void => {
  const [, sha256 = '', name = ''] = /^sha256 ([0-9a-f]{64}) ([^ ]+)$/.exec(line) ?? []
  const [, field = '', value = ''] = /^(version|released) ([^ ]+)$/.exec(line) ?? []
  if (fileName.test(name) && !sha256ByName.has(name)) sha256ByName.set(name, sha256)
  else if (field !== '' && !fields.has(field)) fields.set(field, value)
  else throw new Error(`the manifest holds a line that this agent does not understand: ${line.slice(0, 100)}`)
}

const parseManifest = (text: string): Release => {
  const [head, ...lines] = text.replace(/\n$/, '').split('\n')
  if (head !== 'stockade-release 1') throw new Error('the manifest is of another format than "stockade-release 1"')
  const fields = new Map<string, string>()
  const sha256ByName = new Map<string, string>()
  for (const line of lines) readLine(line, fields, sha256ByName)
  const version = fields.get('version') ?? ''
  if (!versionPattern.test(version)) throw new Error('the manifest names no version')
  return { version, released: fields.get('released') ?? '', sha256ByName }
}

/** @throws Error unless the release holds a file of that name with that content. */
export const checkFile = (release: Release, name: string, content: Buffer): void => {
  const expectedDigest = release.sha256ByName.get(name)
  if (expectedDigest === undefined) throw new Error(`the release ${release.version} holds no ${name}`)
  if (createHash('sha256').update(content).digest('hex') !== expectedDigest)
    throw new Error(`${name} is not the file of release ${release.version}: nothing of it is used`)
}

/** @throws Error where the release is older than what runs: an old release may have a known hole. */
export const refuseDowngrade = (release: Release, running: string): void => {
  if (compareVersions(release.version, running) < 0)
    throw new Error(
      `release ${release.version} is older than ${running}, which is installed; --allow-downgrade accepts that`,
    )
}

/** Semantic Versioning's order (section 11), without build metadata. */
export const compareVersions = (a: string, b: string): number => {
  const [coreA = '', preA] = split(a)
  const [coreB = '', preB] = split(b)
  return compareParts(coreA.split('.'), coreB.split('.')) || comparePre(preA, preB)
}

const split = (version: string): [string, string | undefined] => {
  const [, core = '', pre] = /^([^-+]*)(?:-([^+]*))?/.exec(version) ?? []
  return [core, pre]
}

const comparePre = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return compareParts(a.split('.'), b.split('.'))
}

const compareParts = (a: readonly string[], b: readonly string[]): number => {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [left, right] = [a[index], b[index]]
    if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? -1 : 1
    const numeric = [left, right].map(part => /^\d+$/.test(part))
    const order =
      numeric[0] && numeric[1]
        ? Number(left) - Number(right)
        : numeric[0] !== numeric[1]
          ? Number(numeric[1]) - Number(numeric[0])
          : left < right
            ? -1
            : Number(left > right)
    if (order !== 0) return order
  }
  return 0
}
