import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  canonicalJson,
  sealMessage,
  sealTree,
  statedParams,
  writeOperatorKey,
  type Signature,
} from '../../packages/contract/src/seal.ts'
import { until } from '../engine/host.ts'
import { carriedOut } from '../engine/scenarios.ts'
import { onStage } from '../engine/stage.ts'

/*
 * A server is stolen in front of a host that takes some commands only with an operator's signature. The thief has everything that the
 * server has, every signature that was ever made among it, but no operator's key.
 */

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Buffer): string => bytes.toString('base64url')
const site = { rp_id: 'stockade.example', origin: 'https://stockade.example' }
const spkiOf = (key: KeyObject): string => base64url(key.export({ type: 'spki', format: 'der' }))
const fingerprintOf = (spki: string): string =>
  `SHA256:${createHash('sha256').update(Buffer.from(spki, 'base64url')).digest('base64').replace(/=+$/, '')}`

interface Wrong {
  origin?: string
  flags?: number
  by?: KeyObject
}
const anna = generateKeyPairSync('ed25519')
const passkey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const byKey = (message: Buffer, wrong: Wrong = {}): Signature => ({
  kind: 'ed25519',
  key: fingerprintOf(spkiOf(anna.publicKey)),
  signature: base64url(sign(null, message, wrong.by ?? anna.privateKey)),
})
const byPasskey = (message: Buffer, wrong: Wrong = {}): Signature => {
  const challenge = base64url(createHash('sha256').update(message).digest())
  const client = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin: wrong.origin ?? site.origin }))
  const rp = createHash('sha256').update(site.rp_id).digest()
  const data = Buffer.concat([rp, Buffer.from([wrong.flags ?? 0x05, 0, 0, 0, 0])])
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
  return {
    kind: 'webauthn',
    key: fingerprintOf(spkiOf(passkey.publicKey)),
    authenticator_data: base64url(data),
    client_data: base64url(client),
    signature: base64url(sign('sha256', signed, wrong.by ?? passkey.privateKey)),
  }
}

interface Settings extends Wrong {
  nonce?: string
  issued?: number
  expires?: number
  with?: typeof byKey
}
const sealOf = async (type: string, params: Record<string, unknown>, target: string, settings: Settings = {}) => {
  const now = Math.floor(Date.now() / 1000)
  const { nonce = base64url(randomBytes(16)), issued = now, expires = now + 600 } = settings
  const stated = await statedParams(params, sha256)
  const statement = canonicalJson({ v: 1, type, params: stated, target, nonce, issued, expires })
  const { root } = await sealTree([statement], sha256)
  return { statement, proof: [], signature: (settings.with ?? byKey)(Buffer.from(sealMessage(root)), settings) }
}

