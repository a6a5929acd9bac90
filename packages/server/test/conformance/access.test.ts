import { readFileSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from './endpoints.ts'
import type { Needs, Row } from './endpoints.ts'
import { aPlace, passwords, refusalDeviations, refuses, same, says, unknownId } from './talk.ts'
import type { Caller, Given, Host, Place } from './talk.ts'
import { newKey, oneUser } from './resources.ts'
import { extended, integer, text, time } from './kinds.ts'

/* Who may do what, and what every endpoint does alike: docs/spec/access.md, conventions.md and errors.md. */

let place: Place
let here: Host
let elsewhere: Host
beforeAll(async () => {
  place = await aPlace()
  here = await place.host('here.example')
  elsewhere = await place.host('elsewhere.example')
})
afterAll(() => place.close())

/** What paths name in braces: things that are there, so that nobody is refused for their absence. */
let there: Record<string, unknown>
const theKey = async (body: object) => place.as((await says(place.admin('POST /keys', { body }), 201, newKey)).key)
const whatIsThere = async (): Promise<Record<string, unknown>> => {
  const { admin } = place
  const idOf = async (asked: ReturnType<Caller>) => ((await asked).json as { id: unknown }).id
  return {
    userId: 1,
    serverId: here.id,
    sessionId: unknownId,
    openingId: unknownId,
    jobId: unknownId,
    ip: '203.0.113.1',
    templateId: 'sshd',
    banId: await idOf(here.agent('POST /bans', { body: { ip: '203.0.113.1', jail: 'sshd' } })),
    id: await idOf(admin('POST /whitelist', { body: { ip: '192.0.2.1' } })),
    commandId: await idOf(
      admin('POST /servers/{serverId}/commands', { serverId: here.id, body: { type: 'reload-all' } }),
    ),
    sequenceId: await idOf(
      admin('POST /portknock/sequences', {
        body: { name: 'ssh', protected_port: 22, knock_ports: [7000, 9000, 8000], server_ids: [here.id] },
      }),
    ),
  }
}
/** Asks with a field or a parameter that nothing has, so that whoever is let through changes nothing. */
const harmless = ({ endpoint }: Row): Given => ({
  ...there,
  ...(/^(GET|DELETE)/.test(endpoint) ? { query: 'nonsense=1' } : { body: { nonsense: true } }),
})

type Who = 'nobody' | 'viewer' | 'operator' | 'admin' | 'readKey' | 'writeKey' | 'adminKey' | 'hostKey' | 'hostReadKey'
/** spec access: nothing, or how each is refused; who is not named is let through. */
const refusedFor: Record<Needs, Partial<Record<Who, 401 | 403>>> = {
  nobody: {},
  session: { nobody: 401, readKey: 403, writeKey: 403, adminKey: 403, hostKey: 403, hostReadKey: 403 },
  read: { nobody: 401 },
  write: { nobody: 401, viewer: 403, readKey: 403, hostReadKey: 403 },
  fleet: { nobody: 401, viewer: 403, readKey: 403, hostReadKey: 403, hostKey: 403 },
  admin: { nobody: 401, viewer: 403, operator: 403, readKey: 403, writeKey: 403, hostKey: 403, hostReadKey: 403 },
  // The path names the administrator.
  oneself: { nobody: 401, viewer: 403, operator: 403, readKey: 403, writeKey: 403, hostKey: 403, hostReadKey: 403 },
  agent: {
    nobody: 401,
    viewer: 403,
    operator: 403,
    admin: 403,
    readKey: 403,
    writeKey: 403,
    adminKey: 403,
    hostReadKey: 403,
  },
}

describe('spec access: who may do what', { retry: 0 }, () => {
  test('each endpoint refuses whom it should and nobody else', async () => {
    there = await whatIsThere()
    const callers: Record<Who, Caller> = {
      nobody: place.nobody,
      viewer: place.viewer,
      operator: place.operator,
      admin: place.admin,
      readKey: await theKey({ name: 'reads', permissions: 'read' }),
      writeKey: await theKey({ name: 'writes', permissions: 'write' }),
      adminKey: await theKey({ name: 'rules', permissions: 'admin' }),
      hostKey: here.agent,
      hostReadKey: await theKey({ name: 'looks', permissions: 'read', server_id: here.id }),
    }
    const asAll = async (row: Row) =>
      Promise.all(
        (Object.entries(callers) as [Who, Caller][]).map(async ([who, ask]) => {
          const wanted = refusedFor[row.needs][who]
          // Whose key it is, is seen after the form: accounts.test.ts asks with real ones.
          if (row.endpoint === 'DELETE /keys/{keyId}' && wanted === 403) return []
          const reply = await ask(row.endpoint, { keyId: 99_999, ...harmless(row) })
          const passed = row.needs === 'nobody' || ![401, 403].includes(reply.status)
          const how = wanted ? refusalDeviations(reply, wanted) : passed ? [] : [`${reply.status} ${reply.text}`]
          return how.map(what => `${row.page} ${row.endpoint}, needs ${row.needs}, as ${who}: ${what}`)
        }),
      )
    const wrong: string[] = []
    for (const row of endpoints) wrong.push(...(await asAll(row)).flat())
    expect(wrong).toEqual([])
  })

  test('what belongs to another server is 403, and lists leave it out', async () => {
    const { admin, operator } = place
    await says(
      admin('PUT /users/{userId}/server-access', {
        userId: 2,
        body: { access_type: 'specific', server_ids: [elsewhere.id] },
      }),
      200,
      { message: text, access_type: 'specific', server_count: 1 },
    )
    await says(admin('GET /users/{userId}', { userId: 2 }), 200, oneUser.but({ server_access: 'specific' }))
    const why = 'spec access: a single read outside is 403'
    for (const stranger of [operator, elsewhere.agent])
      for (const endpoint of [
        'GET /servers/{serverId}',
        'GET /servers/{serverId}/jails',
        'GET /servers/{serverId}/stats',
        'GET /bans/{banId}',
        'GET /commands/{commandId}',
        'GET /portknock/sequences/{sequenceId}',
        'DELETE /commands/{commandId}',
        'POST /bans/{banId}/report',
        'DELETE /servers/{serverId}/bans/{ip}',
        'DELETE /templates/{templateId}/servers/{serverId}',
      ])
        await refuses(stranger(endpoint, there), 403, why)
    const filter = 'spec errors: an id in a filter that exists outside the access is 403'
    for (const endpoint of ['GET /bans', 'GET /commands', 'GET /bans/stats', 'GET /portknock/active'])
      await refuses(operator(endpoint, { query: `server_id=${here.id}` }), 403, filter)
    for (const [endpoint, total] of [
      ['GET /servers', 1],
      ['GET /bans', 0],
      ['GET /commands', 0],
      ['GET /portknock/sequences', 0],
    ] as const)
      same(
        `spec access: lists are filtered, ${endpoint}`,
        ((await operator(endpoint)).json as { total: unknown }).total,
        total,
      )
    await refuses(
      elsewhere.agent('GET /servers/{serverId}/commands/pending', { serverId: here.id }),
      403,
      'spec errors: an API key bound to another server',
    )
    await refuses(
      elsewhere.agent('GET /servers/{serverId}', { serverId: unknownId }),
      404,
      'spec errors: an unknown id in the path',
    )
    await admin('PUT /users/{userId}/server-access', { userId: 2, body: { access_type: 'all' } })
  })
})

describe('spec conventions: what every endpoint does alike', { retry: 0 }, () => {
  test('unknown fields and parameters are 400 and named', async () => {
    const wrong: string[] = []
    for (const row of endpoints) {
      // The agent's endpoints and the providers' callbacks ignore what they do not know; a session is wanted later on.
      if (row.needs === 'agent' || /callback$|^POST \/a(gent\/(enroll|challenge)|uth\/logout)/.test(row.endpoint))
        continue
      const reply = await place.admin(row.endpoint, { keyId: 99_999, ...harmless(row) })
      wrong.push(...refusalDeviations(reply, 400, 'nonsense').map(what => `${row.page} ${row.endpoint}: ${what}`))
    }
    expect(wrong).toEqual([])
  })

  test('a known path with another method is 405 with Allow', async () => {
    const known = endpoints.map(({ endpoint }) => endpoint.split(' ') as [string, string])
    // `/users/me` is also what `/users/{userId}` may be.
    const fits = (path: string, template: string) =>
      path === template || new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)
    const wrong: string[] = []
    for (const path of new Set(known.map(([, path]) => path))) {
      const allowed = new Set(known.filter(([, template]) => fits(path, template)).map(([method]) => method))
      const other = ['PUT', 'PATCH', 'POST', 'DELETE'].find(method => !allowed.has(method)) ?? 'PUT'
      const reply = await place.nobody(`${other} ${path}`, there)
      wrong.push(...refusalDeviations(reply, 405).map(what => `spec conventions: ${other} ${path}: ${what}`))
      const said = (reply.headers.get('allow') ?? '').split(', ').sort()
      if (String(said) !== String([...allowed].sort())) wrong.push(`spec conventions: ${path} allows ${String(said)}`)
    }
    expect(wrong).toEqual([])
  })

  test('an unknown path under /api is 404', async () => {
    for (const path of ['/nope', '/servers/x/y/z', '/auth/provider_c', '//api/nope', '//api/v2/servers', '//api/'])
      await refuses(place.nobody(`GET ${path}`), 404, 'spec conventions: an unknown path under /api')
  })

  test('bodies are JSON objects of at most 1 MiB, or 16 MiB where lists are sent', async () => {
    const { admin } = place
    const send = (plain: string, type = 'application/json') =>
      admin('POST /whitelist', { plain, headers: { 'content-type': type } })
    await refuses(send('{"ip":'), 400, 'spec errors: malformed JSON')
    await refuses(send('["192.0.2.9"]'), 400, 'spec errors: failed validation')
    await refuses(
      send('ip=192.0.2.9', 'application/x-www-form-urlencoded'),
      415,
      'spec errors: a body that is not JSON',
    )
    await refuses(send('{"ip":"192.0.2.9"}', 'text/plain'), 415, 'spec errors: a body that is not JSON')
    await refuses(send('', 'text/plain'), 400, 'spec errors: an empty body counts as {}, whatever the type', 'ip')
    const mebi = 2 ** 20
    const filled = (start: string, size: number) => start + 'x'.repeat(size - start.length - 2) + '"}'
    const sized = (size: number) => filled('{"ip":"192.0.2.9","description":"', size)
    await refuses(send(sized(mebi)), 400, 'spec conventions: 1 MiB is taken and read', 'description')
    await refuses(send(sized(mebi + 1)), 413, 'spec conventions: larger than 1 MiB')
    const imported = (size: number) =>
      admin('POST /whitelist/import', {
        plain: filled('{"content":"#', size),
        headers: { 'content-type': 'application/json' },
      })
    await says(
      imported(16 * mebi),
      200,
      { imported: 0, skipped: 0, errors: [text], error_count: 0, ids: [integer] },
      'spec conventions: 16 MiB',
    )
    await refuses(imported(16 * mebi + 1), 413, 'spec conventions: larger than 16 MiB')
  })

  test('one may sign in by cookie, and changes then need an Origin of ours', async () => {
    const body = { username: 'viewer', password: passwords.viewer }
    const set = (await place.nobody('POST /auth/login', { body })).headers.get('set-cookie') ?? ''
    expect.soft(set, 'spec access: HttpOnly; SameSite=Lax').toMatch(/HttpOnly.*SameSite=Lax|SameSite=Lax.*HttpOnly/i)
    expect.soft(set, 'spec access: Secure when the base URL is https').not.toMatch(/Secure/i)
    const cookie = set.split(';')[0] ?? ''
    const { url } = place.server
    const change = (headers: Record<string, string>) =>
      place.nobody('DELETE /users/{userId}/sessions', { userId: 3, headers: { cookie, ...headers } })
    await refuses(change({}), 403, 'spec access: a change by cookie must carry an Origin')
    await refuses(change({ origin: 'http://elsewhere.example' }), 403, 'spec access: an Origin of the base URL')
    const ended = { message: text, terminated_count: integer }
    await says(change({ origin: url }), 200, ended, "spec access: the request's own host")
    await says(change({ referer: `${url}/users` }), 200, ended, 'spec access: or Referer')
    same('spec access: reading needs none', (await place.nobody('GET /auth/me', { headers: { cookie } })).status, 200)
  })

  test('around the API', async () => {
    const { nobody } = place
    await says(nobody('GET /health'), 200, { status: 'ok', version: text })
    await says(nobody('GET /ready'), 200, { status: 'ok' })
    await says(nobody('GET /setup'), 200, { required: false })
    const first = { code: 'x', username: 'first', email: 'f@corp.example', password: passwords.admin }
    await refuses(nobody('POST /setup', { body: first }), 409, 'spec service: set up already')
    await says(
      nobody('GET /auth/options'),
      200,
      extended(
        {
          site_name: 'Stockade',
          providers: [{ id: text, label: text }],
          local_login_disabled: false,
          setup_required: false,
          server_time: time,
        },
        { 'spec endpoints': { base_url: text, timezone: text }, 'no page': { demo: false } },
      ),
    )
    for (const path of ['//api/docs', '//api/openapi.json', '//metrics', '//install.sh', '//agent/stockade-agent.mjs'])
      same(`spec agent and 12b: ${path} is served`, (await nobody(`GET ${path}`)).status, 200)
    const { paths } = (await nobody('GET //api/openapi.json')).json as { paths: Record<string, object> }
    const described = Object.entries(paths).flatMap(([path, of]) =>
      Object.keys(of).map(method => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
    )
    same(
      'spec endpoints: every endpoint is served and described',
      endpoints.map(({ endpoint }) => endpoint).filter(endpoint => !described.includes(endpoint)),
      [],
    )
  })
})

describe('these tests', { retry: 0 }, () => {
  const folder = new URL('.', import.meta.url)
  const sources = readdirSync(folder).map(file => readFileSync(new URL(file, folder), 'utf8'))

  test('claim something of the reply of every endpoint', () => {
    const claims = sources.join('\n')
    const claimed = (endpoint: string) =>
      claims
        .split(`'${endpoint}'`)
        .some((_, at, parts) => at > 0 && /says\w*\(\s*[\w.]+(\([\w.]+\))?\(\s*$/.test(parts[at - 1] ?? ''))
    expect(endpoints.map(({ endpoint }) => endpoint).filter(endpoint => !claimed(endpoint))).toEqual([])
  })

  test('know nothing of the contract package or of our shapes', () => {
    const known = ['vitest', 'ws', '../../src/testing/index.ts', '../../src/testing/authenticator.ts']
    const imported = sources.flatMap(source =>
      [...source.matchAll(/^(?:import|\}).* from '([^']+)'$/gm)].map(found => found[1] ?? ''),
    )
    expect(imported.length).toBeGreaterThan(20)
    expect(imported.filter(from => !/^(node:|\.\/[\w-]+\.ts$)/.test(from) && !known.includes(from))).toEqual([])
  })
})
