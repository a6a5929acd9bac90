import { describe, expect, test } from 'vitest'
import { raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let operator: Signed
let limited: Signed
let web: EnrolledHost
let db: EnrolledHost

withTwoHosts({}, async scene => {
  ;({ server, admin, web, db } = scene)
  operator = await aUser(server, admin.client, 'operator', 'Operator')
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
})

const tagsOf = async (host: EnrolledHost, who = admin) =>
  (await who.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).tags
const setTags = (host: EnrolledHost, tags: string[]) =>
  admin.client.call('PATCH /servers/{serverId}', { params: { serverId: host.id }, body: { tags } })
const change = (body: object, who = operator) => raw(server, 'POST', '/api/v1/servers/tags', { token: who.token, body })
const found = async (query: object, who = admin) =>
  (await who.client.call('GET /servers', { query })).servers.map(({ hostname }) => hostname)

describe('tags of a server', () => {
  test('are sorted, without duplicates, and found by filter and search', async () => {
    expect(await tagsOf(web)).toEqual([])
    expect((await setTags(web, ['web', 'eu', 'web'])).tags).toEqual(['eu', 'web'])
    await setTags(db, ['db', 'eu'])
    expect(await tagsOf(web)).toEqual(['eu', 'web'])
    expect(await found({ tag: 'eu' })).toEqual(['db-01', 'web-01'])
    expect(await found({ tag: 'web' })).toEqual(['web-01'])
    expect(await found({ q: 'tag:web' })).toEqual(['web-01'])
    expect(await found({ q: '-tag:web' })).toEqual(['db-01'])
    expect(await found({ q: 'tag:e*' })).toEqual(['db-01', 'web-01'])
    expect(await found({ tag: 'constructor' })).toEqual([])
    const { servers } = await admin.client.call('GET /servers')
    expect(servers.map(({ tags }) => tags)).toEqual([
      ['db', 'eu'],
      ['eu', 'web'],
    ])
  })

  test('find bans and commands of the servers that have them', async () => {
    for (const [host, ip] of [
      [web, '198.51.100.61'],
      [db, '198.51.100.62'],
    ] as const) {
      await host.client.call('POST /bans', { body: { ip, jail: 'sshd' } })
      await admin.client.call('POST /servers/{serverId}/commands', {
        params: { serverId: host.id },
        body: { type: 'reload-all' },
      })
    }
    const bansOf = async (q: string, who = admin) =>
      (await who.client.call('GET /bans', { query: { q } })).bans.map(({ ip }) => ip)
    const commandsOf = async (q: string) =>
      (await admin.client.call('GET /commands', { query: { q } })).commands.map(found => found.server.hostname)
    expect(await bansOf('tag:web')).toEqual(['198.51.100.61'])
    expect(await bansOf('-tag:web')).toEqual(['198.51.100.62'])
    expect((await admin.client.call('GET /bans', { query: { q: 'tag:web' } })).total).toBe(1)
    expect(await bansOf('tag:e*')).toHaveLength(2)
    expect(await bansOf('tag:nobody')).toEqual([])
    expect(await bansOf('tag:db', limited)).toEqual([])
    expect(await commandsOf('tag:db type:reload-all')).toEqual(['db-01'])
    expect(await commandsOf('-tag:db type:reload-all')).toEqual(['web-01'])
  })

  test('come with the registration, and go with the server', async () => {
    const { id } = await admin.client.call('POST /servers', { body: { hostname: 'mail-01', tags: ['mail', 'eu'] } })
    expect(await found({ tag: 'mail' })).toEqual(['mail-01'])
    await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: id } })
    const { tags } = await admin.client.call('GET /servers/tags')
    expect(tags.map(({ tag }) => tag)).toEqual(['db', 'eu', 'web'])
  })

  test('are counted of what the caller sees', async () => {
    const counts = async (who: Signed) =>
      (await who.client.call('GET /servers/tags')).tags.map(({ tag, servers }) => [tag, servers])
    expect(await counts(admin)).toEqual([
      ['db', 1],
      ['eu', 2],
      ['web', 1],
    ])
    expect(await counts(limited)).toEqual([
      ['eu', 1],
      ['web', 1],
    ])
  })

  test.each([
    ['capital letters', 'Web'],
    ['a hyphen first, like a flag', '--all'],
    ['a space', 'web 1'],
    ['nothing', ''],
    ['33 characters', 'a'.repeat(33)],
    ['a quote', 'web"'],
  ])('are refused with %s', async (_, tag) => {
    expect((await change({ server_ids: [web.id], add: [tag] })).status).toBe(400)
    expect(
      (await raw(server, 'GET', `/api/v1/servers?tag=${encodeURIComponent(tag)}`, { token: admin.token })).status,
    ).toBe(400)
  })

  test('are at most 20', async () => {
    const twenty = Array.from({ length: 20 }, (_, index) => `tag-${String(index).padStart(2, '0')}`)
    expect((await setTags(db, twenty)).tags).toEqual(twenty)
    expect((await change({ server_ids: [db.id, web.id], add: ['one-more'] })).status).toBe(400)
    // All or nothing.
    expect(await tagsOf(web)).toEqual(['eu', 'web'])
    await setTags(db, ['db', 'eu'])
  })
})

describe('many servers at once', () => {
  test('get tags and lose them', async () => {
    const both = [web.id, db.id]
    expect((await change({ server_ids: both, add: ['prod', 'web'], remove: ['eu'] })).json).toMatchObject({
      changed: 2,
    })
    expect([await tagsOf(web), await tagsOf(db)]).toEqual([
      ['prod', 'web'],
      ['db', 'prod', 'web'],
    ])
    expect((await change({ server_ids: both, add: ['prod'] })).json).toMatchObject({ changed: 0 })
    expect((await change({ server_ids: both, add: ['prod'], remove: ['prod'] })).status).toBe(400)
    expect((await change({ server_ids: [] })).status).toBe(400)
  })

  test('only where the caller has access', async () => {
    expect((await change({ server_ids: [web.id, db.id], add: ['mine'] }, limited)).status).toBe(403)
    expect((await change({ server_ids: [web.id], add: ['mine'] }, limited)).status).toBe(200)
    expect(await tagsOf(web)).toContain('mine')
    expect(await tagsOf(db)).not.toContain('mine')
  })

  test('stand in the audit log', async () => {
    await change({ server_ids: [web.id], add: ['seen'], remove: ['mine'] })
    const { entries } = await admin.client.call('GET /settings/audit', { query: { limit: 1 } })
    expect(entries[0]).toMatchObject({
      action: 'server.tags',
      user: 'operator',
      details: { hostname: 'web-01', added: ['seen'], removed: ['mine'] },
    })
  })
})
