import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { password, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { Ran } from './run.ts'
import type { Signed, TestServer } from '../../server/src/testing/index.ts'
import { onTerminal } from './terminal.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
const day = 86_400_000
let server: TestServer
let admin: Signed
let key: string
let serverId: string
beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
  serverId = (await admin.client.call('POST /servers', { body: { hostname: 'web-01.example' } })).id
})
afterAll(() => server?.close())

const envOf = (own: string) => ({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: own })
const runAs = (own: string, ...args: string[]) => stockade(envOf(own), ['keys', ...args])
const run = (...args: string[]) => runAs(key, ...args)
const cells = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => line.trim().split(/ {2,}/))
const fields = (text: string) => Object.fromEntries(cells(text).map(([name = '', value = '']) => [name, value]))
const rowsOf = (text: string) => {
  const [headings = [], ...rows] = cells(text)
  return rows
    .filter(row => row.length === headings.length)
    .map(row => Object.fromEntries(headings.map((heading, column) => [heading, row[column]])))
}
const idOf = (made: Ran) => fields(made.out).id ?? ''
const statusFor = (own: string | undefined) =>
  server
    .client(own)
    .call('GET /bans')
    .then(
      () => 200,
      (error: { status: number }) => error.status,
    )

test('a key with every limit is made, listed with them, and revoked', async () => {
  const limits = ['--server', 'WEB-01.example', '--scopes', 'bans,whitelist', '--networks', '127.0.0.1,198.51.100.0/24']
  const made = await run('create', 'deploy', '--permissions', 'write', ...limits, '--expires', '2099-01-31')
  expect(made).toMatchObject({ code: 0, err: '', out: expect.stringContaining('shown only now') })
  const shown = fields(made.out)
  expect(shown).toMatchObject({
    name: 'deploy',
    permissions: 'write',
    server: 'WEB-01.example',
    scopes: 'bans,whitelist',
    networks: '127.0.0.1,198.51.100.0/24',
    expires: '2099-01-31T00:00:00Z',
    key: expect.stringMatching(/^svc_\w{32}$/),
  })
  expect(await statusFor(shown.key)).toBe(200)
  const [listed, asJson] = await Promise.all([run('list'), run('list', '--user', 'ADMIN', '--json')])
  expect(rowsOf(listed.out).find(({ ID }) => ID === shown.id)).toMatchObject({
    NAME: 'deploy',
    USER: 'admin',
    PERMISSIONS: 'write',
    SERVER: 'web-01.example',
    SCOPES: 'bans,whitelist',
    NETWORKS: shown.networks,
    EXPIRES: shown.expires,
    FROM: '127.0.0.1',
    KEY: `${shown.key?.slice(0, 8)}…`,
  })
  expect(JSON.parse(asJson.out)).toMatchObject({
    keys: expect.arrayContaining([expect.objectContaining({ name: 'deploy', server_id: serverId })]),
  })
  expect(listed.out + asJson.out).not.toContain(shown.key)
  expect(await run('revoke', idOf(made), '--yes')).toMatchObject({ code: 0, err: '', out: 'The API key is revoked.\n' })
  expect(await statusFor(shown.key)).toBe(401)
  expect(await run('revoke', idOf(made), '--yes')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no API key'),
  })
})

test('a key ends after 90 days, unless told otherwise', async () => {
  const endOf = async (...args: string[]) => {
    const made = await run('create', 'ends', '--permissions', 'read', '--json', ...args)
    expect(made).toMatchObject({ code: 0, err: '' })
    return (JSON.parse(made.out) as { expires_at: string | null }).expires_at
  }
  // The end is given in whole seconds.
  const before = Math.floor(Date.now() / 1000) * 1000
  const [usual, week, never] = await Promise.all([endOf(), endOf('--expires', '1w'), endOf('--expires', 'none')])
  const after = Date.now()
  const daysOf = (end: string | null) => {
    const at = Date.parse(end ?? '')
    return [Math.ceil((at - after) / day), Math.floor((at - before) / day)]
  }
  expect([daysOf(usual), daysOf(week), never]).toEqual([[90, 90], [7, 7], null])
  expect(
    rowsOf((await run('list')).out).find(({ NAME, EXPIRES }) => NAME === 'ends' && EXPIRES === 'never'),
  ).toBeTruthy()
})

