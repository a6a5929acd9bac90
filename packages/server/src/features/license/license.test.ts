import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { siem } from '@stockade/contract'
import { readConfig } from '../../config.ts'
import { issue, keygen } from '../../admin/license.ts'
import type { IssueOptions } from '../../admin/license.ts'
import { openStorage } from '../../admin/storage.ts'
import type { KeyActor } from '../../core/actor.ts'
import { paymentRequired } from '../../core/problem.ts'
import { createEvents } from '../../events/events.ts'
import { createHttp } from '../../http/http.ts'
import { createRateLimits } from '../../http/rate-limit.ts'
import {
  aLicence,
  authority,
  engine,
  eventually,
  freshDatabase,
  movableClock,
  raw,
  startServer,
} from '../../testing/index.ts'
import type { TestServer } from '../../testing/index.ts'
import { makeAuthority, issueLicence } from './document.ts'
import { createLicense } from './license.service.ts'

const day = 86_400_000
const launcher = fileURLToPath(new URL('../../../../../scripts/stockade.cjs', import.meta.url))
const run = (cwd: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise(resolve =>
    execFile(process.execPath, [launcher, ...args], { cwd, env: { PATH: process.env.PATH } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => ({ status: 200, message: '' }),
    (error: { status: number; message: string }) => ({ status: error.status, message: error.message }),
  )
const activate = (admin: Client, license_key: string) => admin.call('POST /settings/license', { body: { license_key } })
const add = (admin: Client, hostname: string) => admin.call('POST /servers', { body: { hostname } })

describe('without a licence', () => {
  let server: TestServer
  let admin: Client
  let token: string
  beforeAll(async () => {
    server = await startServer({ licence: null })
    ;({ client: admin, token } = await server.setUp())
  })
  afterAll(() => server.close())

  test('it is the personal tier', async () => {
    expect(await admin.call('GET /settings/license')).toEqual({
      tier: 'personal',
      server_limit: 3,
      servers_used: 0,
      features: { reputation: true, custom_templates: true, siem: false, terminal: false, port_knocking: false },
      expires_at: null,
      registered_to: null,
      state: 'none',
      authority_set: true,
      self_issue: false,
    })
  })

  test('three servers and no more, also when many are added at once; a deleted one makes room', async () => {
    const many = await Promise.all(Array.from({ length: 8 }, (_, n) => refused(add(admin, `web-${n}`))))
    expect(many.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(many.filter(({ status }) => status === 402)).toHaveLength(5)
    expect(many.find(({ status }) => status === 402)?.message).toMatch(/covers 3 servers, and 3 are registered/)
    const { servers, total } = await admin.call('GET /servers')
    expect(total).toBe(3)
    await admin.call('DELETE /servers/{serverId}', { params: { serverId: servers[0]?.id ?? '' } })
    expect((await admin.call('GET /settings/license')).servers_used).toBe(2)
    await add(admin, 'web-again')
    const reply = await raw(server, 'POST', '/api/v1/servers', { token, body: { hostname: 'one-more' } })
    expect([reply.status, (reply.json as { error: string }).error]).toEqual([402, 'Payment Required'])
  })

  test('custom templates are part of it', async () => {
    const reply = await raw(server, 'POST', '/api/v1/templates', { token, body: {} })
    expect(reply.status).toBe(400)
  })

  test('what is no licence is refused with the reason, and nothing changes', async () => {
    const before = await admin.call('GET /settings/license')
    const good = aLicence({ tier: 'pro', serverLimit: 5 })
    const [name = '', body = '', signature = ''] = good.split('.')
    const document = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
    const altered = Buffer.from(JSON.stringify({ ...document, server_limit: 5000 })).toString('base64url')
    const stranger = makeAuthority()
    const licence = { tier: 'pro' as const, serverLimit: 5, registeredTo: 'x', issuedAt: Date.now(), expiresAt: null }
    const future = issueLicence(authority.privateKey, { ...licence, tier: 'galactic' as never })
    const cases: [string, RegExp][] = [
      ['nonsense', /no whole licence key/],
      [good.slice(0, -1), /no whole licence key/],
      [good.slice(0, 60), /no whole licence key/],
      [`${name}.${body}`, /no whole licence key/],
      [`${good}.x`, /no whole licence key/],
      [`${name}.${altered}.${signature}`, /signature does not fit/],
      [`${name}.${body}.${Buffer.alloc(64).toString('base64url')}`, /signature does not fit/],
      [issueLicence(stranger.privateKey, licence), /another authority/],
      [`stk2.${body}.${signature}`, /another version/],
      [future, /does not know/],
      [aLicence({ expiresAt: Date.now() - 1000 }), /expired on/],
      [aLicence({ issuedAt: Date.now() + 3 * day }), /set this server's clock/],
    ]
    for (const [key, message] of cases) {
      const answer = await refused(activate(admin, key))
      expect([answer.status, answer.message]).toEqual([400, expect.stringMatching(message)])
    }
    // Every single character counts.
    for (let at = 0; at < good.length; at += 7) {
      const other = good[at] === 'A' ? 'B' : 'A'
      expect((await refused(activate(admin, good.slice(0, at) + other + good.slice(at + 1)))).status).toBe(400)
    }
    expect(await admin.call('GET /settings/license')).toEqual(before)
  })

  test('activating raises the limit at once and is recorded without the key; a smaller one stops nothing', async () => {
    const key = aLicence({ serverLimit: 5, registeredTo: 'Example Ltd', expiresAt: Date.now() + 30 * day })
    const wrapped = key.replace(/(.{40})/g, '$1\n')
    expect(await activate(admin, wrapped)).toEqual({
      message: 'The licence is active.',
      tier: 'pro',
      server_limit: 5,
      features: { reputation: true, custom_templates: true, siem: true, terminal: false, port_knocking: true },
    })
    await add(admin, 'fourth')
    const shown = await admin.call('GET /settings/license')
    expect(shown).toMatchObject({ tier: 'pro', servers_used: 4, registered_to: 'Example Ltd', state: 'active' })
    await activate(admin, aLicence({ serverLimit: 2 }))
    expect(await admin.call('GET /settings/license')).toMatchObject({ server_limit: 2, servers_used: 4 })
    expect((await admin.call('GET /servers')).total).toBe(4)
    expect((await refused(add(admin, 'fifth'))).status).toBe(402)
  })
})

test('without an authority activating says so', async () => {
  const server = await startServer({ licence: null, env: { STOCKADE_LICENSE_PUBLIC_KEY: '' } })
  try {
    const { client } = await server.setUp()
    const answer = await refused(activate(client, aLicence()))
    expect(answer).toEqual({ status: 400, message: expect.stringMatching(/trusts no licence authority/) as string })
    expect(await client.call('GET /settings/license')).toMatchObject({ state: 'none', authority_set: false })
  } finally {
    await server.close()
  }
})

test('an installation without an authority issues its own licence, keeps the pair and can change the number', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-self-'))
  const database = await freshDatabase()
  const options = {
    licence: null,
    dataDir,
    env: { STOCKADE_LICENSE_PUBLIC_KEY: '' },
    ...(database ? { databaseUrl: database.url } : {}),
  }
  let server = await startServer(options)
  try {
    const { client } = await server.setUp()
    const issue = (servers: number) => client.call('POST /settings/license/self', { body: { servers } })
    for (const name of ['a', 'b', 'c']) await add(client, name)
    expect(await refused(add(client, 'd'))).toEqual({
      status: 402,
      message: expect.stringContaining('POST /api/v1/settings/license/self') as string,
    })
    expect(await issue(4)).toMatchObject({ tier: 'pro', server_limit: 4, features: { siem: true } })
    await add(client, 'd')
    expect((await refused(add(client, 'e'))).status).toBe(402)
    const key = readFileSync(join(dataDir, 'license-private.pem'), 'utf8')
    expect(statSync(join(dataDir, 'license-private.pem')).mode & 0o777).toBe(0o600)
    expect(await issue(40)).toMatchObject({ server_limit: 40 })
    expect(readFileSync(join(dataDir, 'license-private.pem'), 'utf8')).toBe(key)
    expect((await refused(issue(0))).status).toBe(400)
    await server.close()
    server = await startServer(options)
    const again = (await server.signIn()).client
    expect(await again.call('GET /settings/license')).toMatchObject({
      state: 'active',
      server_limit: 40,
      registered_to: 'Stockade',
      authority_set: true,
      self_issue: true,
    })
    const { entries } = await again.call('GET /settings/audit', { query: { action: 'license.activate' } })
    expect(entries).toHaveLength(2)
    // Another authority that is configured later wins.
    await server.close()
    server = await startServer({ ...options, env: {} })
    const other = (await server.signIn()).client
    expect(await other.call('GET /settings/license')).toMatchObject({ state: 'invalid', tier: 'personal' })
    expect((await refused(other.call('POST /settings/license/self', { body: { servers: 5 } }))).status).toBe(409)
  } finally {
    await server.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('it expires on a running server: servers stay, new ones are refused; activated again all is well', async () => {
  const clock = movableClock()
  const server = await startServer({ licence: null, clock })
  try {
    const { client } = await server.setUp()
    await activate(client, aLicence({ serverLimit: 10, expiresAt: Date.now() + day }))
    for (const name of ['a', 'b', 'c', 'd']) await add(client, name)
    clock.forward(day / 1000 + 1)
    const again = (await server.signIn()).client
    expect(await again.call('GET /settings/license')).toMatchObject({
      tier: 'personal',
      server_limit: 3,
      servers_used: 4,
      state: 'expired',
    })
    expect((await refused(add(again, 'e'))).status).toBe(402)
    expect((await again.call('GET /servers')).total).toBe(4)
    await activate(again, aLicence({ serverLimit: 10, issuedAt: Date.now() + 1, expiresAt: Date.now() + 9 * day }))
    await add(again, 'e')
  } finally {
    await server.close()
  }
})

/** The service on a database of its own, with a clock that also goes back. */
const aService = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-licence-'))
  const database = await freshDatabase()
  // A server makes the tables.
  await (await startServer({ dataDir, licence: null, ...(database ? { databaseUrl: database.url } : {}) })).close()
  const db = await openStorage(
    readConfig({
      STOCKADE_DATA_DIR: dataDir,
      ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
    }),
  )
  const time = { at: Date.now() }
  const clock = () => time.at
  const events = createEvents(db, clock, () => {}, null)
  return {
    time,
    start: (key: string | null = null, publicKey: string | null = authority.publicKey) =>
      createLicense({ db, clock, events, publicKey, key, dataDir, siteName: () => 'Tests', log: { warn: () => {} } }),
    async close() {
      await db.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
const operator = { name: 'admin', userId: 1, ip: '192.0.2.1' }

test('a clock that is set back does not revive it, nor does one that was wrong for a moment kill it', async () => {
  const { time, start, close } = await aService()
  try {
    const began = time.at
    let license = await start()
    const key = aLicence({ issuedAt: began, expiresAt: began + day })
    await license.activate(operator, key)
    await license.observe()

    time.at = began + 9 * day
    await license.observe()
    expect((await license.read()).state).toBe('expired')
    time.at = began + 60_000
    await license.observe()
    expect((await license.read()).state).toBe('active')

    time.at = began + day + 1
    await license.observe()
    await license.observe()
    time.at = began + 60_000
    expect((await license.read()).state).toBe('expired')
    license = await start(key)
    expect((await license.read()).state).toBe('expired')
    expect(await refused(license.activate(operator, key))).toMatchObject({ status: 400 })
    expect(license.refusal('siem')?.message).toMatch(/yours expired on/)

    // What the authority signed later brings its own time.
    await license.activate(operator, aLicence({ issuedAt: began + 1000, expiresAt: began + 20 * day }))
    expect((await license.read()).state).toBe('active')
    expect(license.refusal('siem')).toBeNull()
    expect(await refused(license.activate(operator, key))).toMatchObject({ status: 200 })
  } finally {
    await close()
  }
})

test('the environment activates a newer licence once, and leaves a newer one alone; another authority ends it', async () => {
  const { time, start, close } = await aService()
  try {
    const first = aLicence({ issuedAt: time.at - 2000, serverLimit: 7 })
    expect(await (await start(first)).read()).toMatchObject({ server_limit: 7, state: 'active' })
    const license = await start(first)
    await license.activate(operator, aLicence({ issuedAt: time.at - 1000, serverLimit: 9 }))
    expect((await (await start(first)).read()).server_limit).toBe(9)
    expect((await (await start(aLicence({ serverLimit: 11 }))).read()).server_limit).toBe(11)
    await expect(start('stk1.AAAA.AAAA')).rejects.toThrow(/no whole licence key/)
    expect(await (await start(null, makeAuthority().publicKey)).read()).toMatchObject({
      state: 'invalid',
      server_limit: 3,
      registered_to: null,
    })
  } finally {
    await close()
  }
})

test('a bad licence in the environment stops the start with a sentence', async () => {
  await expect(startServer({ licence: 'stk1.AAAA.AAAA' })).rejects.toThrow(/^STOCKADE_LICENSE_KEY is refused: /)
})

test.runIf(engine === 'postgres')('another process follows an activation', async () => {
  const database = await freshDatabase()
  const options = { licence: null, databaseUrl: database?.url ?? '' }
  const one = await startServer(options)
  const other = await startServer(options)
  try {
    const { token, client } = await other.setUp()
    await activate(client, aLicence({ serverLimit: 12 }))
    await eventually(async () => expect((await one.client(token).call('GET /settings/license')).server_limit).toBe(12))
  } finally {
    await one.close()
    await other.close()
    await database?.drop()
  }
})

test('a Pro endpoint: permission before licence, licence before validation', async () => {
  const who = (permission: 'write' | 'admin'): KeyActor => ({
    kind: 'key',
    name: permission,
    ip: '192.0.2.1',
    permission,
    servers: 'all',
    accessTags: new Set(),
    keyId: 1,
    userId: null,
    serverNo: null,
    isBound: false,
    isOfHost: false,
    scopes: null,
    mfaMissing: false,
  })
  let licensed = false
  const http = await createHttp({
    log: pino({ level: 'silent' }),
    limits: createRateLimits({ standard: 0, sensitive: 0 }),
    credentials: {
      byKey: key => (key === 'svc_admin' ? who('admin') : key === 'svc_write' ? who('write') : null),
      byToken: async () => null,
      byCookie: async () => null,
    },
    licence: feature => (licensed ? null : paymentRequired(`no ${feature}`)),
    quarantine: () => null,
    trustedProxies: [],
    tls: null,
    isStrict: () => false,
    isDraining: () => false,
    httpsOnly: false,
    baseUrl: () => 'http://localhost',
    storage: () => false,
    settle: () => Promise.resolve(),
    observe: () => {},
    refused: async () => {},
    security: { note: () => {} },
  })
  http.serve(siem.updateSiemSettings, () => ({ message: 'done' }))
  const ask = async (key: string, payload: object) => {
    const reply = await http.fastify.inject({
      method: 'PATCH',
      url: '/api/v1/siem/settings',
      headers: { authorization: `Bearer ${key}` },
      payload,
    })
    return [reply.statusCode, reply.json<{ message: string }>().message]
  }
  expect((await ask('svc_nobody', { nonsense: 1 }))[0]).toBe(401)
  expect((await ask('svc_write', { nonsense: 1 }))[0]).toBe(403)
  expect(await ask('svc_admin', { nonsense: 1 })).toEqual([402, 'no siem'])
  licensed = true
  expect((await ask('svc_admin', { nonsense: 1 }))[0]).toBe(400)
  expect((await ask('svc_admin', {}))[0]).toBe(200)
  await http.fastify.close()
})

test('the command line makes an authority and issues keys', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-authority-'))
  try {
    const made = await run(folder, 'license', 'keygen', '--out', 'keys')
    expect(made.code).toBe(0)
    expect(statSync(join(folder, 'keys/license-private.pem')).mode & 0o777).toBe(0o600)
    expect(() => keygen(join(folder, 'keys'))).toThrow(/is there already/)

    const base = ['license', 'issue', '--private-key', 'keys/license-private.pem', '--tier', 'pro']
    const issued = await run(folder, ...base, '--servers', '40', '--to', 'Example Ltd', '--expires', '2999-12-31')
    expect(issued).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^stk1\.[\w-]+\.[\w-]+\n$/) as string })
    const publicKey = readFileSync(join(folder, 'keys/license-public.pem'), 'utf8')
    writeFileSync(join(folder, 'licence.txt'), issued.out)
    const server = await startServer({
      licence: null,
      env: { STOCKADE_LICENSE_PUBLIC_KEY: publicKey, STOCKADE_LICENSE_KEY_FILE: join(folder, 'licence.txt') },
    })
    const { client } = await server.setUp()
    expect(await client.call('GET /settings/license')).toMatchObject({
      tier: 'pro',
      server_limit: 40,
      registered_to: 'Example Ltd',
      expires_at: '2999-12-31T23:59:59.999Z',
    })
    await server.close()

    const misused = await run(folder, ...base)
    expect([misused.code, misused.out, misused.err]).toEqual([
      2,
      '',
      expect.stringMatching(/required option '--to <name>' not specified/),
    ])
    const good = {
      privateKey: join(folder, 'keys/license-private.pem'),
      tier: 'pro',
      servers: undefined,
      to: 'x',
      expires: undefined,
    }
    const wrong: [Partial<IssueOptions>, RegExp][] = [
      [{ expires: '2001-01-01' }, /lies in the past/],
      [{ expires: '2027-02-31' }, /must be a date/],
      [{ expires: 'tomorrow' }, /must be a date/],
      [{ servers: '0' }, /--servers must be/],
      [{ servers: '2.5' }, /--servers must be/],
      [{ tier: 'gold' }, /--tier must be/],
      [{ to: ' ' }, /--to must be/],
      [{ privateKey: join(folder, 'keys/license-public.pem') }, /no Ed25519 private key/],
      [{ privateKey: join(folder, 'none.pem') }, /can't be read: ENOENT/],
    ]
    for (const [change, message] of wrong) expect(() => issue({ ...good, ...change }, Date.now())).toThrow(message)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
