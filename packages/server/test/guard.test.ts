import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { aHost, raw, startServer } from '../src/testing/index.ts'
import type { TestServer } from '../src/testing/index.ts'
import { accessTable, callers, table } from './access-table.ts'
import type { Caller } from './access-table.ts'

/* Every mounted endpoint against every kind of caller, compared with the table that was written by hand. */

let server: TestServer
const tokens = new Map<Caller, string>()
let feedToken: string
let ids: Record<string, string>
let bodies: Record<string, unknown>

beforeAll(async () => {
  server = await startServer()
  const admin = await server.setUp()
  const [here, elsewhere, distrusted] = [
    await aHost(server, admin.client, 'here'),
    await aHost(server, admin.client, 'elsewhere'),
    await aHost(server, admin.client, 'distrusted'),
  ]
  await admin.client.call('PATCH /servers/{serverId}', { params: { serverId: here.id }, body: { tags: ['team'] } })
  const password = 'Sup3r-secret-2'
  const users = [
    ['viewer', 'viewer', null],
    ['operator', 'OPERATOR', null],
    ['viewerHere', 'Viewer', { server_ids: [here.id] }],
    ['viewerElsewhere', 'Viewer', { server_ids: [elsewhere.id] }],
    ['operatorHere', 'Operator', { server_ids: [here.id] }],
    ['operatorOfTag', 'Operator', { server_ids: [], tags: ['team'] }],
  ] as const
  for (const [username, role, only] of users) {
    const { id } = await admin.client.call('POST /users', {
      body: { username, email: `${username}@stockade.example`, password, role: role as 'Viewer' },
    })
    if (only)
      await admin.client.call('PUT /users/{userId}/server-access', {
        params: { userId: id },
        body: {
          access_type: 'specific',
          server_ids: [...only.server_ids],
          ...('tags' in only ? { tags: [...only.tags] } : {}),
        },
      })
  }
  for (const username of users.map(([name]) => name)) {
    const reply = await server.client().call('POST /auth/login', { body: { username, password } })
    if ('access_token' in reply) tokens.set(username, reply.access_token)
  }
  const key = async (permissions: 'read' | 'write' | 'admin', bound: { server_id?: string; tags?: string[] } = {}) =>
    admin.client.call('POST /keys', { body: { name: permissions, permissions, ...bound } })
  tokens.set('nonsense', 'svc_' + 'x'.repeat(32))
  tokens.set('admin', admin.token)
  tokens.set('readKey', (await key('read')).key)
  tokens.set('writeKey', (await key('write')).key)
  tokens.set('adminKey', (await key('admin')).key)
  tokens.set('readKeyHere', (await key('read', { server_id: here.id })).key)
  tokens.set('writeKeyHere', (await key('write', { server_id: here.id })).key)
  tokens.set('writeKeyOfTag', (await key('write', { tags: ['team'] })).key)
  tokens.set('agentHere', here.key)
  tokens.set('agentElsewhere', elsewhere.key)
  tokens.set('agentInQuarantine', distrusted.key)
  const revoked = await key('admin')
  await admin.client.call('DELETE /keys/{keyId}', { params: { keyId: revoked.id } })
  tokens.set('revoked', revoked.key)
  const ban = await here.client.call('POST /bans', { body: { ip: '203.0.113.1', jail: 'sshd' } })
  const command = await admin.client.call('POST /servers/{serverId}/commands', {
    params: { serverId: here.id },
    body: { type: 'reload-all' },
  })
  const sequence = await admin.client.call('POST /portknock/sequences', {
    body: { name: 'ssh', protected_port: 22, knock_ports: [7000, 9000, 8000], timeout: 300, server_ids: [here.id] },
  })
  const openingId = randomUUID()
  await here.client.call('POST /agent/knocks', {
    body: {
      events: (['success', 'failed', 'blocked'] as const).map(status => ({
        event_id: status === 'success' ? openingId : randomUUID(),
        sequence_id: sequence.id,
        ip: '203.0.113.1',
        status,
        timestamp: new Date().toISOString(),
      })),
    },
  })
  await admin.client.call('POST /servers/{serverId}/quarantine', {
    params: { serverId: distrusted.id },
    body: { reason: 'Its key was seen elsewhere.' },
  })
  ids = {
    sequenceId: String(sequence.id),
    openingId,
    serverId: here.id,
    banId: String(ban.id),
    commandId: command.id,
    jobId: command.id,
    templateId: '1',
    keyId: '987654',
    id: '987654',
    ip: '203.0.113.1',
    userId: '1',
  }
  feedToken = (await admin.client.call('POST /fleet/feeds', { body: { name: 'guard' } })).token
  bodies = {
    'POST /commands/batch': { server_ids: [here.id], type: 'rm' },
  }
})
afterAll(() => server.close())

