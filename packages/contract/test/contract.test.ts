import { describe, expect, test } from 'vitest'
import { endpoints } from '../src/index.ts'
import type { Endpoint } from '../src/index.ts'

/** Every operation of the interface, by hand from its tables, so that none is lost or renamed unnoticed. */
const interfaceOperations = `
  POST /auth/login
  POST /auth/mfa/verify
  POST /auth/refresh
  POST /auth/logout
  GET /auth/me
  GET /users/me
  POST /auth/mfa/enable
  POST /auth/mfa/confirm
  POST /auth/mfa/disable
  POST /auth/password
  GET /auth/provider_a
  GET /auth/provider_a/callback
  GET /auth/provider_b
  GET /auth/provider_b/callback

  POST /keys
  DELETE /keys/{keyId}
  GET /users/{userId}/keys
  POST /users/{userId}/keys

  GET /users
  GET /users/{userId}
  POST /users
  PATCH /users/{userId}
  DELETE /users/{userId}
  POST /users/{userId}/reset-password
  POST /users/{userId}/reset-mfa
  PUT /users/{userId}/server-access
  GET /users/{userId}/sessions
  DELETE /users/{userId}/sessions/{sessionId}
  DELETE /users/{userId}/sessions

  GET /servers
  GET /servers/{serverId}
  POST /servers
  PATCH /servers/{serverId}
  DELETE /servers/{serverId}
  POST /servers/heartbeat
  GET /servers/{serverId}/jails
  GET /servers/{serverId}/stats
  POST /servers/{serverId}/regenerate-token

  GET /commands
  GET /commands/{commandId}
  POST /servers/{serverId}/commands
  POST /commands/batch
  DELETE /commands/{commandId}
  POST /commands/{commandId}/retry
  GET /servers/{serverId}/commands/pending
  POST /commands/{commandId}/result
  GET /commands/stats

  GET /bans
  GET /bans/{banId}
  POST /bans
  POST /servers/{serverId}/bans
  DELETE /servers/{serverId}/bans/{ip}
  GET /bans/stats
  GET /bans/lookup/{ip}
  POST /bans/{banId}/report

  GET /whitelist
  GET /whitelist/{id}
  POST /whitelist
  POST /whitelist/bulk
  PATCH /whitelist/{id}
  DELETE /whitelist/{id}
  GET /whitelist.txt
  GET /whitelist/check/{ip}
  POST /whitelist/import
  GET /whitelist/export
  GET /whitelist/sync-status
  POST /whitelist/sync

  GET /templates
  GET /templates/{templateId}
  POST /templates
  PATCH /templates/{templateId}
  DELETE /templates/{templateId}
  POST /templates/{templateId}/deploy
  DELETE /templates/{templateId}/servers/{serverId}
  GET /templates/categories
  POST /templates/validate
  GET /templates/{templateId}/status

  GET /settings
  PATCH /settings
  GET /settings/chat
  PATCH /settings/chat
  POST /settings/chat/test
  GET /settings/email
  PATCH /settings/email
  POST /settings/email/test
  GET /settings/reputation
  PATCH /settings/reputation
  GET /settings/license
  POST /settings/license
  GET /settings/oauth
  PATCH /settings/oauth
  GET /settings/export
  POST /settings/import
  GET /settings/audit

  GET /portknock/sequences
  GET /portknock/sequences/{sequenceId}
  POST /portknock/sequences
  PATCH /portknock/sequences/{sequenceId}
  DELETE /portknock/sequences/{sequenceId}
  POST /portknock/knock
  GET /portknock/active
  DELETE /portknock/active/{openingId}
  GET /portknock/history
  GET /portknock/blocked
  DELETE /portknock/blocked/{ip}
  GET /portknock/stats

  GET /siem/settings
  PATCH /siem/settings
  POST /siem/test
  GET /siem/status
  GET /siem/queue
  POST /siem/flush
  DELETE /siem/queue
  GET /siem/stats
  GET /siem/event-types
  POST /siem/replay
  GET /siem/replay/{jobId}
`
  .split('\n')
  .flatMap(line => line.trim() || [])

