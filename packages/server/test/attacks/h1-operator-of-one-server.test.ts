import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, raw, startServer } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser } from '../../src/testing/scene.ts'

/*
 * An operator of one server tries to disarm all of them: by wide whitelist entries that lift bans everywhere, and by taking
 * entries of others off. And an operator of all servers, or an administrator's key, tries to whitelist the Internet.
 */
let server: TestServer
let admin: Signed
let elsewhere: EnrolledHost
const tokens = new Map<string, string>()

const operator = async (username: string, serverIds?: string[]) => {
  const { token } = await aUser(server, admin.client, username, 'Operator', serverIds)
  tokens.set(username, token)
}
const ask = (who: string, method: string, path: string, body?: unknown) =>
  raw(server, method, `/api/v1${path}`, { token: tokens.get(who) ?? '', ...(body === undefined ? {} : { body }) })
/** So many ranges of /8, all of public addresses. */
const wide = (count: number) => Array.from({ length: count }, (_, index) => ({ ip: `${index + 45}.0.0.0/8` }))

beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  const here = await aHost(server, admin.client, 'here')
  elsewhere = await aHost(server, admin.client, 'elsewhere')
  await operator('limited', [here.id])
  await operator('whole')
  const key = await server.client(tokens.get('limited')).call('POST /users/{userId}/keys', {
    params: { userId: 2 },
    body: { name: 'script', permissions: 'write' },
  })
  tokens.set('key of limited', key.key)
  tokens.set('admin', admin.token)
  tokens.set('key of admin', (await admin.client.call('POST /keys', { body: { name: 'a', permissions: 'admin' } })).key)
})
afterAll(() => server.close())

test('whoever has access to one server lifts no ban of another one by the whitelist', async () => {
  await elsewhere.client.call('POST /bans', { body: { ip: '45.33.32.156', jail: 'sshd' } })
  const entry = await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.7' } })
  for (const who of ['limited', 'key of limited'])
    for (const [method, path, body] of [
      ['POST', '/whitelist', { ip: '45.0.0.0/8' }],
      ['POST', '/whitelist', { ip: '45.33.32.156' }],
      ['POST', '/whitelist/bulk', { entries: wide(100) }],
      ['POST', '/whitelist/import', { content: '45.33.32.156' }],
      ['PATCH', `/whitelist/${entry.id}`, { description: 'mine' }],
      ['POST', '/whitelist/remove', { ids: [entry.id] }],
      ['DELETE', `/whitelist/${entry.id}`, undefined],
    ] as const)
      expect(await ask(who, method, path, body), `${who}: ${method} ${path}`).toMatchObject({
        status: 403,
        json: { error: 'Forbidden', message: expect.stringContaining('all servers') },
      })
  expect((await admin.client.call('GET /whitelist')).whitelist).toMatchObject([{ ip: '198.51.100.7', description: '' }])
  expect(await admin.client.call('GET /commands', { query: { type: 'unban-ip' } })).toMatchObject({ total: 0 })
  // One's own keys and sessions are no matter of the fleet.
  expect(await ask('limited', 'GET', '/users/2/keys')).toMatchObject({ status: 200 })
  expect(await ask('limited', 'DELETE', '/keys/987654')).toMatchObject({ status: 404 })
})

test('nobody covers more than a 64th of public IPv4 in passing, in one request or in many', async () => {
  for (const who of ['whole', 'admin', 'key of admin'])
    for (const [path, body] of [
      ['/whitelist/bulk', { entries: wide(100) }],
      [
        '/whitelist/import',
        {
          content: wide(100)
            .map(({ ip }) => ip)
            .join('\n'),
        },
      ],
    ] as const)
      expect(await ask(who, 'POST', path, body), `${who}: ${path}`).toMatchObject({
        status: 409,
        json: { coverage: { family: 'ipv4', percent: 44.8, limit_percent: 1.6 } },
      })
  // Not bit by bit either; what is not public counts for nothing.
  expect(await ask('whole', 'POST', '/whitelist', { ip: '10.0.0.0/8' })).toMatchObject({ status: 201 })
  for (const { ip } of wide(3)) expect(await ask('whole', 'POST', '/whitelist', { ip })).toMatchObject({ status: 201 })
  expect(await ask('whole', 'POST', '/whitelist', { ip: '52.0.0.0/8' })).toMatchObject({ status: 409 })
  expect(await ask('whole', 'POST', '/whitelist', { ip: '45.33.0.0/16' })).toMatchObject({ status: 201 })
  expect(
    await ask('whole', 'POST', '/whitelist/bulk', {
      entries: Array.from({ length: 129 }, (_, index) => ({ ip: `2${(index + 0x400).toString(16)}::/16` })),
    }),
  ).toMatchObject({ status: 409, json: { coverage: { family: 'ipv6' } } })
})

test('only an administrator who is signed in confirms more, with the very figure', async () => {
  const entries = ['61', '62', '63', '64', '65'].map(first => ({ ip: `${first}.0.0.0/8` }))
  const bulk = (who: string, confirm_share?: number) =>
    ask(who, 'POST', '/whitelist/bulk', { entries, ...(confirm_share === undefined ? {} : { confirm_share }) })
  const { percent } = ((await bulk('admin')).json as { coverage: { percent: number } }).coverage
  expect(percent).toBeGreaterThan(2)
  expect(await bulk('whole', percent)).toMatchObject({ status: 403 })
  expect(await bulk('key of admin', percent)).toMatchObject({ status: 403 })
  expect(await bulk('admin', 100)).toMatchObject({ status: 400 })
  expect((await admin.client.call('GET /whitelist', { query: { search: '61.0' } })).total).toBe(0)
  expect(await bulk('admin', percent)).toMatchObject({ status: 201, json: { added: 5 } })
})
