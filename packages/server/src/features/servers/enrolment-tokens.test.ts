import { describe, expect, test } from 'vitest'
import { password, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let web: EnrolledHost

withTwoHosts({}, async scene => {
  ;({ server, admin, web } = scene)
})

const make = (body: object = {}, token = admin.token) =>
  raw(server, 'POST', '/api/v1/servers/enrolment-tokens', {
    token,
    body: { name: 'autumn racks', servers: 2, seconds: 3600, ...body },
  })
const made = async (body: object = {}) => {
  const reply = await make(body)
  expect(reply.status).toBe(201)
  return reply.json as { id: number; token: string; install_command: string }
}
const enrol = (token: string, changes: object = {}) =>
  raw(server, 'POST', '/api/v1/agent/enroll', {
    body: { token, hostname: 'rack', agent_id: crypto.randomUUID(), ...changes },
  })
const idOf = (reply: { json: unknown }) => (reply.json as { server_id: string }).server_id
const machine = (digit: string) => digit.repeat(32)
const read = (id: number) => admin.client.call('GET /servers/enrolment-tokens/{id}', { params: { id } })
const count = async () => (await admin.client.call('GET /servers')).total

describe('a token for many hosts', () => {
  test('makes a server with a key of its own for each, with its tags, and no more than it may', async () => {
    const { id, token, install_command } = await made({ tags: ['rack', 'eu', 'rack'] })
    expect(install_command).toContain(`--token ${token}`)
    const first = await enrol(token)
    const second = await enrol(token)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(await enrol(token)).toMatchObject({
      status: 409,
      json: { message: 'The enrolment token autumn racks has enrolled 2 servers, as many as it may.' },
    })
    const [one, other] = await Promise.all(
      [first, second].map(reply => admin.client.call('GET /servers/{serverId}', { params: { serverId: idOf(reply) } })),
    )
    expect(one).toMatchObject({ hostname: 'rack', tags: ['eu', 'rack'], status: 'pending' })
    expect(other?.hostname).toMatch(/^rack-[0-9a-f]{8}$/)
    const { api_key } = first.json as { api_key: string }
    await server.client(api_key).call('POST /servers/heartbeat', { body: { hostname: 'rack' } })
    expect(await read(id)).toMatchObject({
      state: 'used_up',
      servers: 2,
      used: 2,
      created_by: 'admin',
      enrolled: [
        { server_id: idOf(second), ip: '127.0.0.1' },
        { server_id: idOf(first), hostname: 'rack' },
      ],
    })
    expect(JSON.stringify(await admin.client.call('GET /servers/enrolment-tokens'))).not.toContain(token)
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'server.enroll' } })
    expect(entries[0]).toMatchObject({ details: { token: 'autumn racks' } })
  })

  test('of twenty hosts at the same moment as many get in as it may enrol', async () => {
    const { id, token } = await made({ servers: 5 })
    const before = await count()
    const replies = await Promise.all(Array.from({ length: 20 }, () => enrol(token)))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 409]))
    expect(await count()).toBe(before + 5)
    expect((await read(id)).used).toBe(5)
  })

  test('gives a host whose answer was lost the same server, until its agent was heard', async () => {
    const { id, token } = await made({ servers: 1 })
    const lost = await enrol(token, { machine: machine('a') })
    const again = await enrol(token, { machine: machine('a') })
    expect(again.status).toBe(201)
    expect(idOf(again)).toBe(idOf(lost))
    expect((await read(id)).used).toBe(1)
    expect((await enrol(token, { machine: machine('b') })).status).toBe(409)
    const { api_key } = again.json as { api_key: string }
    await server.client(api_key).call('POST /servers/heartbeat', { body: { hostname: 'rack' } })
    // From now on the server is that machine's: who knows the token and the digest gets nothing of it.
    expect((await enrol(token, { machine: machine('a') })).status).toBe(409)
  })

  test('enrols nothing once it is revoked, and its servers stay', async () => {
    const { id, token } = await made()
    const host = await enrol(token, { machine: machine('c') })
    expect(await admin.client.call('DELETE /servers/enrolment-tokens/{id}', { params: { id } })).toMatchObject({
      state: 'revoked',
      used: 1,
    })
    for (const changes of [{}, { machine: machine('c') }])
      expect(await enrol(token, changes)).toMatchObject({
        status: 403,
        json: { message: expect.stringContaining('was revoked') },
      })
    expect((await admin.client.call('GET /servers/{serverId}', { params: { serverId: idOf(host) } })).id).toBe(
      idOf(host),
    )
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'server.enroll_refused' } })
    expect(entries[0]?.details).toMatchObject({ reason: expect.stringContaining('was revoked') })
  })

  test('is taken from its networks only', async () => {
    const { token } = await made({ networks: ['203.0.113.0/24', '2001:db8::1'] })
    expect(await enrol(token)).toMatchObject({
      status: 403,
      json: { message: 'The enrolment token autumn racks is not for hosts at 127.0.0.1.' },
    })
    const { token: near } = await made({ networks: ['127.0.0.0/8'] })
    expect((await enrol(near)).status).toBe(201)
  })

  test('is refused as unknown where it is none, and enrols nothing else', async () => {
    expect((await enrol('set_unknown')).status).toBe(401)
    const { token } = await made()
    for (const [method, path] of [
      ['GET', '/api/v1/servers'],
      ['GET', '/api/v1/agent/state'],
      ['POST', '/api/v1/servers/enrolment-tokens'],
    ] as const)
      expect((await raw(server, method, path, { token })).status).toBe(401)
  })

  test('gives hosts of one name that come at the same moment a name of their own each', async () => {
    const { token } = await made({ servers: 12 })
    const { token: other } = await made({ servers: 4 })
    // Copies of one machine with one id among them.
    const copy = crypto.randomUUID()
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => enrol(token, { hostname: 'Twin' })),
      ...Array.from({ length: 4 }, () => enrol(token, { hostname: 'twin', agent_id: copy })),
      ...Array.from({ length: 4 }, () => enrol(other, { hostname: 'twin' })),
    ])
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
    expect(new Set(replies.map(idOf)).size).toBe(12)
    const { servers } = await admin.client.call('GET /servers', { query: { q: 'twin', limit: 100 } })
    const names = servers.map(({ hostname }) => hostname.toLowerCase())
    expect(names).toHaveLength(12)
    expect(new Set(names).size).toBe(12)
    expect(names).toContain('twin')
  })

  test.each([
    [{ servers: 0 }],
    [{ servers: 10_001 }],
    [{ seconds: 59 }],
    [{ networks: [] }],
    [{ networks: ['nonsense'] }],
    [{ tags: ['No Tag'] }],
    [{ name: '' }],
  ])('%j is refused', async body => {
    expect((await make(body)).status).toBe(400)
  })

  test('is made by administrators of all servers only', async () => {
    const operator = await aUser(server, admin.client, 'operator', 'Operator')
    expect((await make({}, operator.token)).status).toBe(403)
    const { key } = await admin.client.call('POST /keys', {
      body: { name: 'limited', permissions: 'admin', server_id: web.id },
    })
    expect((await make({ tags: ['web'] }, key)).status).toBe(403)
  })
})