/** What Stockade adds to the interface. */
const additions = [
  'GET /alerts',
  'POST /alerts/{id}/ack',
  'GET /alerts/rules',
  'POST /alerts/rules',
  'POST /alerts/rules/preview',
  'PATCH /alerts/rules/{id}',
  'DELETE /alerts/rules/{id}',
  'GET /alerts/routes',
  'PUT /alerts/routes',
  'GET /alerts/silences',
  'POST /alerts/silences',
  'DELETE /alerts/silences/{id}',
  'GET /channels',
  'POST /channels',
  'GET /channels/presets',
  'GET /channels/{id}',
  'PATCH /channels/{id}',
  'DELETE /channels/{id}',
  'POST /channels/{id}/test',
  'GET /channels/{id}/deliveries',
  'GET /auth/options',
  'GET /setup',
  'POST /setup',
  'POST /auth/mfa/backup-codes',
  'POST /auth/step-up',
  'POST /auth/step-up/options',
  'GET /auth/passkeys',
  'POST /auth/passkeys',
  'POST /auth/passkeys/options',
  'PATCH /auth/passkeys/{passkeyId}',
  'DELETE /auth/passkeys/{passkeyId}',
  'POST /auth/passkey',
  'POST /auth/passkey/options',
  'POST /commands/prepare',
  'POST /commands/sealed',
  'POST /servers/{serverId}/quarantine',
  'DELETE /servers/{serverId}/quarantine',
  'DELETE /servers/{serverId}/clone',
  'POST /servers/{serverId}/forget-reports',
  'GET /servers/summary',
  'GET /servers/jails',
  'GET /servers/tags',
  'POST /servers/tags',
  'POST /commands/cancel',
  'POST /whitelist/remove',
  'POST /agent/enroll',
  'POST /agent/challenge',
  'GET /agent/state',
  'POST /agent/state/ack',
  'GET /agent/shield/bans',
  'GET /agent/shield/lists/{id}',
  'GET /lists',
  'POST /lists',
  'POST /lists/preview',
  'GET /lists/{id}',
  'PATCH /lists/{id}',
  'DELETE /lists/{id}',
  'POST /lists/{id}/refresh',
  'GET /lists/{id}/servers',
  'GET /lists/{id}/entries',
  'GET /fleet/bans',
  'POST /fleet/bans',
  'POST /fleet/bans/bulk',
  'POST /fleet/bans/remove',
  'GET /fleet/bans/{id}',
  'GET /fleet/bans/{id}/servers',
  'PATCH /fleet/bans/{id}',
  'DELETE /fleet/bans/{id}',
  'GET /rules',
  'POST /rules',
  'POST /rules/simulate',
  'GET /rules/{id}',
  'PATCH /rules/{id}',
  'DELETE /rules/{id}',
  'POST /rules/{id}/simulate',
  'POST /rules/{id}/arm',
  'POST /rules/{id}/disarm',
  'GET /rules/{id}/matches',
  'GET /whitelist/names',
  'POST /whitelist/names',
  'DELETE /whitelist/names/{id}',
  'POST /bans/own-unban',
  'GET /servers/enrolment-tokens',
  'POST /servers/enrolment-tokens',
  'GET /servers/enrolment-tokens/{id}',
  'DELETE /servers/enrolment-tokens/{id}',
  'GET /fleet/feeds',
  'POST /fleet/feeds',
  'POST /fleet/feeds/preview',
  'PATCH /fleet/feeds/{id}',
  'DELETE /fleet/feeds/{id}',
  'POST /fleet/feeds/{id}/rotate',
  'GET /reports',
  'GET /reports/schedules',
  'POST /reports/schedules',
  'PATCH /reports/schedules/{id}',
  'DELETE /reports/schedules/{id}',
  'POST /reports/schedules/{id}/test',
  'GET /feeds/{token}',
  'GET /crowdsec/v1/decisions',
  'GET /crowdsec/v1/decisions/stream',
  'POST /crowdsec/v1/usage-metrics',
  'GET /agents/release',
  'GET /agents/address',
  'PUT /agents/address',
  'GET /agents/address/servers',
  'POST /agents/rollouts',
  'GET /agents/rollouts',
  'GET /agents/rollouts/{id}',
  'GET /agents/rollouts/{id}/servers',
  'POST /agents/rollouts/{id}/pause',
  'POST /agents/rollouts/{id}/resume',
  'POST /agents/rollouts/{id}/abort',
  'POST /agents/rollouts/{id}/rollback',
  'PUT /agent/jails',
  'PUT /agent/adopted',
  'PUT /agent/active',
  'POST /agent/farewell',
  'POST /agent/results',
  'POST /agent/turn',
  'POST /agent/knocks',
  'POST /bans/batch',
  'GET /bans/export',
  'GET /bans/top',
  'GET /bans/attackers',
  'GET /servers/{serverId}/metrics',
  'GET /bootstrap',
  'POST /settings/license/self',
  'GET /bans/lookup/{ip}/neighbours',
  'GET /settings/audit/export',
  'GET /siem/deliveries',
  'GET /auth/invite',
  'POST /auth/invite',
  'POST /users/{userId}/invite',
  'GET /users/me/preferences',
  'PUT /users/me/preferences',
  'GET /health',
  'GET /ready',
]

