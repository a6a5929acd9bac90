import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { aHost, freshDatabase, movableClock, paired, password, raw, startServer } from '../../testing/index.ts'
import type { TestServer } from '../../testing/index.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aUser } from '../../testing/scene.ts'

interface Entry {
  id: number
  user: string
  action: string
  details: Record<string, unknown>
  ip_address: string | null
  timestamp: string
}

/** The session cookie of the first administrator. */
const cookieOf = async (server: TestServer): Promise<string> => {
  const { headers } = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

describe('the audit log', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-audit-'))
  const clock = movableClock()
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let server: TestServer
  let admin: Client
  let token: string
  let db: Database
  beforeAll(async () => {
    database = await freshDatabase()
    server = await startServer({ dataDir, clock, ...(database ? { databaseUrl: database.url } : {}) })
    ;({ client: admin, token } = await server.setUp())
    db = await openStorage(
      readConfig({
        STOCKADE_DATA_DIR: dataDir,
        ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
      }),
    )
  })
  afterAll(async () => {
    await db.close()
    await server.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const entries = async (
    query: { action?: string; user_id?: number; from?: string; to?: string; limit?: number } = {},
  ) => (await admin.call('GET /settings/audit', { query: { limit: 100, ...query } })).entries as Entry[]
  const newest = async (action: string) => (await entries({ action, limit: 1 }))[0]

  test('what operators do stands there, with who, from where and what; secrets do not', async () => {
    const me = await admin.call('GET /auth/me')
    const host = await aHost(server, admin, 'web-01')
    await admin.call('PATCH /servers/{serverId}', { params: { serverId: host.id }, body: { hostname: 'web-02' } })
    expect(await newest('server.update')).toMatchObject({
      user: 'admin',
      ip_address: '127.0.0.1',
      details: { id: host.id, old_hostname: 'web-01', hostname: 'web-02' },
    })
    await admin.call('PATCH /settings', { body: { service: { site_name: '=Example' } } })
    expect(await newest('settings.update')).toMatchObject({
      details: { field: 'service.site_name', old_value: 'Stockade', new_value: '=Example' },
    })
    await admin.call('PATCH /settings/reputation', { body: { api_key: 'very-secret-key' } })
    expect((await newest('settings.update'))?.details).toEqual({
      field: 'reputation.api_key',
      old_value: null,
      new_value: '***',
    })
    const made = await admin.call('POST /users', {
      body: { username: 'olga', email: 'olga@stockade.example', password, role: 'Operator' },
    })
    expect((await newest('user.create'))?.details).toMatchObject({ id: made.id, username: 'olga', role: 'Operator' })
    const key = await admin.call('POST /keys', { body: { name: 'backup', permissions: 'admin' } })
    expect((await newest('key.create'))?.details).toMatchObject({ name: 'backup', permissions: 'admin' })
    const byKey = server.client(key.key)
    await byKey.call('POST /whitelist', { body: { ip: '198.51.100.7', description: '-1+1' } })
    expect(await newest('whitelist.add')).toMatchObject({ user: 'key:backup', details: { ip: '198.51.100.7' } })
    const queued = await byKey.call('POST /servers/{serverId}/commands', {
      params: { serverId: host.id },
      body: { type: 'reload-all', params: {} },
    })
    const { hostname } = await admin.call('GET /servers/{serverId}', { params: { serverId: host.id } })
    expect((await newest('command.create'))?.details).toMatchObject({ id: queued.id, type: 'reload-all', hostname })
    await admin.call('POST /servers/{serverId}/bans', {
      params: { serverId: host.id },
      body: { ip: '203.0.113.9', jail: 'sshd' },
    })
    expect((await newest('ban.create'))?.details).toMatchObject({ ip: '203.0.113.9', hostname })
    await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'olga', password: 'wrong' } })
    expect(await newest('auth.login_failed')).toMatchObject({ user: 'olga', ip_address: '127.0.0.1' })

    // A ban that a host reports is no one's deed.
    await host.client.call('POST /bans', { body: { ip: '203.0.113.10', jail: 'sshd' } })
    const all = await entries()
    expect(all.map(({ action }) => action)).not.toContain('ban.report')
    expect(all.map(({ id }) => id)).toEqual([...all.map(({ id }) => id)].sort((a, b) => b - a))
    const text = JSON.stringify(all)
    for (const secret of ['very-secret-key', key.key, host.key, password]) expect(text).not.toContain(secret)
    // A user's keys act for the user.
    expect(all.filter(({ user }) => user === 'admin' || user === 'key:backup').length).toBe(
      (await entries({ user_id: me.id })).length,
    )
  })

  test('filters, pages and totals agree with each other', async () => {
    clock.forward(60)
    const from = new Date(clock()).toISOString()
    await admin.call('POST /whitelist/bulk', {
      body: { entries: Array.from({ length: 130 }, (_, n) => ({ ip: `192.0.2.${n}` })) },
    })
    clock.forward(60)
    const to = new Date(clock()).toISOString()
    await admin.call('POST /whitelist', { body: { ip: '198.51.100.99' } })
    const ask = (query: object) => admin.call('GET /settings/audit', { query })
    expect((await ask({ action: 'whitelist.add', from, to })).total).toBe(130)
    expect((await ask({ action: 'whitelist.', from })).total).toBe(131)
    expect((await ask({ action: 'whitelist' })).total).toBe(0)
    expect((await ask({ action: 'nothing.' })).total).toBe(0)
    const prefixes = [
      ...new Set(
        ((await admin.call('GET /settings/audit/export', {})) as { entries: Entry[] }).entries.map(
          ({ action }) => `${action.split('.')[0] ?? ''}.`,
        ),
      ),
    ]
    const parts = await Promise.all(prefixes.map(async action => (await ask({ action })).total))
    expect(parts.reduce((sum, n) => sum + n, 0)).toBe((await ask({})).total)
    const seen: number[] = []
    for (let page = 1; page <= 4; page++) {
      const reply = await ask({ action: 'whitelist.', from, page, limit: 40 })
      seen.push(...reply.entries.map(({ id }) => id))
      expect([reply.page, reply.limit, reply.total]).toEqual([page, 40, 131])
    }
    expect(new Set(seen).size).toBe(131)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
  })

  test.each([
    ['user_id=x'],
    ['user_id=0'],
    ['user_id=4711'],
    ['action='],
    ['from=yesterday'],
    ['from=2026-02-02T00:00:00Z&to=2026-01-01T00:00:00Z'],
    ['page=0'],
    ['limit=101'],
    ['colour=red'],
  ])('%s is refused', async query => {
    expect((await raw(server, 'GET', `/api/v1/settings/audit?${query}`, { token })).status).toBe(400)
  })

  test('what a user did is found by id, also when the user is no more', async () => {
    const body = { username: 'short_stay', email: 'short@stockade.example', password }
    const { id } = await admin.call('POST /users', { body })
    const of = () => admin.call('GET /settings/audit', { query: { user_id: id } })
    expect((await of()).total).toBe(0)
    await server.client().call('POST /auth/login', { body: { username: 'short_stay', password } })
    await admin.call('DELETE /users/{userId}', { params: { userId: id } })
    expect((await of()).entries).toMatchObject([{ user: 'short_stay', action: 'auth.login' }])
  })

  test('a change that a signed-in user may not make stands there: who, what and why, and not what was sent', async () => {
    const boss = await admin.call('GET /auth/me')
    const vera = await aUser(server, admin, 'vera', 'Viewer')
    const as = { token: vera.token }
    const refusals = () => entries({ action: 'access.refused', user_id: vera.id })
    const before = Date.now()
    const body = { password: 'Not-To-Be-Kept-1' }
    const tries = [1, 2, 3].map(() => raw(server, 'PATCH', `/api/v1/users/${boss.id}?x=secret`, { ...as, body }))
    for (const { status } of await Promise.all(tries)) expect(status).toBe(403)
    const found = await refusals()
    expect(found).toHaveLength(Math.min(found.length, paired ? 2 : 1))
    expect(found[0]).toMatchObject({
      user: 'vera',
      ip_address: '127.0.0.1',
      details: {
        endpoint: 'PATCH /users/{userId}',
        path: `/api/v1/users/${boss.id}`,
        reason: expect.stringContaining('admin permission'),
      },
    })
    expect(Date.parse(found[0]?.timestamp ?? '')).toBeGreaterThanOrEqual(before)
    expect(JSON.stringify(found)).not.toMatch(/Not-To-Be-Kept|secret/)
    const count = async () => new Set((await refusals()).map(({ details }) => details.endpoint)).size
    // Not what only looks, is refused for another reason, or is asked by nobody; a key's are entries of its own.
    const { key } = await admin.call('POST /keys', { body: { name: 'reader', permissions: 'read' } })
    const others = await Promise.all([
      raw(server, 'GET', '/api/v1/users', as),
      raw(server, 'POST', '/api/v1/commands/batch', { token: key, body: {} }),
      raw(server, 'DELETE', '/api/v1/servers/nope', {}),
      raw(server, 'POST', '/api/v1/auth/password', { ...as, body: {} }),
    ])
    expect(others.map(({ status }) => status)).toEqual([403, 403, 401, 400])
    const ofKeys = (await entries({ action: 'access.refused' })).filter(({ user }) => user === 'key:reader')
    expect(ofKeys).toMatchObject([{ details: { endpoint: 'POST /commands/batch' } }])
    expect(await count()).toBe(1)
    // Another endpoint and another minute are entries of their own; a control character in a path is none.
    await raw(server, 'DELETE', '/api/v1/templates/%1b%5b2j', as)
    expect(await count()).toBe(2)
    expect(JSON.stringify(await refusals())).not.toContain('\\u001b')
    clock.forward(61)
    const next = (await refusals()).length
    await raw(server, 'DELETE', '/api/v1/templates/sshd', as)
    expect(await refusals()).toHaveLength(next + 1)
    // A page of somebody else's that uses the cookie of the administrator.
    const forged = await raw(server, 'POST', '/api/v1/siem/test', {
      headers: { cookie: await cookieOf(server), origin: 'https://evil.example' },
    })
    expect(forged.status).toBe(403)
    expect(await newest('access.refused')).toMatchObject({
      user: 'admin',
      details: { endpoint: 'POST /siem/test', reason: expect.stringContaining('https://evil.example') },
    })
  })
  test('the export holds the same, as JSON and as a table that runs nothing', async () => {
    const json = await raw(server, 'GET', '/api/v1/settings/audit/export?action=whitelist.', { token })
    expect(json.headers.get('content-type')).toMatch(/^application\/json/)
    const exported = json.json as { exported_at: string; entries: Entry[] }
    const { total } = await admin.call('GET /settings/audit', { query: { action: 'whitelist.' } })
    expect(exported.entries.length).toBe(total)
    expect(exported.entries.slice(0, 100)).toEqual(await entries({ action: 'whitelist.' }))
    const csv = await raw(server, 'GET', '/api/v1/settings/audit/export?format=csv', { token })
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"')
    const lines = csv.text.trimEnd().split('\r\n')
    expect(lines[0]).toBe('id,timestamp,user,action,ip_address,details')
    expect(lines.length - 1).toBe((await admin.call('GET /settings/audit')).total)
    expect(
      lines.some(line =>
        line.endsWith(
          '"{""id"":1,""ip"":""198.51.100.7"",""description"":""-1+1"",""version"":' +
            (/"version"":(""[^"]*"")/.exec(line)?.[1] ?? '') +
            '}"',
        ),
      ),
    ).toBe(true)
    expect((await raw(server, 'GET', '/api/v1/settings/audit/export?format=xml', { token })).status).toBe(400)
    expect((await raw(server, 'GET', '/api/v1/settings/audit/export?from=x', { token })).status).toBe(400)
  })

  test('storage refuses changes, from whatever tool', async () => {
    const before = await admin.call('GET /settings/audit')
    const statements = [
      sql`update events set actor = 'nobody' where id = 1`,
      sql`delete from events`,
      sql`update audit set name = 'auth.login'`,
      sql`delete from audit where event_id > 0`,
    ]
    for (const statement of statements) await expect(statement.execute(db.write)).rejects.toThrow(/append-only/)
    if (db.engine === 'postgres') await expect(sql`truncate events`.execute(db.write)).rejects.toThrow(/append-only/)
    expect(await admin.call('GET /settings/audit')).toEqual(before)
  })
})
