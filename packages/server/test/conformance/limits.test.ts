import { statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spawnServer } from '../../src/testing/index.ts'
import type { SpawnedServer } from '../../src/testing/index.ts'
import { signedIn } from './resources.ts'
import { callerOf, passwords, refuses, same, says } from './talk.ts'
import type { Caller, Reply } from './talk.ts'

/* interface.md 8, decisions.md 12b and 13: budgets as they come, on a server that nobody has set up yet. */

let server: SpawnedServer
let nobody: Caller
beforeAll(async () => {
  // Empty: as if they had not been given.
  server = await spawnServer({
    env: { STOCKADE_RATE_LIMIT: '', STOCKADE_RATE_LIMIT_SENSITIVE: '', STOCKADE_TRUSTED_PROXIES: '127.0.0.1/32' },
  })
  nobody = callerOf(server.url)
})
afterAll(() => server.close())

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const headerOf = (reply: Reply, name: string) => Number(reply.headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
const budgetOf = (reply: Reply) => [headerOf(reply, 'limit'), headerOf(reply, 'remaining')]

test('decisions 12b: the first administrator, by a code on the console', { retry: 0 }, async () => {
  await says(nobody('GET /setup', from('198.51.100.1')), 200, { required: true })
  const body = { code: server.setupCode, username: 'first', email: 'f@corp.example', password: passwords.admin }
  const setUp = (changes: object) => nobody('POST /setup', { body: { ...body, ...changes }, ...from('198.51.100.1') })
  await refuses(setUp({ code: 'wrong' }), 401, 'decisions 2: an unknown credential')
  await refuses(setUp({ username: 'x' }), 400, 'interface 2: User', 'username')
  await says(nobody('POST /setup', { body, ...from('198.51.100.1') }), 201, {
    ...signedIn,
    user: { ...signedIn.user, role: 'Admin' },
  })
  await refuses(setUp({}), 409, 'decisions 12b: set up already')
  same('decisions 13: STOCKADE_DATA_DIR, mode 0700', statSync(server.dataDir).mode & 0o777, 0o700)
})

describe('interface 8: rates', { retry: 0 }, () => {
  const body = { username: 'first', password: passwords.admin }
  const signIn = (address: string) => nobody('POST /auth/login', { body, ...from(address) })

  test('sensitive endpoints: 10 a minute for an address', async () => {
    const first = await signIn('198.51.100.2')
    same('interface 8: sensitive endpoints, 10 requests per minute', budgetOf(first), [10, 9])
    const seconds = headerOf(first, 'reset') - Date.now() / 1000
    expect.soft(seconds > -2 && seconds < 62, 'interface 8: X-RateLimit-Reset, Unix time in seconds').toBe(true)
    const refresh = () => nobody('POST /auth/refresh', { body: { refresh_token: 'x' }, ...from('198.51.100.2') })
    for (let n = 1; n < 10; n++) await refresh()
    const refused = await refuses(refresh(), 429, 'interface 7: rate limit exceeded')
    same(
      'decisions 2: Retry-After and the three X-RateLimit-* headers',
      [...budgetOf(refused), Number.isInteger(headerOf(refused, 'reset'))],
      [10, 0, true],
    )
    expect
      .soft((refused.json as { message: string }).message, 'interface 7: message says to retry after a period')
      .toMatch(/\d/)
    await refuses(
      nobody('POST /auth/login', { plain: '{', ...from('198.51.100.2') }),
      429,
      'decisions 14: before the body is read',
    )
    same('decisions 13: for each address', (await signIn('198.51.100.3')).status, 200)
  })

  test('standard endpoints: 100 a minute for a credential', async () => {
    const signed = await says(nobody('POST /auth/login', { body, ...from('198.51.100.4') }), 200, signedIn)
    const admin = callerOf(server.url, signed.access_token)
    same('interface 8: standard endpoints, 100 requests per minute', budgetOf(await admin('GET /servers')), [100, 99])
    same('interface 8: X-RateLimit-Remaining', budgetOf(await admin('GET /bans/{banId}', { banId: 99 })), [100, 98])
    for (let n = 0; n < 10; n++)
      same('interface 8: keys, 10', (await admin('POST /keys', { body: { name: 'k' } })).status, 201)
    await refuses(admin('POST /keys', { body: { name: 'k' } }), 429, 'interface 8: sensitive endpoints (login, keys)')
    await refuses(admin('DELETE /keys/{keyId}', { keyId: 1 }), 429, 'decisions 14: POST and DELETE of keys')
    for (let n = 0; n < 98; n++) await admin('GET /auth/me')
    const refused = await refuses(admin('GET /servers'), 429, 'interface 8: 100 requests per minute')
    same('interface 8: X-RateLimit-*', budgetOf(refused), [100, 0])
    await refuses(nobody('GET /servers', from('198.51.100.5')), 401, 'decisions 14: order of refusals')
  })
})
