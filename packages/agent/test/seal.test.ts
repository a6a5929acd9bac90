import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  canonicalJson,
  readOperatorKey,
  sealMessage,
  sealTree,
  statedParams,
  writeOperatorKey,
} from '@stockade/contract/seal.ts'
import type { OperatorKey, Seal, Signature } from '@stockade/contract/seal.ts'
import { parseInvocation } from '../src/options.ts'
import { createSealGate } from '../src/seal/gate.ts'
import { fingerprintOf, trustFile, withKey } from '../src/seal/operators.ts'
import { openSpent } from '../src/seal/spent.ts'
import { trustCommand } from '../src/seal/trust.ts'
import { sha256, verifySeal } from '../src/seal/verify.ts'
import type { Command } from '../src/wire.ts'

const vectors = JSON.parse(
  fs.readFileSync(new URL('../../../docs/spec/sealed-commands.vectors.json', import.meta.url), 'utf8'),
) as {
  template: object
  statements: string[]
  proofs: string[][]
  operator_keys: Record<'ed25519' | 'webauthn', string>
  signatures: Record<'ed25519' | 'webauthn', Signature>
}
const serverId = '0193d3a0-0000-7000-8000-000000000001'
const otherId = '0193d3a0-0000-7000-8000-000000000002'
const now = Date.parse('2026-12-01T12:00:00Z')
const site = { rp_id: 'stockade.example', origin: 'https://stockade.example' }
const spkiOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64url')

interface Signer {
  readonly key: OperatorKey
  sign(message: Buffer): Signature
}
/** An operator with a key file. */
const keyFile = (name = 'anna'): Signer => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const spki = spkiOf(publicKey)
  return {
    key: { kind: 'ed25519', name, spki },
    sign: message => ({
      kind: 'ed25519',
      key: fingerprintOf(spki),
      signature: sign(null, message, privateKey).toString('base64url'),
    }),
  }
}
interface Assertion {
  type?: string
  challenge?: string
  origin?: string
  rp?: string
  flags?: number
  more?: object
  by?: KeyObject
}
/** An operator with a passkey, whose assertion can be made wrong in one place. */
const passkey = (wrong: Assertion = {}, pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })): Signer => {
  const spki = spkiOf(pair.publicKey)
  return {
    key: { kind: 'webauthn', name: 'anna', spki, ...site },
    sign(message) {
      const client = Buffer.from(
        JSON.stringify({
          type: wrong.type ?? 'webauthn.get',
          challenge: wrong.challenge ?? createHash('sha256').update(message).digest('base64url'),
          origin: wrong.origin ?? site.origin,
          crossOrigin: false,
          ...wrong.more,
        }),
      )
      const rp = createHash('sha256')
        .update(wrong.rp ?? site.rp_id)
        .digest()
      const data = Buffer.concat([rp, Buffer.from([wrong.flags ?? 0x05, 0, 0, 0, 1])])
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
      return {
        kind: 'webauthn',
        key: fingerprintOf(spki),
        authenticator_data: data.toString('base64url'),
        client_data: client.toString('base64url'),
        signature: sign('sha256', signed, wrong.by ?? pair.privateKey).toString('base64url'),
      }
    },
  }
}
const disable: Command = { id: 'c1', type: 'jail-disable', params: { jail: 'sshd' } }
/** A command as it comes from the server, signed by somebody for some hosts. */
const sealed = async (
  signer: Signer,
  command: Command = disable,
  {
    targets = [serverId],
    issued = now / 1000,
    expires = now / 1000 + 3600,
    nonce = randomBytes(16).toString('base64url'),
  } = {},
): Promise<Command & { seal: Seal }> => {
  const params = await statedParams(command.params, sha256)
  const texts = targets.map(target =>
    canonicalJson({ v: 1, type: command.type, params, target, nonce, issued, expires }),
  )
  const { root, proofs } = await sealTree(texts, sha256)
  const signature = signer.sign(Buffer.from(sealMessage(root)))
  return { ...command, seal: { statement: texts[0] ?? '', proof: proofs[0] ?? [], signature } }
}

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-seal-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const trust = (...words: string[]): string => {
  const { rest, options } = parseInvocation(['trust', ...words, '--config', directory])
  return trustCommand(rest, options, () => now)
}
const gateAt = (clock: number = now) =>
  createSealGate({
    configDirectory: directory,
    serverId,
    spent: openSpent(join(directory, 'seals.json'), () => clock),
    now: () => clock,
  })

it.each(['ed25519', 'webauthn'] as const)('the vector of %s is verified', async kind => {
  const command = {
    id: 'c1',
    type: 'deploy-template',
    params: { template_id: 41, settings: { maxretry: 3 }, template: vectors.template },
  }
  const seal = { statement: vectors.statements[0], proof: vectors.proofs[0], signature: vectors.signatures[kind] }
  const operators = [withKey(readOperatorKey(vectors.operator_keys[kind]), 0)]
  const host = { serverId, operators, now: 1_796_083_300_000 }
  expect((await verifySeal(command, seal, host)).operator.name).toMatch(/^anna/)
  const changed = { ...command, params: { ...command.params, template: { ...vectors.template, filter_config: 'x' } } }
  await expect(verifySeal(changed, seal, host)).rejects.toThrow('other parameters were signed')
})

