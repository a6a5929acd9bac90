import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { movableClock, raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let limited: Signed
let web: EnrolledHost
let db: EnrolledHost

const beat = (host: EnrolledHost, hostname: string) =>
  host.client.call('POST /servers/heartbeat', {
    body: {
      hostname,
      agent_id: host.agentId,
      capabilities: { shield: { supported: true, mode: null, owned: false, driver: null, reason: null } },
    },
  })
withTwoHosts({ clock }, async scene => {
  ;({ server, admin, web, db } = scene)
  await beat(web, 'web-01')
  await beat(db, 'db-01')
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
})
beforeEach(async () => {
  clock.forward(120)
  for (const { id } of (await admin.client.call('GET /fleet/bans', { query: { active: true } })).fleet_bans)
    await admin.client.call('DELETE /fleet/bans/{id}', { params: { id } })
  await tag(web, ['web'])
  await tag(db, [])
})

const tag = (host: EnrolledHost, tags: string[]) =>
  admin.client.call('PATCH /servers/{serverId}', { params: { serverId: host.id }, body: { tags } })
const add = (entry: string, tags: string[]) =>
  admin.client.call('POST /fleet/bans', { body: { entry, target: { tags }, duration: -1 } })
const read = (id: number) => admin.client.call('GET /fleet/bans/{id}', { params: { id } })
const fetched = (host: EnrolledHost, since?: number) =>
  host.client.call('GET /agent/shield/bans', { query: since === undefined ? {} : { since } })
const acknowledge = async (host: EnrolledHost) => {
  const { version, whitelist, shield } = await host.client.call('GET /agent/state')
  const { bans } = shield
  await host.client.call('POST /agent/state/ack', {
    body: {
      version,
      whitelist_version: whitelist.version,
      shield: { bans: { version: bans.version, held: bans.count, digest: bans.digest, refused: [] } },
    },
  })
}
const digestOf = (...lines: string[]) =>
  createHash('sha256')
    .update(lines.map(line => `${line}\n`).join(''))
    .digest('hex')

/** A host that applies differences, as agents do. */
const aFollower = (host: EnrolledHost) => {
  const held = new Map<number, string>()
  let version: number | undefined
  return {
    held,
    async follow() {
      const set = await fetched(host, version)
      if (set.full) held.clear()
      for (const { id, entry } of set.add) held.set(id, entry)
      for (const id of set.remove) held.delete(id)
      version = set.version
      expect(held.size).toBe(set.count)
      expect(digestOf(...[...held.values()].sort().map(entry => `${entry} -`))).toBe(set.digest)
      return { full: set.full, entries: [...held.values()].sort(), removed: set.remove.length }
    },
  }
}

describe('a fleet ban on a tag', () => {
  test('concerns the servers with the tag, and says so', async () => {
    const ban = await add('198.51.100.7', ['web', 'web'])
    expect(ban.target).toEqual({ tags: ['web'] })
    expect(ban.state).toEqual({ applied: 0, in_jail: 0, pending: 1, failed: 0, not_covered: 0 })
    expect((await fetched(web)).count).toBe(1)
    expect((await fetched(db)).count).toBe(0)
    const { servers } = await admin.client.call('GET /fleet/bans/{id}/servers', { params: { id: ban.id } })
    expect(servers.map(({ server: { hostname } }) => hostname)).toEqual(['web-01'])
    expect(
      (await admin.client.call('GET /bans/lookup/{ip}', { params: { ip: '198.51.100.7' } })).fleet_bans,
    ).toMatchObject([{ id: ban.id, servers: 1 }])
    const { entries } = await admin.client.call('GET /settings/audit', { query: { limit: 1 } })
    expect(entries[0]).toMatchObject({ action: 'fleet_ban.create', details: { target: ['tag:web'], servers: 1 } })
    // The same again changes it instead of doubling it.
    expect((await add('198.51.100.7', ['web'])).id).toBe(ban.id)
  })

  test('follows a server that gets the tag, and leaves one that loses it', async () => {
    const onWeb = aFollower(web)
    const onDb = aFollower(db)
    // Without a version before, hosts would get whole sets.
    await tag(db, ['web'])
    await add('198.51.100.6', ['web'])
    await tag(db, [])
    await onDb.follow()
    await admin.client.call('DELETE /fleet/bans/{id}', { params: { id: (await add('198.51.100.6', ['web'])).id } })
    const { id } = await add('198.51.100.8', ['web'])
    expect((await onWeb.follow()).entries).toEqual(['198.51.100.8'])
    expect((await onDb.follow()).entries).toEqual([])
    await acknowledge(web)
    await acknowledge(db)
    expect((await read(id)).state).toMatchObject({ applied: 1, pending: 0 })

    await tag(db, ['web', 'other'])
    // What the host confirmed before it had the tag proves nothing.
    expect((await read(id)).state).toMatchObject({ applied: 1, pending: 1 })
    expect(await onDb.follow()).toMatchObject({ full: false, entries: ['198.51.100.8'] })
    await acknowledge(db)
    expect((await read(id)).state).toMatchObject({ applied: 2, pending: 0 })

    await tag(web, [])
    // It may also be told to remove bans that ended before: removing what is gone changes nothing.
    expect(await onWeb.follow()).toMatchObject({ full: false, entries: [] })
    expect((await read(id)).state).toMatchObject({ applied: 1, pending: 0 })
    await tag(db, ['other'])
    expect(await onDb.follow()).toMatchObject({ full: false, entries: [] })
  })

  test('is told to nobody whom it does not concern', async () => {
    const onWeb = aFollower(web)
    await onWeb.follow()
    const before = await fetched(db)
    await add('198.51.100.9', ['web'])
    expect(await fetched(db, before.version)).toMatchObject({ version: before.version, add: [], remove: [] })
    await onWeb.follow()
    // A tag that no ban is for gives no new version.
    const { version } = await fetched(web)
    await tag(web, ['web', 'unused'])
    expect((await fetched(web)).version).toBe(version)
  })

  test('by two tags is one ban, and stays while the server has one of them', async () => {
    const follower = aFollower(web)
    await tag(web, ['eu', 'web'])
    const { id } = await add('198.51.100.10', ['eu', 'web'])
    expect((await follower.follow()).entries).toEqual(['198.51.100.10'])
    await tag(web, ['eu'])
    expect((await follower.follow()).entries).toEqual(['198.51.100.10'])
    await admin.client.call('PATCH /fleet/bans/{id}', { params: { id }, body: { target: { tags: ['web'] } } })
    expect((await follower.follow()).entries).toEqual([])
    await admin.client.call('PATCH /fleet/bans/{id}', { params: { id }, body: { target: { server_ids: [web.id] } } })
    expect((await follower.follow()).entries).toEqual(['198.51.100.10'])
  })

  test('ends for a host that was away while the tag came and went', async () => {
    const follower = aFollower(db)
    await follower.follow()
    await tag(db, ['web'])
    const { id } = await add('198.51.100.11', ['web'])
    await tag(db, [])
    expect((await follower.follow()).entries).toEqual([])
    await tag(db, ['web'])
    await admin.client.call('DELETE /fleet/bans/{id}', { params: { id } })
    expect((await follower.follow()).entries).toEqual([])
  })

  test('after a random day, each host holds what it should', async () => {
    const followers = [aFollower(web), aFollower(db)]
    const hosts = [web, db]
    const ids: number[] = []
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    const some = (list: string[]) => list.filter(() => random(2) === 1)
    for (let step = 0; step < 60; step++) {
      clock.forward(1)
      const host = hosts[random(2)] ?? web
      const kind = random(4)
      if (kind === 0) await tag(host, some(['a', 'b', 'web']))
      else if (kind === 1) ids.push((await add(`198.51.100.${100 + step}`, [...some(['a', 'b']), 'web'])).id)
      else if (kind === 2 && ids.length > 0)
        await admin.client.call('DELETE /fleet/bans/{id}', {
          params: { id: ids.splice(random(ids.length), 1)[0] ?? 0 },
        })
      else await followers[random(2)]?.follow()
    }
    for (const [index, follower] of followers.entries()) {
      const { entries } = await follower.follow()
      const whole = await fetched(hosts[index] ?? web)
      expect(entries).toEqual(whole.add.map(({ entry }) => entry).sort())
    }
  })
})

describe('who may ban on a tag', () => {
  const ask = (method: string, path: string, body?: object) =>
    raw(server, method, `/api/v1${path}`, { token: limited.token, ...(body ? { body } : {}) })

  test('nobody whose access is by servers', async () => {
    const refused = await ask('POST', '/fleet/bans', { entry: '198.51.100.20', target: { tags: ['web'] } })
    expect(refused.status).toBe(403)
    const { id } = await add('198.51.100.20', ['web'])
    expect((await ask('GET', `/fleet/bans/${id}`)).json).toMatchObject({ target: { tags: ['web'] } })
    expect((await ask('PATCH', `/fleet/bans/${id}`, { reason: 'mine' })).status).toBe(403)
    expect((await ask('DELETE', `/fleet/bans/${id}`)).status).toBe(403)
  })

  test('what concerns none of the own servers is hidden', async () => {
    const { id } = await add('198.51.100.21', ['db'])
    expect((await ask('GET', `/fleet/bans/${id}`)).status).toBe(404)
    // Of the tags, those that the caller sees.
    const both = await add('198.51.100.22', ['db', 'web'])
    expect((await ask('GET', `/fleet/bans/${both.id}`)).json).toMatchObject({ target: { tags: ['web'] } })
  })

  test.each([
    [{}],
    [{ all: true, tags: ['web'] }],
    [{ tags: [] }],
    [{ tags: ['web'], server_ids: [] }],
    [{ tags: ['--all'] }],
  ])('a target of %j is refused', async target => {
    const { status } = await raw(server, 'POST', '/api/v1/fleet/bans', {
      token: admin.token,
      body: { entry: '198.51.100.23', target },
    })
    expect(status).toBe(400)
  })
})
