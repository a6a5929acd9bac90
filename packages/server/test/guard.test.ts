import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { aHost, raw, startServer } from '../src/testing/index.ts'
import type { TestServer } from '../src/testing/index.ts'

/*
 * Every mounted endpoint against every kind of caller, compared with a table written by hand from the decisions
 * (sections 3 and 14), not from the contract: what the contract says is what is being checked.
 */

const callers = [
  'nobody',
  'nonsense',
  'viewer',
  'operator',
  'admin',
  'viewerHere',
  'viewerElsewhere',
  'operatorHere',
  'operatorOfTag',
  'readKey',
  'writeKey',
  'adminKey',
  'readKeyHere',
  'writeKeyHere',
  'writeKeyOfTag',
  'agentHere',
  'agentElsewhere',
  'agentInQuarantine',
  'revoked',
] as const
type Caller = (typeof callers)[number]

/** `ok` = not refused for who it is; the numbers are the refusal. Callers that are not named get what `else` says. */
type Row = Partial<Record<Caller, 'ok' | 401 | 403>> & { else: 'ok' | 401 | 403 }
const stranger = { nobody: 401, nonsense: 401, revoked: 401 } as const
const noAgent = { agentHere: 403, agentElsewhere: 403, agentInQuarantine: 403 } as const
const noServerKey = { readKeyHere: 403, writeKeyHere: 403 } as const

const open: Row = { else: 'ok' }
const session: Row = {
  ...stranger,
  viewer: 'ok',
  operator: 'ok',
  admin: 'ok',
  viewerHere: 'ok',
  viewerElsewhere: 'ok',
  operatorHere: 'ok',
  operatorOfTag: 'ok',
  else: 403,
}
const read: Row = { ...stranger, ...noAgent, else: 'ok' }
const readHere: Row = { ...read, viewerElsewhere: 403 }
/** What a host reads of itself. */
const hostRead: Row = { ...read, agentHere: 'ok', agentElsewhere: 'ok' }
/** What people decide about: a key that is bound to one server has no part in it. */
const peopleRead: Row = { ...read, ...noServerKey }
const peopleWrite: Row = {
  ...stranger,
  operator: 'ok',
  operatorHere: 'ok',
  operatorOfTag: 'ok',
  admin: 'ok',
  writeKey: 'ok',
  adminKey: 'ok',
  writeKeyOfTag: 'ok',
  else: 403,
}
const write: Row = { ...peopleWrite, writeKeyHere: 'ok' }
/** What acts on the whole fleet is not for a key that is bound to some servers, nor for whoever has access to some servers only. */
const fleetWrite: Row = { ...peopleWrite, operatorHere: 403, operatorOfTag: 403, writeKeyOfTag: 403 }
/** Objects of the whole fleet: a key that is bound to some servers has no part in them. */
const fleetRead: Row = { ...peopleRead, writeKeyOfTag: 403 }
const adminOnly: Row = { ...stranger, admin: 'ok', adminKey: 'ok', else: 403 }
const agent: Row = { ...stranger, agentHere: 'ok', agentElsewhere: 'ok', writeKeyHere: 'ok', else: 403 }
/** What is heard of a host in quarantine. */
const heard: Row = { ...agent, agentInQuarantine: 'ok' }
/** One's own key; an unknown one is 404 for whoever may ask, and a bound key has none. */
const keys: Row = { ...fleetRead }

/** Administrators, and the user that the path names: here the first one, who is `admin`. */
const ofAdmin: Row = { ...adminOnly }