onStage('a stolen server before a host that seals', [], scene => {
  const disable = { jail: 'sshd' }
  const running = async () => (await scene().host.client('status')).includes('sshd')
  const attempt = async (type: string, params: Record<string, unknown>, seal?: unknown) =>
    carriedOut(scene(), type, { ...params, ...(seal ? { seal } : {}) })
  const sealed = (settings: Settings = {}) => sealOf('jail-disable', disable, scene().serverId, settings)

  it('root of the host trusts two operators, and the server is told', async () => {
    const { host, server, serverId } = scene()
    const keys = [
      writeOperatorKey({ kind: 'ed25519', name: 'anna', spki: spkiOf(anna.publicKey) }),
      writeOperatorKey({ kind: 'webauthn', name: 'anna: laptop', spki: spkiOf(passkey.publicKey), ...site }),
    ]
    for (const key of keys) expect(await host.agentCommand('trust', 'add', key)).toContain('is trusted now')
    expect(await host.agentCommand('trust', 'list')).toMatch(
      /anna {2}ed25519[^]*anna: laptop {2}webauthn[^]*jail-disable/,
    )
    const told = () => server.heartbeats(serverId).at(-1)?.['sealed'] as { operators: unknown[] } | null | undefined
    await until(() => told()?.operators.length === 2, 'the heartbeat that names the operators')
  })

  it('commands nothing that is sealed', async () => {
    const { serverId } = scene()
    const now = Math.floor(Date.now() / 1000)
    const stranger = generateKeyPairSync('ed25519').privateKey
    const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
    const good = await sealed()
    const attacks: [string, unknown, RegExp][] = [
      ['none', undefined, /only with an operator's signature, and this command has none/],
      ['junk', { statement: 7, proof: 'x', signature: [] }, /refused/],
      ['another key', await sealed({ by: stranger }), /not one of anna/],
      [
        'for another host',
        await sealOf('jail-disable', disable, '0193d3a0-0000-7000-8000-000000000009'),
        /another server/,
      ],
      ['of another jail', await sealOf('jail-disable', { jail: 'nginx' }, serverId), /other parameters were signed/],
      ['of another type', await sealOf('jail-status', disable, serverId), /a jail-status was signed/],
      ['expired', await sealed({ issued: now - 900, expires: now - 1 }), /expired/],
      ['from the future', await sealed({ issued: now + 3600, expires: now + 7200 }), /future/],
      ['for a month', await sealed({ expires: now + 30 * 86_400 }), /seven days/],
      [
        'of a passkey on another site',
        await sealed({ with: byPasskey, origin: 'https://evil.example' }),
        /another site/,
      ],
      ['of a passkey without its user', await sealed({ with: byPasskey, flags: 0x01 }), /did not verify its user/],
      ['of another passkey', await sealed({ with: byPasskey, by: p256 }), /not one of anna: laptop/],
      [
        'cut',
        { ...good, signature: { ...good.signature, signature: good.signature.signature.slice(4) } },
        /not one of anna/,
      ],
      [
        'edited',
        { ...good, statement: good.statement.replace(/"expires":\d+/, `"expires":${now + 7000}`) },
        /not one of anna/,
      ],
    ]
    for (const [name, seal, reason] of attacks)
      expect(await attempt('jail-disable', disable, seal), name).toMatchObject({
        success: false,
        output: expect.stringMatching(reason) as string,
      })
    expect(await running()).toBe(true)
    const wide = await attempt('ban-ip', { jail: 'stockade', ip: '198.51.0.0/16' })
    expect(wide).toMatchObject({ success: false, output: expect.stringMatching(/only with an operator/) as string })
  })

  it.each([
    ['a key', byKey],
    ['a passkey', byPasskey],
  ])('replays nothing that was signed with %s', async (_, by) => {
    const { host, server } = scene()
    const once = await sealed({ with: by })
    const done = await attempt('jail-disable', disable, once)
    expect(done).toMatchObject({ success: true, output: expect.stringMatching(/signed by anna/) as string })
    await until(async () => !(await running()), 'the jail to end')
    expect(await attempt('jail-enable', disable)).toMatchObject({ success: true })
    await until(running, 'the jail to run')
    const reused = { success: false, output: expect.stringMatching(/used before/) as string }
    expect(await attempt('jail-disable', disable, once)).toMatchObject(reused)
    // Neither as the same order again, nor after the agent was killed and started anew.
    server.redeliver(done.id)
    await host.killAgent()
    await host.startAgent()
    expect(await attempt('jail-disable', disable, once)).toMatchObject(reused)
    expect(await running()).toBe(true)
  })

  it('neither whitelists a wide range nor closes a port until an operator approves it, and cannot bring it back', async () => {
    const { host, server, serverId } = scene()
    const error = () => server.acks.at(-1)?.error ?? ''
    server.whitelist(['198.51.100.7'])
    await until(() => server.agreed() !== null, 'a list without wide ranges')
    server.whitelist(['198.51.100.7', '45.33.0.0/16'])
    await until(() => error().includes('no operator approved'), 'the refusal of the wide range')
    expect(await host.client('get', 'sshd', 'ignoreip')).not.toContain('45.33')
    expect(await attempt('approve-whitelist', { ip: '45.33.0.0/16' })).toMatchObject({ success: false })
    const approval = await sealOf('approve-whitelist', { ip: '45.33.0.0/16' }, serverId)
    expect(await attempt('approve-whitelist', { ip: '45.33.0.0/16' }, approval)).toMatchObject({ success: true })
    await until(() => server.agreed() !== null, 'the list with the wide range')
    expect(await host.client('get', 'sshd', 'ignoreip')).toContain('45.33.0.0/16')
    server.whitelist(['198.51.100.7'])
    await until(() => server.agreed() !== null, 'the list without it')
    server.whitelist(['198.51.100.7', '45.33.0.0/16'])
    await until(() => error().includes('no operator approved'), 'the refusal of what was taken off')
    server.whitelist(['198.51.100.7'])

    const gate = {
      id: 1,
      revision: 1,
      protected_port: 2222,
      knock_ports: [7001, 8001, 9001],
      protocol: 'tcp',
      timeout: 30,
      knock_timeout: 10,
      max_attempts: 5,
      block_duration: 60,
    }
    server.knock([gate])
    const about = () => server.acks.at(-1)?.sequences.find(each => each['id'] === 1)
    await until(() => about()?.['state'] === 'failed', 'the refusal of the port')
    expect(about()?.['error']).toBe('no operator approved on this host that port 2222 is closed')
    const port = await sealOf('approve-port', { port: 2222 }, serverId)
    expect(await attempt('approve-port', { port: 2222 }, port)).toMatchObject({ success: true })
    await until(() => about()?.['state'] === 'enforced', 'the port to be closed')
  })

  it('gets no command at all done once the file of operators is damaged, until root puts it right', async () => {
    const { host } = scene()
    const file = `${host.agentConfig}/operators.json`
    await host.inside('sh', '-c', `cp -p '${file}' '${file}.kept' && echo '{' > '${file}'`)
    const status = await attempt('jail-status', disable)
    expect(status).toMatchObject({
      success: false,
      output: expect.stringMatching(/no command is taken: .*operators/) as string,
    })
    await host.inside('mv', `${file}.kept`, file)
    expect(await attempt('jail-status', disable)).toMatchObject({ success: true })
  })
})