test.each([
  ['no permission', ['create', 'x'], 2, "required option '--permissions"],
  ['a permission that is none', ['create', 'x', '--permissions', 'root'], 2, 'read, write, admin'],
  ['an end that is none', ['create', 'x', '--permissions', 'read', '--expires', 'soon'], 2, '90d'],
  ['an end beyond all time', ['create', 'x', '--permissions', 'read', '--expires', '999999999w'], 2, '90d'],
  ['an end that is past', ['create', 'x', '--permissions', 'read', '--expires', '2020-01-01'], 1, 'past'],
  ['a scope that is none', ['create', 'x', '--permissions', 'read', '--scopes', 'everything'], 1, 'scopes.0'],
  ['a list with nothing in it', ['create', 'x', '--permissions', 'read', '--scopes', ','], 2, 'separated by commas'],
  ['a network that is none', ['create', 'x', '--permissions', 'read', '--networks', 'home'], 1, 'source_networks.0'],
  ['a server that is none', ['create', 'x', '--permissions', 'read', '--server', 'nobody'], 1, 'no server "nobody"'],
  ['an id that is none', ['revoke', 'x', '--yes'], 2, 'whole number'],
  ['a user that is none', ['list', '--user', 'nobody'], 1, 'no user "nobody"'],
])('%s is refused with a sentence, and no key is made', async (_, args, code, said) => {
  const me = await admin.client.call('GET /auth/me')
  const names = async () =>
    (await admin.client.call('GET /users/{userId}/keys', { params: { userId: me.id } })).keys.map(({ name }) => name)
  const before = await names()
  expect(await run(...args)).toMatchObject({ code, out: '', err: expect.stringContaining(said) })
  expect(await names()).toEqual(before)
})

test('who may not manage keys is told so; a user sees their own', async () => {
  const body = { username: 'anna', email: 'anna@stockade.example', password }
  const anna = await admin.client.call('POST /users', { body })
  const made = await admin.client.call('POST /users/{userId}/keys', {
    params: { userId: anna.id },
    body: { name: 'own' },
  })
  for (const args of [['list'], ['list', '--user', 'anna'], ['create', 'x', '--permissions', 'read']])
    expect(await runAs(made.key, ...args)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('admin') })
  const login = await server.client().call('POST /auth/login', { body: { username: 'anna', password } })
  if (!('access_token' in login)) throw new Error('a second factor is wanted')
  const mine = await runAs(login.access_token, 'list')
  expect(rowsOf(mine.out)).toMatchObject([{ NAME: 'own', USER: 'anna', PERMISSIONS: 'read' }])
  expect(mine.out).toContain('\n1 key\n')
  const others = rowsOf((await run('list')).out)
  expect(new Set(others.map(({ USER }) => USER))).toEqual(new Set(['admin', 'anna']))
})

test('a name that would rewrite the terminal is shown harmless', async () => {
  const made = await run('create', 'a\u001b[2Jb', '--permissions', 'read')
  const listed = await run('list')
  expect(made.out + listed.out).not.toContain('\u001b')
  expect(listed.out).toContain('a�[2Jb')
})

test('a key is revoked only where somebody wants it', async () => {
  const made = await run('create', 'kept', '--permissions', 'read')
  const id = idOf(made)
  expect(await run('revoke', id)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--yes') })
  const answer = (text: string) => onTerminal([process.execPath, launcher, 'keys', 'revoke', id], envOf(key), text)
  const kept = await answer('n\n')
  expect(kept.out).toMatch(/kept \(svc_\w{4}…\) of admin: /)
  expect(kept).toMatchObject({ code: 1, out: expect.stringContaining('Nothing was revoked.') })
  expect(await statusFor(fields(made.out).key)).toBe(200)
  expect(await answer('y\n')).toMatchObject({ code: 0, out: expect.stringContaining('The API key is revoked.') })
  expect(await statusFor(fields(made.out).key)).toBe(401)
})
