import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '@stockade/contract/seal.ts'
import { aHost, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

/* What the server does about commands that hosts want signed. That the host judges the signature is tested with the agent. */

const clock = movableClock()
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const spki = publicKey.export({ type: 'spki', format: 'der' })
const fingerprint = `SHA256:${createHash('sha256').update(spki).digest('base64').replace(/=+$/, '')}`
const sealed = {
  types: ['deploy-template', 'jail-disable', 'wide-ban'],
  operators: [{ name: 'anna', kind: 'ed25519', fingerprint }],
  error: null,
}
let server: TestServer
let admin: Signed
let host: EnrolledHost
let open: EnrolledHost

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'web-01')
  open = await aHost(server, admin.client, 'web-02')
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01', sealed } })
})
afterAll(() => server.close())

const ask = (path: string, body: object) => raw(server, 'POST', `/api/v1${path}`, { token: admin.token, body })
interface Prepared {
  statements: string[]
  message: string
  sealed_servers: string[]
  template: { name: string } | null
}
const prepare = async (body: object) => (await ask('/commands/prepare', body)).json as Prepared
const signatureOf = ({ message }: { message: string }, key = fingerprint) => ({
  kind: 'ed25519',
  key,
  signature: sign(null, Buffer.from(message), privateKey).toString('base64url'),
})
const disable = (...ids: string[]) => ({ type: 'jail-disable', params: { jail: 'sshd' }, server_ids: ids })

test('a host shows what it wants signed, and by whom', async () => {
  expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).toMatchObject({
    sealed,
  })
  expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: open.id } })).toMatchObject({
    sealed: null,
  })
})

describe('without a signature', () => {
  test.each<[string, string, object]>([
    ['a command', '/servers/HOST/commands', { type: 'jail-disable', params: { jail: 'sshd' } }],
    ['a batch', '/commands/batch', { ...disable('HOST', 'OPEN') }],
    ['a wide ban', '/servers/HOST/bans', { ip: '198.51.0.0/16' }],
    ['a deployment', '/templates/sshd/deploy', { server_ids: ['HOST'] }],
  ])('%s is refused with the name of the host, and nothing is queued', async (_, path, body) => {
    const text = JSON.stringify(body).replace('HOST', host.id).replace('OPEN', open.id)
    const before = (await admin.client.call('GET /commands')).total
    const reply = await ask(path.replace('HOST', host.id), JSON.parse(text) as object)
    expect(reply).toMatchObject({
      status: 409,
      json: { message: expect.stringMatching(/^web-01 takes this only with/), seal_required: { servers: ['web-01'] } },
    })
    expect((await admin.client.call('GET /commands')).total).toBe(before)
  })

  test('what the host does not seal, and what another host does not seal, is queued', async () => {
    expect((await ask(`/servers/${host.id}/commands`, { type: 'jail-enable', params: { jail: 'sshd' } })).status).toBe(
      201,
    )
    expect((await ask(`/servers/${host.id}/bans`, { ip: '198.51.100.0/24' })).status).toBe(201)
    expect((await ask(`/servers/${open.id}/commands`, { type: 'jail-disable', params: { jail: 'sshd' } })).status).toBe(
      201,
    )
  })
})

test('what was signed is handed out with its seal, each host its own', async () => {
  const prepared = await prepare(disable(host.id, open.id))
  expect(prepared).toMatchObject({ sealed_servers: ['web-01'], rp_id: 'localhost', template: null })
  const { statements } = prepared
  expect(statements.map(text => (JSON.parse(text) as { target: string }).target)).toEqual([host.id, open.id])
  const reply = await ask('/commands/sealed', { statements, signature: signatureOf(prepared) })
  expect(reply).toMatchObject({ status: 201, json: { commands: [{ server_id: host.id }, { server_id: open.id }] } })
  const { commands } = await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
  const order = commands.find(({ type }) => type === 'jail-disable')
  expect(order).toMatchObject({
    params: { jail: 'sshd' },
    seal: {
      statement: statements[0],
      proof: [expect.stringMatching(/^R[0-9a-f]{64}$/)],
      signature: { key: fingerprint },
    },
  })
})

test('a deployment is signed by its content, and refused when the template changed since', async () => {
  const { id } = await admin.client.call('POST /templates', {
    body: {
      name: 'shop',
      jail_config: '[shop]\nenabled = true\nfilter = shop\nlogpath = /var/log/shop.log\n',
      filter_config: '[Definition]\nfailregex = ^no <HOST>$\n',
    },
  })
  const wanted = { type: 'deploy-template', params: { template_id: id, settings: {} }, server_ids: [host.id] }
  const prepared = await prepare(wanted)
  expect(prepared.template).toMatchObject({ name: 'shop' })
  expect(JSON.parse(prepared.statements[0] ?? '')).toMatchObject({
    params: {
      template_id: id,
      template_sha256: createHash('sha256').update(canonicalJson(prepared.template)).digest('hex'),
    },
  })
  await admin.client.call('PATCH /templates/{templateId}', {
    params: { templateId: String(id) },
    body: { filter_config: '[Definition]\nfailregex = ^never <HOST>$\n' },
  })
  const { statements } = prepared
  expect(await ask('/commands/sealed', { statements, signature: signatureOf(prepared) })).toMatchObject({ status: 409 })
  const again = await prepare(wanted)
  const signature = signatureOf(again)
  expect(await ask('/commands/sealed', { statements: again.statements, signature })).toMatchObject({ status: 201 })
  const { commands } = await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
  const order = commands.find(({ type }) => type === 'deploy-template')
  expect(order?.template).toEqual(again.template)
})

