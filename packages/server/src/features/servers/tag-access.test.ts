import { beforeEach, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import type { LiveMessage } from '@stockade/contract'
import { eventually, raw, within } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let team: Signed
let teamId: number
let web: EnrolledHost
let db: EnrolledHost

const access = (userId: number, server_ids: string[], tags: string[]) =>
  admin.client.call('PUT /users/{userId}/server-access', {
    params: { userId },
    body: { access_type: 'specific', server_ids, tags },
  })
const ask = (token: string, method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1${path}`, { token, ...(body ? { body } : {}) })
const setTags = (host: EnrolledHost, tags: string[]) =>
  admin.client.call('PATCH /servers/{serverId}', { params: { serverId: host.id }, body: { tags } })
const seenBy = async (token: string) =>
  (await server.client(token).call('GET /servers')).servers.map(({ hostname }) => hostname)

withTwoHosts({}, async scene => {
  ;({ server, admin, web, db } = scene)
  const made = await aUser(server, admin.client, 'team', 'Operator')
  team = made
  teamId = made.id
})
beforeEach(async () => {
  await setTags(web, ['web'])
  await setTags(db, [])
  await access(teamId, [], ['web'])
})

describe('access by tag', () => {
  test('is that of the servers that have it now', async () => {
    expect(await access(teamId, [], ['web', 'web'])).toMatchObject({ access_type: 'specific', server_count: 1 })
    expect(await admin.client.call('GET /users/{userId}', { params: { userId: teamId } })).toMatchObject({
      server_access: 'specific',
      server_ids: [],
      tags: ['web'],
    })
    expect(await team.client.call('GET /auth/me')).toMatchObject({ tags: ['web'], server_count: 1 })
    expect(await seenBy(team.token)).toEqual(['web-01'])
    await setTags(db, ['web'])
    expect(await seenBy(team.token)).toEqual(['db-01', 'web-01'])
    await setTags(web, [])
    expect(await seenBy(team.token)).toEqual(['db-01'])
    expect((await ask(team.token, 'GET', `/servers/${web.id}`)).status).toBe(403)
  })

  test('goes together with access by server', async () => {
    await access(teamId, [db.id], ['web'])
    expect(await seenBy(team.token)).toEqual(['db-01', 'web-01'])
    await setTags(web, [])
    expect(await seenBy(team.token)).toEqual(['db-01'])
  })

  test('to a tag that no server has is access to no server', async () => {
    await access(teamId, [], ['nobody'])
    expect(await seenBy(team.token)).toEqual([])
    expect((await ask(team.token, 'GET', `/servers/${web.id}`)).status).toBe(403)
    expect((await team.client.call('GET /bans')).total).toBe(0)
    const { status } = await ask(team.token, 'POST', '/fleet/bans', { entry: '198.51.100.1', target: { all: true } })
    expect(status).toBe(403)
    expect((await ask(team.token, 'POST', '/whitelist', { ip: '198.51.100.1' })).status).toBe(403)
  })

  test('ends with the server, and with access to all', async () => {
    const gone = await admin.client.call('POST /servers', { body: { hostname: 'gone-01', tags: ['web'] } })
    expect(await seenBy(team.token)).toEqual(['gone-01', 'web-01'])
    await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: gone.id } })
    expect(await seenBy(team.token)).toEqual(['web-01'])
    await admin.client.call('PUT /users/{userId}/server-access', {
      params: { userId: teamId },
      body: { access_type: 'all', tags: ['web'] },
    })
    expect(await seenBy(team.token)).toEqual(['db-01', 'web-01'])
    expect(await admin.client.call('GET /users/{userId}', { params: { userId: teamId } })).toMatchObject({ tags: [] })
  })
})

describe('an operator whose access is by tag', () => {
  test('does not extend it by tagging', async () => {
    await access(teamId, [db.id], ['web'])
    const change = (body: object) => ask(team.token, 'POST', '/servers/tags', body)
    const refused = await change({ server_ids: [db.id], add: ['web'] })
    expect(refused).toMatchObject({ status: 403 })
    expect(JSON.stringify(refused.json)).toContain('Only an administrator')
    expect((await change({ server_ids: [web.id], remove: ['web'] })).status).toBe(403)
    expect((await change({ server_ids: [db.id], add: ['free'] })).status).toBe(200)
    // What an access tag has already, or has not, is no change.
    expect((await change({ server_ids: [web.id], add: ['web'] })).json).toMatchObject({ changed: 0 })
    const { tags } = await team.client.call('GET /servers/tags')
    expect(tags).toEqual([
      { tag: 'free', servers: 1, grants_access: false },
      { tag: 'web', servers: 1, grants_access: true },
    ])
  })

  test('bans on this tag, and on no other one', async () => {
    await setTags(db, ['web', 'db'])
    const ban = (target: object) => ask(team.token, 'POST', '/fleet/bans', { entry: '198.51.100.30', target })
    expect((await ban({ tags: ['db'] })).status).toBe(403)
    expect((await ban({ tags: ['web', 'db'] })).status).toBe(403)
    const made = await ban({ tags: ['web'] })
    expect(made).toMatchObject({ status: 201, json: { target: { tags: ['web'] }, state: { pending: 2 } } })
    const { id } = made.json as { id: number }
    expect((await ask(team.token, 'PATCH', `/fleet/bans/${id}`, { target: { tags: ['db'] } })).status).toBe(403)
    await access(teamId, [web.id], [])
    expect((await ask(team.token, 'DELETE', `/fleet/bans/${id}`)).status).toBe(403)
    await access(teamId, [], ['web'])
    // Its own ban stays in sight without a server.
    await setTags(db, [])
    await setTags(web, [])
    expect((await ask(team.token, 'GET', `/fleet/bans/${id}`)).status).toBe(200)
    expect((await ask(team.token, 'DELETE', `/fleet/bans/${id}`)).status).toBe(200)
  })
})

describe('a key by tag', () => {
  const makeKey = (body: object) => admin.client.call('POST /keys', { body: { name: 'tagged', ...body } })

  test('sees the servers of the tag, and nothing of the whole fleet', async () => {
    const made = await makeKey({ permissions: 'write', tags: ['web', 'web'] })
    expect(made.tags).toEqual(['web'])
    expect(await seenBy(made.key)).toEqual(['web-01'])
    await setTags(db, ['web'])
    expect(await seenBy(made.key)).toEqual(['db-01', 'web-01'])
    await setTags(db, [])
    await setTags(web, [])
    expect(await seenBy(made.key)).toEqual([])
    expect((await ask(made.key, 'GET', `/servers/${web.id}`)).status).toBe(403)
    expect((await ask(made.key, 'POST', '/whitelist', { ip: '198.51.100.1' })).status).toBe(403)
    expect((await ask(made.key, 'POST', '/servers/heartbeat', { hostname: 'web-01' })).status).toBe(403)
    expect((await ask(made.key, 'POST', '/fleet/bans', { entry: '198.51.100.1', target: { all: true } })).status).toBe(
      403,
    )
  })

  test('with a server too reaches both, and speaks as an agent for that server only', async () => {
    const made = await makeKey({ permissions: 'write', server_id: db.id, tags: ['web'] })
    expect(await seenBy(made.key)).toEqual(['db-01', 'web-01'])
    await ask(made.key, 'POST', '/bans', { ip: '198.51.100.40', jail: 'sshd' })
    const { bans } = await admin.client.call('GET /bans', { query: { ip: '198.51.100.40' } })
    expect(bans.map(({ server: { hostname } }) => hostname)).toEqual(['db-01'])
  })

  test('of an administrator for some servers does not change tags of access', async () => {
    const made = await makeKey({ permissions: 'admin', tags: ['web'] })
    const { status } = await ask(made.key, 'PATCH', `/servers/${web.id}`, { tags: ['web', 'more'] })
    expect(status).toBe(200)
    expect((await ask(made.key, 'PATCH', `/servers/${web.id}`, { tags: [] })).status).toBe(403)
    expect((await ask(made.key, 'POST', '/keys', { name: 'wider' })).status).toBe(403)
  })

  test('of a person never reaches further than the person', async () => {
    await setTags(db, ['db'])
    const { key } = await team.client.call('POST /users/{userId}/keys', {
      params: { userId: teamId },
      body: { name: 'mine', permissions: 'write', tags: ['db', 'web'] },
    })
    expect(await seenBy(key)).toEqual(['web-01'])
    const ban = await ask(key, 'POST', '/fleet/bans', { entry: '198.51.100.31', target: { tags: ['db'] } })
    expect(ban.status).toBe(403)
    // Anybody makes such keys: they must not keep others from changing tags.
    const operator = await aUser(server, admin.client, 'other', 'Operator')
    const { status } = await ask(operator.token, 'POST', '/servers/tags', { server_ids: [db.id], remove: ['db'] })
    expect(status).toBe(200)
    await access(teamId, [], [])
    expect(await seenBy(key)).toEqual([])
  })

  test.each([[[]], [['Web']], [['--all']], [Array.from({ length: 21 }, (_, index) => `t${index}`)]])(
    'is refused with the tags %j',
    async tags => {
      expect((await ask(admin.token, 'POST', '/keys', { name: 'bad', tags })).status).toBe(400)
    },
  )
})

test('an open socket follows the tags', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1', `bearer.${team.token}`])
  const heard: LiveMessage[] = []
  socket.on('message', data => heard.push(JSON.parse(String(data)) as LiveMessage))
  await within(new Promise(resolve => socket.on('open', resolve)), 'the live feed')
  const bannedOn = () => heard.flatMap(message => (message.type === 'ban' ? [message.data.server.hostname] : []))
  const ban = (host: EnrolledHost, ip: string) => host.client.call('POST /bans', { body: { ip, jail: 'sshd' } })
  await ban(db, '198.51.100.50')
  await ban(web, '198.51.100.51')
  await eventually(() => expect(bannedOn()).toEqual(['web-01']))
  await setTags(db, ['web'])
  await ban(db, '198.51.100.52')
  await eventually(() => expect(bannedOn()).toEqual(['web-01', 'db-01']))
  await setTags(web, [])
  await ban(web, '198.51.100.53')
  await ban(db, '198.51.100.54')
  await eventually(() => expect(bannedOn()).toHaveLength(3))
  expect(bannedOn()).toEqual(['web-01', 'db-01', 'db-01'])
  // What came into sight, and left it, is fetched again.
  expect(heard.filter(({ type }) => type === 'resync').length).toBeGreaterThanOrEqual(2)
  socket.close()
})
