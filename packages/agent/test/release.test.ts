import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkFile, compareVersions, refuseDowngrade, releaseKeys, verifyRelease } from '../src/release.ts'

const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()
const file = Buffer.from('the agent')
const digest = createHash('sha256').update(file).digest('hex')
const manifest = Buffer.from(
  `stockade-release 1\nversion 0.2.0\nreleased 2026-12-01\nsha256 ${digest} stockade-agent.mjs\n`,
)
const current = pair()
const next = pair()
const trusted = releaseKeys(pemOf(current.publicKey) + pemOf(next.publicKey))

describe('a release', () => {
  it.each([
    ['the present key', current.privateKey],
    ['the next key', next.privateKey],
  ])('signed by %s is taken', (_, key) => {
    const release = verifyRelease(manifest, sign('sha256', manifest, key), trusted)
    expect(release.version).toBe('0.2.0')
    expect(() => checkFile(release, 'stockade-agent.mjs', file)).not.toThrow()
    expect(() => checkFile(release, 'stockade-agent.mjs', Buffer.from('another'))).toThrow(/is not the file of release/)
    expect(() => checkFile(release, 'node', file)).toThrow(/holds no node/)
    expect(() => refuseDowngrade(release, '0.2.0')).not.toThrow()
    expect(() => refuseDowngrade(release, '0.2.1')).toThrow(/older than 0\.2\.1/)
  })

  const good = sign('sha256', manifest, current.privateKey)
  it.each<[string, Buffer, Buffer]>([
    ['by a stranger', manifest, sign('sha256', manifest, pair().privateKey)],
    ['another text', Buffer.from(manifest.toString().replace('0.2.0', '0.2.1')), good],
    ['nothing', manifest, Buffer.alloc(0)],
    ['a cut signature', manifest, good.subarray(0, -1)],
    ['a longer signature', manifest, Buffer.concat([good, Buffer.from([0])])],
    [
      'raw r and s instead of DER',
      manifest,
      sign('sha256', manifest, { key: current.privateKey, dsaEncoding: 'ieee-p1363' }),
    ],
    ['a zero signature', manifest, Buffer.from('3006020100020100', 'hex')],
    ['Ed25519', manifest, sign(null, manifest, generateKeyPairSync('ed25519').privateKey)],
  ])('signed with %s is refused', (_, text, signature) => {
    expect(() => verifyRelease(text, signature, trusted)).toThrow(/not signed by a release key/)
  })

  it.each([
    ['another format', 'stockade-release 2\nversion 0.2.0\n'],
    ['an unknown line', 'stockade-release 1\nversion 0.2.0\nrun rm\n'],
    ['two digests of one file', `stockade-release 1\nversion 0.2.0\nsha256 ${digest} a\nsha256 ${digest} a\n`],
    ['a path as a name', `stockade-release 1\nversion 0.2.0\nsha256 ${digest} ../a\n`],
    ['no version', 'stockade-release 1\n'],
  ])('that says %s is refused though it is signed', (_, text) => {
    const bytes = Buffer.from(text)
    expect(() => verifyRelease(bytes, sign('sha256', bytes, current.privateKey), trusted)).toThrow(/manifest/)
  })

  it('keys of another kind, and three keys, are refused', () => {
    expect(() => releaseKeys(pemOf(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey))).toThrow(/P-256/)
    expect(() => releaseKeys(pemOf(generateKeyPairSync('ed25519').publicKey))).toThrow(/P-256/)
    expect(() => releaseKeys(pemOf(current.publicKey).repeat(3))).toThrow(/3 public keys/)
    expect(() => releaseKeys('')).toThrow(/0 public keys/)
  })

  it('versions are in the order of Semantic Versioning', () => {
    const ordered = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
    ]
    for (let index = 1; index < ordered.length; index += 1)
      expect(compareVersions(ordered[index - 1] ?? '', ordered[index] ?? ''), ordered[index]).toBeLessThan(0)
  })
})