test('those that are over make room, and open ones do not', async () => {
  const own = await startServer()
  try {
    const { client } = await own.setUp()
    const add = (name: string) =>
      client.call('POST /servers/enrolment-tokens', { body: { name, servers: 1, seconds: 60 } })
    const first = await add('first')
    await client.call('DELETE /servers/enrolment-tokens/{id}', { params: { id: first.id } })
    for (let n = 0; n < 100; n++) await add(`open ${n}`)
    const { tokens } = await client.call('GET /servers/enrolment-tokens')
    expect(tokens).toHaveLength(100)
    expect(tokens.map(({ name }) => name)).not.toContain('first')
    await expect(add('one too many')).rejects.toMatchObject({ status: 409 })
  } finally {
    await own.close()
  }
})

test('the licence bounds it, and the refusal counts nothing', async () => {
  const own = await startServer({ licence: null })
  try {
    const { client } = await own.setUp()
    const { id, token } = await client.call('POST /servers/enrolment-tokens', {
      body: { name: 'many', servers: 50, seconds: 60 },
    })
    const replies = []
    for (let n = 0; n < 4; n++)
      replies.push(
        await raw(own, 'POST', '/api/v1/agent/enroll', {
          body: { token, hostname: `h${n}`, agent_id: crypto.randomUUID() },
        }),
      )
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 402])
    expect(await client.call('GET /servers/enrolment-tokens/{id}', { params: { id } })).toMatchObject({ used: 3 })
  } finally {
    await own.close()
  }
})