/** Lists that come in pages: the key of the rows, default and maximum of `limit`. */
const pagedLists: Record<string, readonly [key: string, limit: number, maximum: number]> = {
  'GET /users': ['users', 20, 100],
  'GET /servers': ['servers', 20, 100],
  'GET /commands': ['commands', 50, 100],
  'GET /bans': ['bans', 50, 100],
  'GET /bans/attackers': ['attackers', 50, 100],
  'GET /whitelist': ['whitelist', 50, 100],
  'GET /lists': ['lists', 50, 100],
  'GET /lists/{id}/servers': ['servers', 50, 100],
  'GET /lists/{id}/entries': ['entries', 50, 100],
  'GET /fleet/bans': ['fleet_bans', 50, 100],
  'GET /fleet/bans/{id}/servers': ['servers', 50, 100],
  'GET /rules/{id}/matches': ['matches', 50, 100],
  'GET /alerts': ['alerts', 50, 200],
  'GET /agents/address/servers': ['servers', 20, 100],
  'GET /agents/rollouts': ['rollouts', 20, 100],
  'GET /agents/rollouts/{id}/servers': ['servers', 20, 100],
  'GET /settings/audit': ['entries', 50, 100],
  'GET /portknock/history': ['history', 50, 100],
}

/** Endpoints whose unknown fields are ignored: agents that are newer than the server; and parameters, at callbacks. */
const lenient = [
  'GET /crowdsec/v1/decisions',
  'GET /crowdsec/v1/decisions/stream',
  'POST /crowdsec/v1/usage-metrics',
  'POST /servers/heartbeat',
  'POST /bans',
  'POST /bans/batch',
  'GET /servers/{serverId}/commands/pending',
  'POST /commands/{commandId}/result',
  'POST /agent/enroll',
  'POST /agent/challenge',
  'GET /agent/state',
  'POST /agent/state/ack',
  'PUT /agent/jails',
  'PUT /agent/adopted',
  'PUT /agent/active',
  'POST /agent/farewell',
  'POST /agent/results',
  'POST /agent/turn',
  'POST /agent/knocks',
  'GET /auth/provider_a/callback',
  'GET /auth/provider_b/callback',
]

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
}
const nameOf = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path}`
const schemaOf = (schema: object | undefined) => schema as Schema | undefined
const fieldsOf = (schema: object | undefined) => Object.keys(schemaOf(schema)?.properties ?? {})
const get = (name: string): Endpoint => {
  const found = endpoints.find(endpoint => nameOf(endpoint) === name)
  if (!found) throw new Error(`no endpoint ${name}`)
  return found
}

/** Every object with named fields in a schema, with where it stands. */
const objectsIn = (schema: Schema, path: string): [string, Schema][] => [
  ...(schema.properties ? [[path, schema] as [string, Schema]] : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => objectsIn(field, `${path}.${name}`)),
  ...(schema.items ? objectsIn(schema.items, `${path}[]`) : []),
  ...(schema.anyOf ?? []).flatMap(branch => objectsIn(branch, path)),
]

describe('the contract', () => {
  test('has every operation of the interface, the additions, and nothing else, each once', () => {
    expect(interfaceOperations).toHaveLength(117)
    expect(endpoints.map(nameOf).sort()).toEqual([...interfaceOperations, ...additions].sort())
  })

  test('no two operations answer the same request', () => {
    const shapes = endpoints.map(endpoint => nameOf(endpoint).replace(/\{\w+\}/g, '{}'))
    expect(shapes.filter((shape, index) => shapes.indexOf(shape) !== index)).toEqual([])
  })

  test.each(endpoints.map(endpoint => [nameOf(endpoint), endpoint] as const))('%s is complete', (_, endpoint) => {
    expect(endpoint.tag).toMatch(/^[A-Z]/)
    expect(endpoint.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(endpoint.description ?? 'None.').toMatch(/[.:)`]$/)
    expect(['public', 'session', 'session-before-mfa', 'self', 'agent', 'read', 'write', 'admin']).toContain(
      endpoint.access,
    )
    expect(endpoint.reply).toBeDefined()
    if (endpoint.method === 'GET') expect(endpoint.body).toBeUndefined()
    if (endpoint.access === 'self') expect(endpoint.path).toContain('{userId}')
  })

  test.each(endpoints.map(endpoint => [nameOf(endpoint), endpoint] as const))(
    '%s declares exactly the parameters of its path',
    (_, endpoint) => {
      const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
      expect(fieldsOf(endpoint.params).sort()).toEqual(inPath.sort())
      expect([...(schemaOf(endpoint.params)?.required ?? [])].sort()).toEqual(inPath.sort())
    },
  )

  test.each(endpoints.filter(endpoint => !endpoint.lenient).map(endpoint => [nameOf(endpoint), endpoint] as const))(
    '%s refuses what it does not know',
    (_, endpoint) => {
      const inputs = { body: endpoint.body, query: endpoint.query, params: endpoint.params }
      const open = Object.entries(inputs).flatMap(([where, schema]) =>
        objectsIn(schemaOf(schema) ?? {}, where).flatMap(([path, object]) =>
          object.additionalProperties === false ? [] : [path],
        ),
      )
      expect(open).toEqual([])
    },
  )

  test('only agents, bouncers and sign-in providers are met with leniency', () => {
    expect(
      endpoints
        .filter(endpoint => endpoint.lenient)
        .map(nameOf)
        .sort(),
    ).toEqual([...lenient].sort())
  })

  test('parameters that nobody knows are for bouncers and callbacks alone', () => {
    const open = endpoints.filter(({ query }) => query && schemaOf(query)?.additionalProperties !== false)
    expect(open.map(nameOf).sort()).toEqual([
      'GET /auth/provider_a/callback',
      'GET /auth/provider_b/callback',
      'GET /crowdsec/v1/decisions',
      'GET /crowdsec/v1/decisions/stream',
    ])
  })

  test('replies cut what is not in their shape', () => {
    const open = endpoints.flatMap(endpoint =>
      objectsIn(schemaOf(endpoint.reply) ?? {}, nameOf(endpoint)).flatMap(([path, object]) =>
        object.additionalProperties === false ? [] : [path],
      ),
    )
    expect(open).toEqual([])
  })

  test('every list in pages has the sizes of the interface, and no other endpoint has pages', () => {
    expect(
      endpoints
        .filter(endpoint => fieldsOf(endpoint.query).includes('page'))
        .map(nameOf)
        .sort(),
    ).toEqual(Object.keys(pagedLists).sort())
    for (const [name, [key, limit, maximum]] of Object.entries(pagedLists)) {
      const { query, reply } = get(name)
      expect(schemaOf(query)?.properties?.page, name).toMatchObject({ type: 'integer', minimum: 1, default: 1 })
      expect(schemaOf(query)?.properties?.limit, name).toMatchObject({
        type: 'integer',
        minimum: 1,
        maximum,
        default: limit,
      })
      expect(schemaOf(query)?.required ?? [], name).toEqual([])
      expect(fieldsOf(reply), name).toEqual([
        key,
        'total',
        'page',
        'limit',
        ...(name === 'GET /alerts' ? ['firing', 'unheard'] : []),
        ...(name === 'GET /bans/attackers' ? ['totals'] : []),
      ])
    }
    expect(schemaOf(get('GET /siem/queue').query)?.properties?.limit).toMatchObject({ default: 100, maximum: 1000 })
  })

  test('filters are optional, and an empty change changes nothing', () => {
    const demanding = endpoints.filter(
      endpoint =>
        (schemaOf(endpoint.query)?.required ?? []).length > 0 ||
        (endpoint.method === 'PATCH' && (schemaOf(endpoint.body)?.required ?? []).length > 0),
    )
    // Not a list with filters: it asks for one name. And a passkey has nothing but a name to change.
    expect(demanding.map(nameOf)).toEqual(['PATCH /auth/passkeys/{passkeyId}', 'GET /servers/jails'])
    const changing = endpoints.filter(endpoint => endpoint.method === 'PATCH')
    const preset = changing.flatMap(endpoint =>
      objectsIn(schemaOf(endpoint.body) ?? {}, nameOf(endpoint)).flatMap(([path, object]) =>
        Object.entries(object.properties ?? {}).flatMap(([name, field]) =>
          field.default === undefined ? [] : [`${path}.${name}`],
        ),
      ),
    )
    expect(preset).toEqual([])
  })

  test('Pro features are marked, and only they', () => {
    const marked = endpoints.filter(endpoint => endpoint.licence === 'port_knocking' || endpoint.licence === 'siem')
    const pro = endpoints.filter(endpoint => /^\/(portknock|siem)\//.test(endpoint.path))
    expect(marked.map(nameOf).sort()).toEqual(pro.map(nameOf).sort())
    expect(endpoints.filter(endpoint => endpoint.licence === 'custom_templates').map(nameOf)).toEqual([
      'POST /templates',
      'PATCH /templates/{templateId}',
    ])
  })

  test('the sensitive ones are those of the decisions', () => {
    expect(
      endpoints
        .filter(endpoint => endpoint.rate === 'sensitive')
        .map(nameOf)
        .sort(),
    ).toEqual(
      [
        'POST /auth/login',
        'POST /auth/mfa/verify',
        'POST /auth/mfa/enable',
        'POST /auth/mfa/confirm',
        'POST /auth/mfa/disable',
        'POST /auth/mfa/backup-codes',
        'POST /auth/step-up',
        'POST /auth/step-up/options',
        'POST /auth/passkeys',
        'POST /auth/passkeys/options',
        'DELETE /auth/passkeys/{passkeyId}',
        'POST /auth/passkey',
        'POST /auth/passkey/options',
        'POST /auth/password',
        'POST /auth/refresh',
        'GET /auth/invite',
        'POST /auth/invite',
        'POST /setup',
        'POST /agent/enroll',
        'POST /keys',
        'DELETE /keys/{keyId}',
        'POST /users/{userId}/keys',
        'POST /servers/enrolment-tokens',
        'POST /fleet/feeds',
        'POST /fleet/feeds/{id}/rotate',
      ].sort(),
    )
  })

  test('accounts, settings, SIEM and changes of the whole fleet are closed to a key of one server', () => {
    const fleet = new Set(endpoints.filter(endpoint => endpoint.fleet).map(nameOf))
    const expected = endpoints.filter(
      endpoint =>
        (/^\/(users|keys|settings|siem|agents|channels|rules|fleet\/feeds|reports\/schedules|servers\/enrolment-tokens)\b/.test(
          endpoint.path,
        ) &&
          endpoint.access !== 'session') ||
        [
          'POST /servers',
          'POST /alerts/rules',
          'POST /alerts/rules/preview',
          'PATCH /alerts/rules/{id}',
          'DELETE /alerts/rules/{id}',
          'GET /alerts/routes',
          'PUT /alerts/routes',
          'POST /whitelist',
          'POST /whitelist/names',
          'DELETE /whitelist/names/{id}',
          'POST /whitelist/bulk',
          'POST /whitelist/remove',
          'PATCH /whitelist/{id}',
          'DELETE /whitelist/{id}',
          'POST /whitelist/import',
          'POST /templates',
          'PATCH /templates/{templateId}',
          'DELETE /templates/{templateId}',
          'POST /portknock/sequences',
          'PATCH /portknock/sequences/{sequenceId}',
          'DELETE /portknock/sequences/{sequenceId}',
        ].includes(nameOf(endpoint)),
    )
    expect([...fleet].sort()).toEqual(expected.map(nameOf).sort())
  })
})

/** Places of arrays without a bound in a shape. */
const unbounded = (schema: unknown, at: string): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const here = 'type' in schema && [schema.type].flat().includes('array') && !('maxItems' in schema) ? [at] : []
  return [...here, ...Object.entries(schema).flatMap(([key, part]) => unbounded(part, `${at}.${key}`))]
}

test('every array that somebody sends has a bound', () => {
  const inputs = endpoints.flatMap(({ method, path, body, query, params }) =>
    [body, query, params].map(input => unbounded(input, `${method} ${path}`)),
  )
  expect(inputs.flat()).toEqual([])
  expect(
    unbounded(
      endpoints.map(({ reply }) => reply),
      'replies',
    ),
  ).not.toEqual([])
})