describe('what is not in order is refused, and nothing is queued', () => {
  const refused = async (status: number, reason: RegExp, change: (prepared: Prepared) => object) => {
    const prepared = await prepare(disable(host.id, open.id))
    const { statements } = prepared
    const before = (await admin.client.call('GET /commands')).total
    const reply = await ask('/commands/sealed', { statements, signature: signatureOf(prepared), ...change(prepared) })
    expect(reply).toMatchObject({ status, json: { message: expect.stringMatching(reason) } })
    expect((await admin.client.call('GET /commands')).total).toBe(before)
  }
  const other = `SHA256:${'A'.repeat(43)}`
  test.each<[string, number, RegExp, (prepared: Prepared) => object]>([
    [
      'a key that the host does not trust',
      409,
      /^web-01 does not trust the key SHA256:A/,
      p => ({ signature: signatureOf(p, other) }),
    ],
    ['a text that is not canonical', 400, /canonical/, p => ({ statements: [` ${p.statements[0] ?? ''}`] })],
    ['a statement twice', 400, /twice/, p => ({ statements: [p.statements[0], p.statements[0]] })],
    ['junk', 400, /JSON/, () => ({ statements: ['{{'] })],
    [
      'an unknown server',
      400,
      /no server/,
      p => ({ statements: [(p.statements[0] ?? '').replace(host.id, '0193d3a0-0000-7000-8000-00000000ffff')] }),
    ],
    [
      'other parameters than a jail-disable has',
      400,
      /is not a known field/,
      p => ({ statements: [(p.statements[0] ?? '').replace('"jail":', '"jaul":')] }),
    ],
  ])('%s', async (_, status, reason, change) => refused(status, reason, change))

  test('a passkey that signed something else', async () => {
    const client = Buffer.from('{"type":"webauthn.get","challenge":"AAAA"}').toString('base64url')
    await refused(400, /signed something else/, () => ({
      signature: {
        kind: 'webauthn',
        key: fingerprint,
        authenticator_data: 'AAAA',
        client_data: client,
        signature: 'AAAA',
      },
    }))
  })
  test('a signature that has expired', async () => {
    const prepared = await prepare({ ...disable(host.id), valid_for: 60 })
    clock.forward(61)
    const { statements } = prepared
    expect(await ask('/commands/sealed', { statements, signature: signatureOf(prepared) })).toMatchObject({
      status: 400,
    })
  })
  test('a server that the caller may not see', async () => {
    const { id } = await admin.client.call('POST /users', {
      body: { username: 'olga', email: 'olga@stockade.example', password: 'Sup3r-secret-1', role: 'Operator' },
    })
    await admin.client.call('PUT /users/{userId}/server-access', {
      params: { userId: id },
      body: { access_type: 'specific', server_ids: [open.id] },
    })
    const { json } = await raw(server, 'POST', '/api/v1/auth/login', {
      body: { username: 'olga', password: 'Sup3r-secret-1' },
    })
    const { access_token: token } = json as { access_token: string }
    const prepared = await prepare(disable(host.id))
    const body = { statements: prepared.statements, signature: signatureOf(prepared) }
    expect(await raw(server, 'POST', '/api/v1/commands/sealed', { token, body })).toMatchObject({ status: 403 })
    expect(await raw(server, 'POST', '/api/v1/commands/prepare', { token, body: disable(host.id) })).toMatchObject({
      status: 403,
    })
  })
})

test('a command that a host wants signed cannot be tried again without', async () => {
  const { commands } = (await ask('/commands/sealed', await signedDisable())).json as { commands: { id: string }[] }
  const id = commands[0]?.id ?? ''
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
  await host.client.call('POST /commands/{commandId}/result', { params: { commandId: id }, body: { success: false } })
  expect(await ask(`/commands/${id}/retry`, {})).toMatchObject({
    status: 409,
    json: { message: /only with an operator/ },
  })
})
const signedDisable = async () => {
  const prepared = await prepare(disable(host.id))
  return { statements: prepared.statements, signature: signatureOf(prepared) }
}

test('about a thousand statements are one request', async () => {
  const list = Array.from({ length: 490 }, (_, index) => ({ jail: 'sshd', ip: `198.18.${index >> 8}.${index & 255}` }))
  const prepared = await prepare({ type: 'ban-ip', params_list: list, server_ids: [open.id, host.id] })
  const { statements } = prepared
  expect(await ask('/commands/sealed', { statements, signature: signatureOf(prepared) })).toMatchObject({ status: 201 })
})