describe('what a token may give', () => {
  /** An administrator of its own, and a token that it made, by its session or by a key of its. */
  const aMaker = async (name: string, byKey = false) => {
    const { id } = await admin.client.call('POST /users', {
      body: { username: name, email: `${name}@stockade.example`, password, role: 'Admin' },
    })
    const reply = await server.client().call('POST /auth/login', { body: { username: name, password } })
    if (!('access_token' in reply)) throw new Error('no token')
    const client = server.client(reply.access_token)
    const { id: keyId, key } = await client.call('POST /keys', { body: { name: `${name} key`, permissions: 'admin' } })
    const token = await server.client(byKey ? key : reply.access_token).call('POST /servers/enrolment-tokens', {
      body: { name: `of ${name}`, servers: 10, seconds: 3600 },
    })
    expect((await enrol(token.token)).status).toBe(201)
    return { id, keyId, client, token }
  }
  const stateOf = async (id: number) => (await read(id)).state

  test('ends with the maker: demoted, and back again', async () => {
    const { id, token } = await aMaker('demoted')
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { role: 'Operator' } })
    expect(await enrol(token.token)).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('demoted may not add servers any more') },
    })
    expect(await stateOf(token.id)).toBe('suspended')
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { role: 'Admin' } })
    expect((await enrol(token.token)).status).toBe(201)
    expect(await stateOf(token.id)).toBe('open')
  })
  test('ends with the maker: restricted to servers with a tag', async () => {
    const { id, token } = await aMaker('restricted')
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { role: 'Operator' } })
    await admin.client.call('PUT /users/{userId}/server-access', {
      params: { userId: id },
      body: { access_type: 'specific', server_ids: [], tags: ['web'] },
    })
    expect((await enrol(token.token)).status).toBe(403)
  })
  test('ends with the maker: deleted, also where a new account has the name', async () => {
    const { id, token } = await aMaker('deleted')
    await admin.client.call('DELETE /users/{userId}', { params: { userId: id } })
    await admin.client.call('POST /users', {
      body: { username: 'deleted', email: 'deleted2@stockade.example', password, role: 'Admin' },
    })
    expect((await enrol(token.token)).status).toBe(403)
    expect(await stateOf(token.id)).toBe('suspended')
  })
  test('ends with the maker: who must set up a second factor first', async () => {
    const { id, token } = await aMaker('unproved')
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { mfa_required: true } })
    expect((await enrol(token.token)).status).toBe(403)
  })
  test('ends with the key that made it, and with the key of a demoted owner', async () => {
    const { keyId, client, token } = await aMaker('key_owner', true)
    await client.call('DELETE /keys/{keyId}', { params: { keyId } })
    expect((await enrol(token.token)).status).toBe(403)
    const owner = await aMaker('demoted_owner', true)
    await admin.client.call('PATCH /users/{userId}', { params: { userId: owner.id }, body: { role: 'Viewer' } })
    expect((await enrol(owner.token.token)).status).toBe(403)
    expect(await stateOf(owner.token.id)).toBe('suspended')
  })
  test('of a suspended token no lost answer is given again', async () => {
    const { id, token } = await aMaker('lost_answer')
    expect((await enrol(token.token, { machine: machine('e') })).status).toBe(201)
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { role: 'Viewer' } })
    expect((await enrol(token.token, { machine: machine('e') })).status).toBe(403)
  })
})

describe('what is told of a token', () => {
  const warningsOf = async (name: string) => {
    const { entries } = await admin.client.call('GET /settings/audit', {
      query: { action: 'server.enrolment_token_warn', limit: 100 },
    })
    return entries.map(({ details }) => details).filter(details => details.name === name)
  }

  test('that it is used up', async () => {
    const { token } = await made({ name: 'small', servers: 1 })
    await enrol(token)
    expect(await warningsOf('small')).toMatchObject([{ reason: 'used_up', servers: 1 }])
  })
  test('that it came from outside of its networks: the first time and each tenfold', async () => {
    const { id, token } = await made({ name: 'near', networks: ['203.0.113.0/24'] })
    for (let n = 0; n < 9; n++) expect((await enrol(token)).status).toBe(403)
    expect(await warningsOf('near')).toMatchObject([{ reason: 'network', ip: '127.0.0.1' }])
    expect((await enrol(token)).status).toBe(403)
    expect(await warningsOf('near')).toHaveLength(2)
    expect(await read(id)).toMatchObject({ refused: 10, refused_from: '127.0.0.1', refused_at: expect.any(String) })
  })
  test('that it was refused many times', async () => {
    const { id, token } = await made({ name: 'old' })
    await admin.client.call('DELETE /servers/enrolment-tokens/{id}', { params: { id } })
    for (let n = 0; n < 9; n++) expect((await enrol(token)).status).toBe(403)
    expect(await warningsOf('old')).toEqual([])
    expect((await enrol(token)).status).toBe(403)
    expect(await warningsOf('old')).toMatchObject([{ reason: 'refused', refused: 10 }])
  })
  test('by an alert, and nothing of a token that is none', async () => {
    expect((await enrol('set_unknown')).status).toBe(401)
    await expect
      .poll(async () => (await admin.client.call('GET /alerts')).alerts.map(({ title }) => title))
      .toContain('The enrolment token old was refused 10 times')
    const { alerts } = await admin.client.call('GET /alerts')
    expect(alerts.filter(({ kind }) => kind === 'enrolment-token').map(({ title }) => title)).toContain(
      'The enrolment token near was used from outside of its networks',
    )
  })
})