describe.each<[string, () => Signer]>([
  ['a key file', keyFile],
  ['a passkey on P-256', passkey],
  ['a passkey with Ed25519', () => ({ ...passkey(), ...ed25519Passkey() })],
])('a host that trusts %s', (_, make) => {
  it('runs what was signed, once, and refuses what a stolen server makes of it', async () => {
    const signer = make()
    trust('add', writeOperatorKey(signer.key))
    const gate = gateAt()
    const command = await sealed(signer, disable, { targets: [serverId, otherId] })
    const refused = (changed: Command, reason: RegExp) => expect(gate.open(changed)).rejects.toThrow(reason)
    await refused(disable, /only with an operator's signature, and this command has none/)
    await refused({ ...command, params: { jail: 'nginx' } }, /other parameters were signed/)
    await refused({ ...command, type: 'remove-template' }, /a jail-disable was signed/)
    await refused({ ...command, params: { jail: 'sshd', force: true } }, /other parameters were signed/)
    const edited = { ...command.seal, statement: command.seal.statement.replace('sshd', 'sshe') }
    await refused({ ...command, params: { jail: 'sshe' }, seal: edited }, /refused/)
    await refused({ ...command, seal: { ...command.seal, proof: [] } }, /refused/)
    await refused({ ...command, seal: { ...command.seal, proof: ['L00'] } }, /malformed/)
    expect(await gate.open(command)).toBe(signer.key.name)
    await refused(command, /used before/)
    // Also after others, which sort out what is too old to matter.
    await gate.open(await sealed(signer, disable))
    await refused({ ...command, id: 'another' }, /used before/)
    // Also after the agent was started again.
    await expect(gateAt().open(command)).rejects.toThrow(/used before/)
  })

  it('refuses what is for another host, too old, or from the future', async () => {
    const signer = make()
    trust('add', writeOperatorKey(signer.key))
    const gate = gateAt()
    await expect(gate.open(await sealed(signer, disable, { targets: [otherId] }))).rejects.toThrow(/for another server/)
    const old = await sealed(signer, disable, { issued: now / 1000 - 7200, expires: now / 1000 - 1 })
    await expect(gate.open(old)).rejects.toThrow(/expired at .*; this host's clock says 2026-12-01T12:00:00/)
    const hour = 3_600_000
    await expect(gateAt(now - hour).open(await sealed(signer))).rejects.toThrow(/in the future; this host's clock says/)
    await expect(gateAt(now + hour).open(await sealed(signer))).rejects.toThrow(/expired/)
  })

  it('refuses the signature of a key that it does not trust, also under a trusted name', async () => {
    const signer = make()
    const stranger = make()
    trust('add', writeOperatorKey(signer.key))
    const foreign = await sealed(stranger)
    await expect(gateAt().open(foreign)).rejects.toThrow(/is not trusted on this host/)
    const signature = { ...foreign.seal.signature, key: fingerprintOf(signer.key.spki) }
    await expect(gateAt().open({ ...foreign, seal: { ...foreign.seal, signature } })).rejects.toThrow(/not one of anna/)
  })

  it.each([
    ['empty', ''],
    ['a byte', 'AA'],
    ['cut', undefined],
    ['zeroes', Buffer.alloc(64).toString('base64url')],
  ])('refuses a signature that is %s', async (__, given) => {
    const signer = make()
    trust('add', writeOperatorKey(signer.key))
    const command = await sealed(signer)
    const { signature } = command.seal
    const changed = { ...signature, signature: given ?? signature.signature.slice(0, -8) }
    await expect(gateAt().open({ ...command, seal: { ...command.seal, signature: changed } })).rejects.toThrow(
      /refused/,
    )
  })
})

const ed25519Passkey = (): Signer => {
  const pair = generateKeyPairSync('ed25519')
  const made = passkey({ by: pair.privateKey }, { ...pair } as never)
  return {
    key: made.key,
    sign(message) {
      const client = Buffer.from(
        JSON.stringify({
          type: 'webauthn.get',
          challenge: createHash('sha256').update(message).digest('base64url'),
          origin: site.origin,
        }),
      )
      const data = Buffer.concat([createHash('sha256').update(site.rp_id).digest(), Buffer.from([0x05, 0, 0, 0, 1])])
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
      return {
        kind: 'webauthn',
        key: fingerprintOf(made.key.spki),
        authenticator_data: data.toString('base64url'),
        client_data: client.toString('base64url'),
        signature: sign(null, signed, pair.privateKey).toString('base64url'),
      }
    },
  }
}

it.each<[string, Assertion, RegExp]>([
  ['on another site', { origin: 'https://stockade.example.evil.example' }, /on another site/],
  ['on plain http', { origin: 'http://stockade.example' }, /on another site/],
  ['for another site', { rp: 'evil.example' }, /belongs to another site/],
  ['to register', { type: 'webauthn.create' }, /was not asked for a signature/],
  ['for another challenge', { challenge: 'AAAA' }, /signed something else/],
  ['inside another site', { more: { crossOrigin: true } }, /inside another site/],
  ['below another site', { more: { topOrigin: 'https://evil.example' } }, /inside another site/],
  ['without its user', { flags: 0x04 }, /without its user/],
  ['without user verification', { flags: 0x01 }, /did not verify its user/],
  ['with another key', { by: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey }, /not one of anna/],
  [
    'with a key on another curve',
    { by: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey },
    /not one of anna/,
  ],
])('a passkey used %s is refused', async (_, wrong, reason) => {
  const signer = passkey(wrong)
  trust('add', writeOperatorKey(signer.key))
  await expect(gateAt().open(await sealed(signer))).rejects.toThrow(reason)
})

describe('what a host demands', () => {
  it('is nothing without operators', async () => {
    expect(await gateAt().open(disable)).toBeNull()
    expect(gateAt().report()).toBeNull()
    expect(trust('list')).toContain('no operator is trusted')
  })

  it('are the types that its root chose, and wide bans', async () => {
    const signer = keyFile()
    expect(trust('add', writeOperatorKey(signer.key), '--types', 'service-restart,wide-ban')).toContain(
      'service-restart, wide-ban',
    )
    const gate = gateAt()
    expect(await gate.open(disable)).toBeNull()
    expect(await gate.open({ id: 'b', type: 'ban-ip', params: { jail: 'sshd', ip: '198.51.100.0/24' } })).toBeNull()
    const wide = { id: 'b', type: 'ban-ip', params: { jail: 'sshd', ip: '198.51.0.0/16' } }
    await expect(gate.open(wide)).rejects.toThrow(/only with an operator's signature/)
    expect(await gate.open(await sealed(signer, wide))).toBe('anna')
    expect(gate.report()).toEqual({
      types: ['service-restart', 'wide-ban'],
      operators: [{ name: 'anna', kind: 'ed25519', fingerprint: fingerprintOf(signer.key.spki) }],
      error: null,
    })
    expect(() => trust('add', writeOperatorKey(keyFile().key), '--types', 'anything')).toThrow(/no class of commands/)
    expect(() => trust('add', writeOperatorKey(signer.key))).toThrow(/trusted already/)
    expect(trust('remove', 'anna')).toContain('need no signature here any more')
    expect(await gate.open(wide)).toBeNull()
  })

  it.each<[string, (file: string) => unknown]>([
    ['is cut', file => fs.writeFileSync(file, fs.readFileSync(file, 'utf8').slice(0, -10))],
    ['is empty', file => fs.writeFileSync(file, '')],
    ['has a field more', file => fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('{', '{"x":1,'))],
    [
      'is of a newer version',
      file => fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"version": 1', '"version": 2')),
    ],
    [
      'names an unknown class',
      file => fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"jail-disable"', '"jail-disabel"')),
    ],
    ['can be written by others', file => fs.chmodSync(file, 0o666)],
    ['is a directory', file => [fs.rmSync(file), fs.mkdirSync(file)]],
  ])('is everything refused where the file %s', async (_, damage) => {
    const signer = keyFile()
    trust('add', writeOperatorKey(signer.key))
    damage(trustFile(directory))
    const harmless = { id: 'b', type: 'jail-status', params: { jail: 'sshd' } }
    await expect(gateAt().open(harmless)).rejects.toThrow(/no command is taken: .*operators\.json/)
    await expect(gateAt().open(await sealed(signer))).rejects.toThrow(/no command is taken/)
    expect(gateAt().report()?.error).toMatch(/operators\.json/)
  })

  it('is nothing signed any more where it is not known which signatures were used', async () => {
    const signer = keyFile()
    trust('add', writeOperatorKey(signer.key))
    fs.writeFileSync(join(directory, 'seals.json'), '{"nonces": {')
    await expect(gateAt().open(await sealed(signer))).rejects.toThrow(/seals\.json is damaged/)
  })

  it('is never a weak key', () => {
    const weak = [
      generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey,
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey,
      generateKeyPairSync('x25519').publicKey,
    ]
    for (const key of weak)
      expect(() => trust('add', writeOperatorKey({ kind: 'webauthn', name: 'x', spki: spkiOf(key), ...site }))).toThrow(
        /neither/,
      )
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    expect(() => trust('add', writeOperatorKey({ kind: 'ed25519', name: 'x', spki: spkiOf(publicKey) }))).toThrow(
      /neither/,
    )
  })
})