test('the table names exactly what is mounted', async () => {
  const { paths } = (await raw(server, 'GET', '/api/openapi.json')).json as {
    paths: Record<string, Record<string, object>>
  }
  const mounted = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
  )
  // The live feed is no endpoint of the contract; its own tests cover who may open it.
  expect(mounted.filter(name => name !== 'GET /ws').sort()).toEqual(Object.keys(table).sort())
})

/**
 * Asks with a body that validation or existence refuses after the access check, so that nothing is changed: 401 and 403
 * are about the caller, anything else means that it was let through.
 */
const ask = async (endpoint: Endpoint, caller: Caller): Promise<'ok' | 401 | 403> => {
  const path = `/api/v1${endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')}`
  const name = `${endpoint.method} ${endpoint.path}`
  const harmless = endpoint.method === 'GET' ? undefined : (bodies[name] ?? { nonsense: true })
  const token = tokens.get(caller)
  const reply = await raw(server, endpoint.method, endpoint.method === 'DELETE' ? `${path}?nonsense=1` : path, {
    ...(token ? { token } : {}),
    // A bouncer has a credential of its own beside those of the table.
    ...(endpoint.path.startsWith('/crowdsec/') ? { headers: { 'x-api-key': feedToken } } : {}),
    ...(harmless === undefined ? {} : { body: harmless }),
  })
  expect(reply.status, `${name} as ${caller}: ${reply.text}`).toBeLessThan(500)
  return reply.status === 401 || reply.status === 403 ? reply.status : 'ok'
}

test.each(callers)('%s gets exactly as far as the decisions say', async caller => {
  const differences: string[] = []
  for (const endpoint of endpoints) {
    const row = table[`${endpoint.method} ${endpoint.path}`]
    if (!row) continue
    // A session is needed later on, and a sign-in with nonsense is refused as such.
    if (endpoint.path === '/auth/logout' && row[caller] === 'ok') continue
    const wanted = row[caller] ?? row.else
    const got = await ask(endpoint, caller)
    // Which server a change is for is looked at after its form: a body that is refused says nothing of it.
    const formFirst =
      got === 'ok' &&
      wanted === 403 &&
      (caller === 'agentElsewhere' || caller === 'viewerElsewhere') &&
      endpoint.method !== 'GET'
    if (got !== wanted && !formFirst)
      differences.push(`${endpoint.method} ${endpoint.path} as ${caller}: ${got}, not ${wanted}`)
  }
  expect(differences).toEqual([])
})

test('SECURITY.md shows what the table says', () => {
  // `npm run make -- access` writes it.
  expect(readFileSync(join(import.meta.dirname, '../../../SECURITY.md'), 'utf8')).toContain(`\n${accessTable()}\n`)
})

test('lists hold nothing of servers that the caller may not see', async () => {
  for (const [caller, total] of [
    ['viewerHere', 1],
    ['viewerElsewhere', 0],
    ['readKeyHere', 1],
    ['writeKeyHere', 1],
    ['writeKeyOfTag', 1],
    ['operatorOfTag', 1],
    ['viewer', 1],
  ] as const) {
    const token = tokens.get(caller) ?? ''
    for (const path of [
      '/api/v1/bans',
      '/api/v1/commands',
      '/api/v1/bans?from=2020-01-01T00:00:00Z',
      '/api/v1/bans?active=true',
      '/api/v1/portknock/sequences',
      '/api/v1/portknock/active',
      '/api/v1/portknock/blocked',
      '/api/v1/portknock/history?status=failed',
    ])
      expect((await raw(server, 'GET', path, { token })).json, `${path} as ${caller}`).toMatchObject({ total })
  }
  const servers = async (caller: Caller) =>
    (
      (await raw(server, 'GET', '/api/v1/servers', { token: tokens.get(caller) ?? '' })).json as {
        servers: { hostname: string }[]
      }
    ).servers.map(found => found.hostname)
  expect(await servers('viewerHere')).toEqual(['here'])
  expect(await servers('writeKeyOfTag')).toEqual(['here'])
  expect(await servers('viewer')).toEqual(['distrusted', 'elsewhere', 'here'])
})