const table: Record<string, Row> = {
  'GET /auth/provider_a': open,
  'GET /auth/provider_a/callback': open,
  'GET /auth/provider_b': open,
  'GET /auth/provider_b/callback': open,
  'GET /settings': adminOnly,
  'PATCH /settings': adminOnly,
  'GET /settings/export': adminOnly,
  'POST /settings/import': adminOnly,
  'GET /settings/chat': adminOnly,
  'PATCH /settings/chat': adminOnly,
  'POST /settings/chat/test': adminOnly,
  'GET /settings/email': adminOnly,
  'PATCH /settings/email': adminOnly,
  'POST /settings/email/test': adminOnly,
  'GET /reports': read,
  'GET /reports/schedules': adminOnly,
  'POST /reports/schedules': adminOnly,
  'PATCH /reports/schedules/{id}': adminOnly,
  'DELETE /reports/schedules/{id}': adminOnly,
  'POST /reports/schedules/{id}/test': adminOnly,
  'GET /alerts': peopleRead,
  'POST /alerts/{id}/ack': peopleWrite,
  'GET /alerts/rules': peopleRead,
  'POST /alerts/rules': adminOnly,
  'POST /alerts/rules/preview': adminOnly,
  'PATCH /alerts/rules/{id}': adminOnly,
  'DELETE /alerts/rules/{id}': adminOnly,
  'GET /alerts/routes': adminOnly,
  'PUT /alerts/routes': adminOnly,
  'GET /alerts/silences': peopleRead,
  'POST /alerts/silences': peopleWrite,
  'DELETE /alerts/silences/{id}': peopleWrite,
  'GET /channels': adminOnly,
  'POST /channels': adminOnly,
  'GET /channels/presets': adminOnly,
  'GET /channels/{id}': adminOnly,
  'PATCH /channels/{id}': adminOnly,
  'DELETE /channels/{id}': adminOnly,
  'POST /channels/{id}/test': adminOnly,
  'GET /channels/{id}/deliveries': adminOnly,
  'GET /settings/oauth': adminOnly,
  'GET /settings/reputation': adminOnly,
  'PATCH /settings/reputation': adminOnly,
  'PATCH /settings/oauth': adminOnly,
  'GET /settings/audit': adminOnly,
  'GET /settings/audit/export': adminOnly,
  'GET /settings/license': adminOnly,
  'POST /settings/license': adminOnly,
  'POST /settings/license/self': adminOnly,
  'POST /auth/mfa/verify': open,
  'POST /auth/mfa/enable': session,
  'POST /auth/mfa/confirm': session,
  'POST /auth/mfa/disable': session,
  'POST /auth/mfa/backup-codes': session,
  'POST /auth/password': session,
  'POST /auth/step-up': session,
  'POST /auth/step-up/options': session,
  'GET /auth/passkeys': session,
  'POST /auth/passkeys': session,
  'POST /auth/passkeys/options': session,
  'PATCH /auth/passkeys/{passkeyId}': session,
  'DELETE /auth/passkeys/{passkeyId}': session,
  'POST /auth/passkey': open,
  'POST /auth/passkey/options': open,
  'GET /users': adminOnly,
  'POST /users': adminOnly,
  'GET /users/{userId}': ofAdmin,
  'POST /users/{userId}/invite': adminOnly,
  'PATCH /users/{userId}': adminOnly,
  'DELETE /users/{userId}': adminOnly,
  'POST /users/{userId}/reset-password': adminOnly,
  'POST /users/{userId}/reset-mfa': adminOnly,
  'PUT /users/{userId}/server-access': adminOnly,
  'GET /users/{userId}/sessions': ofAdmin,
  'DELETE /users/{userId}/sessions': ofAdmin,
  'DELETE /users/{userId}/sessions/{sessionId}': ofAdmin,
  'GET /users/{userId}/keys': ofAdmin,
  'POST /users/{userId}/keys': ofAdmin,
  'GET /health': open,
  'GET /ready': open,
  'GET /setup': open,
  'POST /setup': open,
  'GET /auth/options': open,
  'POST /auth/login': open,
  'GET /auth/invite': open,
  'POST /auth/invite': open,
  'POST /auth/refresh': open,
  'POST /agent/enroll': open,
  'POST /agent/challenge': open,
  'GET /agents/address': adminOnly,
  'PUT /agents/address': adminOnly,
  'GET /agents/address/servers': adminOnly,
  'POST /auth/logout': session,
  'GET /auth/me': session,
  'GET /users/me': session,
  'GET /users/me/preferences': session,
  'PUT /users/me/preferences': session,
  'POST /keys': adminOnly,
  'DELETE /keys/{keyId}': keys,
  'GET /servers': read,
  'GET /servers/summary': read,
  'GET /servers/jails': read,
  'GET /servers/tags': peopleRead,
  'POST /servers/tags': peopleWrite,
  'GET /servers/{serverId}': { ...hostRead, viewerElsewhere: 403, agentElsewhere: 403 },
  'GET /servers/{serverId}/jails': readHere,
  'POST /servers': adminOnly,
  'PATCH /servers/{serverId}': adminOnly,
  'DELETE /servers/{serverId}': adminOnly,
  'POST /servers/{serverId}/regenerate-token': adminOnly,
  'POST /servers/{serverId}/quarantine': adminOnly,
  'DELETE /servers/{serverId}/quarantine': adminOnly,
  'DELETE /servers/{serverId}/clone': adminOnly,
  'POST /servers/{serverId}/forget-reports': adminOnly,
  'POST /servers/heartbeat': heard,
  'PUT /agent/jails': agent,
  'PUT /agent/adopted': agent,
  'PUT /agent/active': agent,
  'GET /agent/state': heard,
  'POST /agent/state/ack': heard,
  'POST /agent/results': heard,
  'POST /agent/turn': heard,
  'GET /servers/{serverId}/commands/pending': { ...agent, agentElsewhere: 403 },
  'POST /commands/{commandId}/result': { ...heard, agentElsewhere: 403 },
  'GET /commands': read,
  'GET /commands/{commandId}': readHere,
  'GET /commands/stats': read,
  'GET /bans/stats': read,
  'GET /bans/top': read,
  'GET /bans/attackers': read,
  'GET /bans/lookup/{ip}/neighbours': read,
  'GET /servers/{serverId}/metrics': readHere,
  'GET /bootstrap': session,
  'GET /servers/{serverId}/stats': readHere,
  'POST /servers/{serverId}/commands': write,
  'POST /commands/prepare': write,
  'POST /commands/sealed': write,
  'POST /commands/batch': write,
  'POST /commands/cancel': write,
  'DELETE /commands/{commandId}': write,
  'POST /commands/{commandId}/retry': write,
  'GET /templates': read,
  'GET /templates/categories': read,
  'GET /templates/{templateId}': read,
  'POST /templates': adminOnly,
  'PATCH /templates/{templateId}': adminOnly,
  'DELETE /templates/{templateId}': adminOnly,
  'POST /templates/validate': write,
  'POST /templates/{templateId}/deploy': write,
  'DELETE /templates/{templateId}/servers/{serverId}': write,
  'GET /templates/{templateId}/status': read,
  'GET /whitelist': read,
  'GET /whitelist/{id}': read,
  'POST /whitelist': fleetWrite,
  'POST /whitelist/bulk': fleetWrite,
  'PATCH /whitelist/{id}': fleetWrite,
  'DELETE /whitelist/{id}': fleetWrite,
  'POST /whitelist/remove': fleetWrite,
  'GET /whitelist.txt': hostRead,
  'GET /whitelist/check/{ip}': read,
  'POST /whitelist/import': fleetWrite,
  'GET /whitelist/export': read,
  'GET /whitelist/sync-status': read,
  'POST /whitelist/sync': write,
  'GET /lists': peopleRead,
  'POST /lists': peopleWrite,
  'POST /lists/preview': peopleWrite,
  'GET /lists/{id}': peopleRead,
  'PATCH /lists/{id}': peopleWrite,
  'DELETE /lists/{id}': peopleWrite,
  'POST /lists/{id}/refresh': peopleWrite,
  'GET /lists/{id}/servers': peopleRead,
  'GET /lists/{id}/entries': peopleRead,
  'GET /fleet/bans': peopleRead,
  'POST /fleet/bans': peopleWrite,
  'GET /fleet/bans/{id}': peopleRead,
  'GET /fleet/bans/{id}/servers': peopleRead,
  'PATCH /fleet/bans/{id}': peopleWrite,
  'DELETE /fleet/bans/{id}': peopleWrite,
  'GET /rules': fleetRead,
  'POST /rules': fleetWrite,
  'POST /rules/simulate': fleetWrite,
  'GET /rules/{id}': fleetRead,
  'PATCH /rules/{id}': fleetWrite,
  'DELETE /rules/{id}': fleetWrite,
  'POST /rules/{id}/simulate': fleetWrite,
  'POST /rules/{id}/arm': fleetWrite,
  'POST /rules/{id}/disarm': fleetWrite,
  'GET /rules/{id}/matches': fleetRead,
  'GET /fleet/feeds': adminOnly,
  'POST /fleet/feeds': adminOnly,
  'POST /fleet/feeds/preview': adminOnly,
  'PATCH /fleet/feeds/{id}': adminOnly,
  'DELETE /fleet/feeds/{id}': adminOnly,
  'POST /fleet/feeds/{id}/rotate': adminOnly,
  'GET /feeds/{token}': open,
  'GET /agents/release': adminOnly,
  'POST /agents/rollouts': adminOnly,
  'GET /agents/rollouts': adminOnly,
  'GET /agents/rollouts/{id}': adminOnly,
  'GET /agents/rollouts/{id}/servers': adminOnly,
  'POST /agents/rollouts/{id}/pause': adminOnly,
  'POST /agents/rollouts/{id}/resume': adminOnly,
  'POST /agents/rollouts/{id}/abort': adminOnly,
  'POST /agents/rollouts/{id}/rollback': adminOnly,
  'GET /agent/shield/bans': agent,
  'GET /agent/shield/lists/{id}': agent,
  'GET /bans': read,
  'GET /bans/export': read,
  'GET /bans/{banId}': readHere,
  'POST /bans/{banId}/report': write,
  'GET /bans/lookup/{ip}': read,
  'POST /bans': agent,
  'POST /bans/batch': agent,
  'POST /servers/{serverId}/bans': write,
  'DELETE /servers/{serverId}/bans/{ip}': write,
  'GET /portknock/sequences': read,
  'GET /portknock/sequences/{sequenceId}': readHere,
  'POST /portknock/sequences': adminOnly,
  'PATCH /portknock/sequences/{sequenceId}': adminOnly,
  'DELETE /portknock/sequences/{sequenceId}': adminOnly,
  'POST /portknock/knock': write,
  'GET /portknock/active': read,
  'DELETE /portknock/active/{openingId}': write,
  'GET /portknock/history': read,
  'GET /portknock/blocked': read,
  'DELETE /portknock/blocked/{ip}': write,
  'GET /portknock/stats': read,
  'POST /agent/knocks': agent,
  'GET /siem/settings': adminOnly,
  'PATCH /siem/settings': adminOnly,
  'POST /siem/test': adminOnly,
  'GET /siem/status': adminOnly,
  'GET /siem/queue': adminOnly,
  'POST /siem/flush': adminOnly,
  'DELETE /siem/queue': adminOnly,
  'GET /siem/deliveries': adminOnly,
  'GET /siem/stats': adminOnly,
  'GET /siem/event-types': adminOnly,
  'POST /siem/replay': adminOnly,
  'GET /siem/replay/{jobId}': adminOnly,
}

let server: TestServer
const tokens = new Map<Caller, string>()
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
