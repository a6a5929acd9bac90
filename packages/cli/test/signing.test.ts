import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOperatorKey } from '@stockade/contract/seal.ts'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'
import { onTerminal } from './terminal.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'stockade-signing-'))
const keyFile = join(directory, 'anna.pem')
let server: TestServer
let admin: Signed
let web: EnrolledHost
let env: Record<string, string>
let line = ''

beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  const { key } = await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })
  env = { PATH: process.env.PATH ?? '', STOCKADE_URL: server.url, STOCKADE_API_KEY: key }
  const made = await run('operator-key', 'new', keyFile, '--name', 'anna')
  line = /stockade-operator-key-v1:\S+/.exec(made.out)?.[0] ?? ''
  const { spki } = readOperatorKey(line)
  const fingerprint = `SHA256:${createHash('sha256').update(Buffer.from(spki, 'base64url')).digest('base64').replace(/=+$/, '')}`
  expect(made.out).toContain(fingerprint)
  const sealed = {
    types: ['jail-disable', 'deploy-template'],
    operators: [{ name: 'anna', kind: 'ed25519', fingerprint }],
  }
  await web.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01', sealed } })
})
afterAll(async () => {
  await server?.close()
  rmSync(directory, { recursive: true, force: true })
})

const run = (...args: string[]) => stockade(env, args)
const orders = async () => (await web.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })).commands

test('a key is its owner’s, is never overwritten, and is shown again', async () => {
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  expect(await run('operator-key', 'new', keyFile)).toMatchObject({ code: 1, err: expect.stringContaining('EEXIST') })
  expect((await run('operator-key', 'show', keyFile, '--name', 'anna')).out).toContain(line)
})

test('what a host wants signed is refused unsigned, with how to sign it', async () => {
  expect(await run('jails', 'disable', 'nginx', '--server', 'web-01')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/web-01 takes this only with an operator's signature.*--sign/),
  })
})

test('a wide whitelist entry, a closed port and a wide ban are approved by signature', async () => {
  const signed = ['--server', 'web-01', '--sign', keyFile, '--yes']
  expect(await run('approve', 'whitelist', '2001:db8::/32', ...signed)).toMatchObject({
    code: 0,
    err: expect.stringMatching(/You sign approve-whitelist \{"ip":"2001:db8::\/32"\} for web-01/),
  })
  expect(await run('approve', 'port', '22', ...signed)).toMatchObject({
    code: 0,
    err: expect.stringContaining('approve-port'),
  })
  expect(await run('approve', 'ban', '198.51.0.0/16', ...signed)).toMatchObject({
    code: 0,
    err: expect.stringContaining('approve-ban'),
  })
  expect(await orders()).toMatchObject([
    { type: 'approve-whitelist', params: { ip: '2001:db8::/32' }, seal: { signature: { kind: 'ed25519' } } },
    { type: 'approve-port', params: { port: 22 }, seal: { signature: { kind: 'ed25519' } } },
    { type: 'approve-ban', params: { ip: '198.51.0.0/16' }, seal: { signature: { kind: 'ed25519' } } },
  ])
})

test('signed, it is queued with its seal, and says what was signed', async () => {
  const ran = await run('jails', 'disable', 'nginx', '--server', 'web-01', '--sign', keyFile, '--yes')
  expect(ran).toMatchObject({
    code: 0,
    err: expect.stringMatching(/You sign jail-disable \{"jail":"nginx"\} for web-01/),
  })
  expect(await orders()).toMatchObject([{ type: 'jail-disable', seal: { signature: { kind: 'ed25519' } } }])
  const deployed = await run(
    'templates',
    'deploy',
    'nginx-bad-request',
    '--server',
    'web-01',
    '--sign',
    keyFile,
    '--yes',
  )
  expect(deployed).toMatchObject({ code: 0, err: expect.stringContaining('--- jail nginx-bad-request ---') })
  expect(await orders()).toMatchObject([{ type: 'deploy-template', template: { name: 'nginx-bad-request' } }])
})

test('it is asked first, on a terminal', async () => {
  const args = [process.execPath, launcher, 'jails', 'disable', 'nginx', '--server', 'web-01', '--sign', keyFile]
  expect(await onTerminal(args, env, 'n\n')).toMatchObject({ code: 1 })
  expect(await orders()).toEqual([])
  expect(await onTerminal(args, env, 'y\n')).toMatchObject({ code: 0 })
  expect(await orders()).toHaveLength(1)
})

test('a file that is no Ed25519 key is refused', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const file = join(directory, 'other.pem')
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  for (const [path, reason] of [
    [file, 'not an Ed25519 key'],
    [join(directory, 'absent.pem'), 'can not be read'],
    [launcher, 'holds no private key'],
  ] as const)
    expect(await run('jails', 'disable', 'nginx', '--server', 'web-01', '--sign', path, '--yes')).toMatchObject({
      code: 2,
      err: expect.stringContaining(reason),
    })
})

test.each<[string, (statement: Record<string, unknown>) => object, RegExp]>([
  ['another type', () => ({ type: 'remove-template' }), /a remove-template instead of a jail-disable/],
  ['another jail', () => ({ params: { jail: 'sshd' } }), /other parameters/],
  ['another host', () => ({ target: '0193d3a0-0000-7000-8000-00000000ffff' }), /for other servers/],
  [
    'a year',
    ({ issued }) => ({ issued: Number(issued) + 8 * 86_400, expires: Number(issued) + 9 * 86_400 }),
    /longer time/,
  ],
  [
    'a template on the side',
    () => ({ params: { jail: 'nginx', template_sha256: 'a'.repeat(64) } }),
    /another template/,
  ],
])('a stolen server that wants %s signed gets no signature', async (_, change, reason) => {
  let signed = 0
  // Between the command line and a real server somebody changes what is to be signed.
  const thief = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url?.endsWith('/commands/sealed')) signed++
      void fetch(server.url + (request.url ?? ''), {
        method: request.method ?? 'GET',
        headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
        ...(request.method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
      }).then(async answer => {
        const body = (await answer.json()) as { statements?: string[] }
        const changed = body.statements?.map(text => {
          const statement = JSON.parse(text) as Record<string, unknown>
          const sorted = Object.entries({ ...statement, ...change(statement) }).sort(([a], [b]) => (a < b ? -1 : 1))
          return JSON.stringify(Object.fromEntries(sorted))
        })
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(changed ? { ...body, statements: changed } : body))
      })
    })
  })
  await new Promise<void>(resolve => thief.listen(0, '127.0.0.1', resolve))
  try {
    const at = { ...env, STOCKADE_URL: `http://127.0.0.1:${(thief.address() as AddressInfo).port}` }
    const args = ['jails', 'disable', 'nginx', '--server', 'web-01', '--sign', keyFile, '--yes']
    const ran = await stockade(at, args)
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(reason) })
    expect(signed).toBe(0)
  } finally {
    thief.closeAllConnections()
    thief.close()
  }
  expect(readFileSync(keyFile, 'utf8')).toContain('PRIVATE KEY')
})
