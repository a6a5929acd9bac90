import { statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aLicence, spawnServer } from '../../src/testing/index.ts'
import type { SpawnedServer } from '../../src/testing/index.ts'
import { endpoints, isPro } from './endpoints.ts'
import { text } from './kinds.ts'
import { licence, newKey, newServer, signedIn } from './resources.ts'
import { callerOf, passwords, refusalDeviations, refuses, same, says, saysDone, unknownId } from './talk.ts'
import type { Caller, Reply } from './talk.ts'

/* docs/spec/limits.md and service.md: a server as newcomers have it: not set up, no licence, budgets as they come. */

let server: SpawnedServer
let nobody: Caller
beforeAll(async () => {
  // Empty: as if they had not been given.
  server = await spawnServer({
    licence: null,
    env: { STOCKADE_RATE_LIMIT: '', STOCKADE_RATE_LIMIT_SENSITIVE: '', STOCKADE_TRUSTED_PROXIES: '127.0.0.1/32' },
  })
  nobody = callerOf(server.url)
})
afterAll(() => server.close())

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const headerOf = (reply: Reply, name: string) => Number(reply.headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
const budgetOf = (reply: Reply) => [headerOf(reply, 'limit'), headerOf(reply, 'remaining')]

test('spec service: the first administrator, by a code on the console', { retry: 0 }, async () => {
  await says(nobody('GET /setup', from('198.51.100.1')), 200, { required: true })
  const body = { code: server.setupCode, username: 'first', email: 'f@corp.example', password: passwords.admin }
  const setUp = (changes: object) => nobody('POST /setup', { body: { ...body, ...changes }, ...from('198.51.100.1') })
  await refuses(setUp({ code: 'wrong' }), 401, 'spec errors: an unknown credential')
  await refuses(setUp({ username: 'x' }), 400, 'spec endpoints: User', 'username')
  await says(nobody('POST /setup', { body, ...from('198.51.100.1') }), 201, {
    ...signedIn,
    user: { ...signedIn.user, role: 'Admin' },
  })
  await refuses(setUp({}), 409, 'spec service: set up already')
  same('spec service: STOCKADE_DATA_DIR, mode 0700', statSync(server.dataDir).mode & 0o777, 0o700)
})

describe('spec limits: the licence', { retry: 0 }, () => {
  let rules: Caller
  let reads: Caller

  test('keys come without one', async () => {
    const body = { username: 'first', password: passwords.admin }
    const { access_token } = await says(nobody('POST /auth/login', { body, ...from('198.51.100.1') }), 200, signedIn)
    const key = async (permissions: string) => {
      const asked = callerOf(server.url, access_token)('POST /keys', { body: { name: permissions, permissions } })
      return callerOf(server.url, (await says(asked, 201, newKey)).key)
    }
    rules = await key('admin')
    reads = await key('read')
  })

  test('port knocking and SIEM require Pro: 402, after 401 and 403, before 400', async () => {
    const [serverId, openingId, jobId, sequenceId, ip] = [unknownId, unknownId, unknownId, 1, '192.0.2.1']
    const wrong: string[] = []
    for (const row of endpoints.filter(isPro)) {
      const body = /^(POST|PATCH)/.test(row.endpoint) ? { nonsense: true } : undefined
      const asked = { serverId, openingId, jobId, sequenceId, ip, body }
      const late = refusalDeviations(await rules(row.endpoint, asked), 402)
      wrong.push(...late.map(what => `${row.page} ${row.endpoint}: ${what}`))
      const mayNot = row.needs === 'read' ? nobody : reads
      const early = refusalDeviations(
        await mayNot(row.endpoint, { ...asked, ...from('198.51.100.1') }),
        row.needs === 'read' ? 401 : 403,
      )
      wrong.push(...early.map(what => `${row.page} ${row.endpoint}, first: ${what}`))
    }
    expect(wrong).toEqual([])
  })

  test('without a licence: personal, three servers', async () => {
    const features = { reputation: true, custom_templates: true, siem: false, terminal: false, port_knocking: false }
    const personal = licence.but({ tier: 'personal', server_limit: 3, expires_at: null, features })
    await says(rules('GET /settings/license'), 200, personal.but({ servers_used: 0 }))
    const add = (hostname: string) => rules('POST /servers', { body: { hostname } })
    const first = await says(add('a.example'), 201, newServer)
    for (const hostname of ['b.example', 'c.example']) await says(add(hostname), 201, newServer)
    await says(rules('GET /settings/license'), 200, personal.but({ servers_used: 3 }))
    await refuses(add('d.example'), 402, 'spec errors: more servers than server_limit')
    await saysDone(rules('DELETE /servers/{serverId}', { serverId: first.id }))
    await says(add('d.example'), 201, newServer, 'spec servers: the slot of a deleted server is free')
    const body = { license_key: aLicence({ serverLimit: 25 }) }
    await says(rules('POST /settings/license', { body }), 200, {
      message: text,
      tier: 'pro',
      server_limit: 25,
      features: { ...features, siem: true, port_knocking: true },
    })
    same('spec limits: Pro opens SIEM', (await rules('GET /siem/settings')).status, 200)
  })
})

describe('spec limits: rates', { retry: 0 }, () => {
  const body = { username: 'first', password: passwords.admin }
  const signIn = (address: string) => nobody('POST /auth/login', { body, ...from(address) })

  test('sensitive endpoints: 10 a minute for an address', async () => {
    const began = Date.now()
    const first = await signIn('198.51.100.2')
    same('spec limits: sensitive endpoints, 10 requests per minute', budgetOf(first), [10, 9])
    const reset = 1000 * headerOf(first, 'reset')
    const isSoon = reset > began - 2000 && reset < Date.now() + 62_000
    expect.soft(isSoon, 'spec limits: X-RateLimit-Reset, Unix time in seconds').toBe(true)
    const refresh = () => nobody('POST /auth/refresh', { body: { refresh_token: 'x' }, ...from('198.51.100.2') })
    for (let n = 1; n < 10; n++) await refresh()
    const refused = await refuses(refresh(), 429, 'spec errors: rate limit exceeded')
    same(
      'spec errors: Retry-After and the three X-RateLimit-* headers',
      [...budgetOf(refused), Number.isInteger(headerOf(refused, 'reset'))],
      [10, 0, true],
    )
    expect
      .soft((refused.json as { message: string }).message, 'spec errors: message says to retry after a period')
      .toMatch(/\d/)
    await refuses(
      nobody('POST /auth/login', { plain: '{', ...from('198.51.100.2') }),
      429,
      'spec errors: before the body is read',
    )
    same('spec service: for each address', (await signIn('198.51.100.3')).status, 200)
  })

  test('standard endpoints: 100 a minute for a credential', async () => {
    const signed = await says(nobody('POST /auth/login', { body, ...from('198.51.100.4') }), 200, signedIn)
    const admin = callerOf(server.url, signed.access_token)
    same('spec limits: standard endpoints, 100 requests per minute', budgetOf(await admin('GET /servers')), [100, 99])
    same('spec limits: X-RateLimit-Remaining', budgetOf(await admin('GET /bans/{banId}', { banId: 99 })), [100, 98])
    for (let n = 0; n < 10; n++)
      same('spec limits: keys, 10', (await admin('POST /keys', { body: { name: 'k' } })).status, 201)
    await refuses(admin('POST /keys', { body: { name: 'k' } }), 429, 'spec limits: sensitive endpoints (login, keys)')
    await refuses(admin('DELETE /keys/{keyId}', { keyId: 1 }), 429, 'spec limits: POST and DELETE of keys')
    for (let n = 0; n < 98; n++) await admin('GET /auth/me')
    const refused = await refuses(admin('GET /servers'), 429, 'spec limits: 100 requests per minute')
    same('spec limits: X-RateLimit-*', budgetOf(refused), [100, 0])
    await refuses(nobody('GET /servers', from('198.51.100.5')), 401, 'spec errors: order of refusals')
  })
})
