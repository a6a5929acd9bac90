import { beforeEach, describe, expect, test } from 'vitest'
import { aServerKey, eventually, raw } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser, withTwoHosts } from '../../src/testing/scene.ts'

/* An operator of one server gives it a tag that something of the fleet trusts, or takes it away. */

let server: TestServer
let admin: Signed
let limited: Signed
/** An administrator's key of one server: it may change all that the server has. */
let ownKey: Signed
let web: EnrolledHost
let db: EnrolledHost

withTwoHosts({}, async scene => {
  ;({ server, web, db } = scene)
  const { key } = await scene.admin.client.call('POST /keys', { body: { name: 'tags', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
  const own = await scene.admin.client.call('POST /keys', {
    body: { name: 'own', permissions: 'admin', server_id: web.id },
  })
  ownKey = { token: own.key, client: server.client(own.key) }
  limited = await aUser(server, scene.admin.client, 'limited', 'Operator', [web.id])
})
beforeEach(async () => {
  await setTags(admin, web, [])
  await setTags(admin, db, [])
})

const ask = (who: { token: string }, method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1${path}`, { token: who.token, ...(body ? { body } : {}) })
const setTags = (who: { token: string }, host: EnrolledHost, tags: string[]) =>
  ask(who, 'PATCH', `/servers/${host.id}`, { tags })
const retag = (who: { token: string }, host: EnrolledHost, change: { add?: string[]; remove?: string[] }) =>
  ask(who, 'POST', '/servers/tags', { server_ids: [host.id], ...change })
const tagsOf = async (host: EnrolledHost) =>
  (await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).tags

const later = () => new Date(Date.now() + 3_600_000).toISOString()
const naming: readonly (readonly [what: string, path: string, body: (tag: string) => object])[] = [
  ['a sharing rule', '/rules', tag => ({ name: `from ${tag}`, from: { tags: [tag] } })],
  ['a sharing rule', '/rules', tag => ({ name: `to ${tag}`, target: { tags: [tag] } })],
  [
    'a blocklist',
    '/lists',
    tag => ({ name: `list ${tag}`, source: { kind: 'countries', countries: ['AQ'] }, target: { tags: [tag] } }),
  ],
  ['a fleet ban', '/fleet/bans', tag => ({ entry: '198.51.100.7', target: { tags: [tag] }, duration: 3600 })],
  [
    'an alert rule',
    '/alerts/rules',
    tag => ({ name: `alert ${tag}`, kind: 'bans-over', conditions: { threshold: 9 }, target: { tags: [tag] } }),
  ],
  ['a silence', '/alerts/silences', tag => ({ target: { tags: [tag] }, reason: 'work', ends_at: later() })],
  ['a feed', '/fleet/feeds', tag => ({ name: `feed ${tag}`, q: `jail:sshd -tag:${tag.slice(0, -1)}*` })],
]

describe('a tag that something names', () => {
  test.each(naming.map(([what, path, body], place) => ({ what, path, body, tag: `trusted-${place}-z` })))(
    '$what at $path',
    async ({ what, path, body, tag }) => {
      expect((await retag(limited, web, { add: [tag] })).status).toBe(200)
      expect((await retag(limited, web, { remove: [tag] })).status).toBe(200)
      const made = await ask(admin, 'POST', path, body(tag))
      expect(made.status, made.text).toBe(201)
      const refusal = {
        status: 403,
        json: { message: expect.stringContaining(`The tag ${tag} is named by ${what}.`) },
      }
      expect(await retag(limited, web, { add: ['fine', tag] })).toMatchObject(refusal)
      expect(await setTags(ownKey, web, [tag])).toMatchObject(refusal)
      expect(await tagsOf(web)).toEqual([])
      expect((await setTags(admin, web, [tag, 'fine'])).status).toBe(200)
      expect(await retag(limited, web, { remove: [tag] })).toMatchObject(refusal)
      expect(await setTags(ownKey, web, [])).toMatchObject(refusal)
      expect((await setTags(ownKey, web, [tag, 'other'])).status).toBe(200)
      expect(await tagsOf(web)).toEqual(['other', tag].sort())
    },
  )

  test('by a route', async () => {
    const { id } = await admin.client.call('POST /channels', {
      body: { name: 'out', preset: 'webhook', fields: [{ name: 'url', value: 'https://hooks.example/x' }] },
    })
    const route = { severities: [], rules: [], hours: null, channels: [id], target: { tags: ['paged'] } }
    expect((await ask(admin, 'PUT', '/alerts/routes', { routes: [route] })).status).toBe(200)
    expect(await retag(limited, web, { add: ['paged'] })).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('The tag paged is named by an alert route.') },
    })
  })
})

test('a stolen host is not made one that an armed rule believes', async () => {
  await setTags(admin, db, ['honeypot'])
  const rule = await admin.client.call('POST /rules', {
    body: { name: 'honeypots', from: { tags: ['honeypot'] }, min_servers: 1, target: { all: true } },
  })
  await admin.client.call('POST /rules/{id}/simulate', { params: { id: rule.id }, body: {} })
  await admin.client.call('POST /rules/{id}/arm', { params: { id: rule.id } })
  expect((await retag(limited, web, { add: ['honeypot'] })).status).toBe(403)
  // Keys of a server change no tags at all.
  const key = await aServerKey(server, admin.client, web.id)
  expect((await retag(key, web, { add: ['honeypot'] })).status).toBe(403)
  await web.client.call('POST /bans', { body: { ip: '45.33.1.1', jail: 'sshd' } })
  await db.client.call('POST /bans', { body: { ip: '45.33.1.2', jail: 'sshd' } })
  const entries = async () =>
    (await admin.client.call('GET /fleet/bans', { query: { active: true } })).fleet_bans.map(({ entry }) => entry)
  await eventually(async () => expect(await entries()).toContain('45.33.1.2'))
  expect(await entries()).not.toContain('45.33.1.1')
})
