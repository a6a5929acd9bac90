import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { aHost, aServerKey, eventually, movableClock, password, raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let operator: Signed
let limited: Signed
let viewer: Signed
let web: EnrolledHost
let db: EnrolledHost
let old: EnrolledHost

const beat = (host: EnrolledHost, hostname: string, supported: boolean) =>
  host.client.call('POST /servers/heartbeat', {
    body: {
      hostname,
      agent_id: host.agentId,
      capabilities: { shield: { supported, mode: null, owned: false, driver: null, reason: null } },
    },
  })

withTwoHosts({ clock, env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' } }, async scene => {
  ;({ server, admin, web, db } = scene)
  old = await aHost(server, admin.client, 'old-01')
  operator = await aUser(server, admin.client, 'operator', 'Operator')
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
  viewer = await aUser(server, admin.client, 'viewer', 'Viewer', [web.id])
  await beat(web, 'web-01', true)
  await beat(db, 'db-01', true)
  await beat(old, 'old-01', false)
})
beforeEach(async () => {
  clock.forward(120)
  for (const { id } of (await admin.client.call('GET /fleet/bans', { query: { active: true } })).fleet_bans)
    await admin.client.call('DELETE /fleet/bans/{id}', { params: { id } })
})

type Target = { all: true } | { server_ids: string[] }
const add = (entry: string, target: Target = { all: true }, more: object = {}, who = operator) =>
  who.client.call('POST /fleet/bans', { body: { entry, target, ...more } })
const read = (id: number, who = operator) => who.client.call('GET /fleet/bans/{id}', { params: { id } })
const remove = (id: number, who = operator) => who.client.call('DELETE /fleet/bans/{id}', { params: { id } })
const fetched = (host: EnrolledHost, since?: number) =>
  host.client.call('GET /agent/shield/bans', { query: since === undefined ? {} : { since } })
const shieldOf = async (host: EnrolledHost) => (await host.client.call('GET /agent/state')).shield.bans
const ask = (who: Signed, method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1${path}`, { token: who.token, ...(body ? { body } : {}) })

/** What a host tells that holds everything it was given. */
const acknowledge = async (
  host: EnrolledHost,
  more: { refused?: { id: number; reason: string }[]; digest?: string } = {},
) => {
  const state = await host.client.call('GET /agent/state')
  const { refused = [], digest = state.shield.bans.digest } = more
  await host.client.call('POST /agent/state/ack', {
    body: {
      version: state.version,
      whitelist_version: state.whitelist.version,
      shield: { bans: { version: state.shield.bans.version, held: state.shield.bans.count, digest, refused } },
    },
  })
}
const digestOf = (lines: string[]) =>
  createHash('sha256')
    .update(lines.map(line => `${line}\n`).join(''))
    .digest('hex')

describe('a fleet ban', () => {
  test('is one object, and says which servers hold it', async () => {
    const made = await add('198.51.100.7', { all: true }, { reason: 'scanner', duration: 3600 })
    expect(made).toMatchObject({
      entry: '198.51.100.7',
      reason: 'scanner',
      target: { all: true },
      source: 'manual',
      active: true,
      ended_at: null,
      created_by: 'operator',
      state: { applied: 0, in_jail: 0, pending: 2, failed: 0, not_covered: 1 },
    })
    expect(Date.parse(made.expires_at ?? '') - clock()).toBeLessThanOrEqual(3_600_000)
    await acknowledge(web)
    expect((await read(made.id)).state).toEqual({ applied: 1, in_jail: 0, pending: 1, failed: 0, not_covered: 1 })
    const of = async () => {
      const { servers } = await operator.client.call('GET /fleet/bans/{id}/servers', {
        params: { id: made.id },
        query: {},
      })
      return servers.map(({ server: { hostname }, state }) => [hostname, state])
    }
    expect(await of()).toEqual([
      ['db-01', 'pending'],
      ['old-01', 'not_covered'],
      ['web-01', 'held'],
    ])
    await acknowledge(db)
    expect((await read(made.id)).state).toEqual({ applied: 2, in_jail: 0, pending: 0, failed: 0, not_covered: 1 })
    expect((await remove(made.id)).message).toBe('198.51.100.7 is being unbanned.')
    expect((await remove(made.id)).message).toBe('The fleet ban of 198.51.100.7 has ended already.')
    expect(await read(made.id)).toMatchObject({ active: false, ended_by: 'removed', state: { applied: 0, pending: 0 } })
    expect((await fetched(web)).add).toEqual([])
    await acknowledge(web)
    expect(await of()).toEqual([['db-01', 'pending']])
  })

  test('is changed and not doubled when it is made again', async () => {
    const first = await add('198.51.100.8', { all: true }, { reason: 'one', duration: 60 })
    const again = await add('198.51.100.8', { all: true }, { duration: -1 })
    expect(again).toMatchObject({ id: first.id, reason: 'one', expires_at: null })
    const elsewhere = await add('198.51.100.8', { server_ids: [db.id] })
    expect(elsewhere.id).not.toBe(first.id)
  })

  test('twenty made at once are one', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => add('198.51.100.9')))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  })

  test('makes no ban of a server, and is a line of the look-up', async () => {
    await add('198.51.100.0/24', { all: true }, { reason: 'botnet' })
    const found = await operator.client.call('GET /bans/lookup/{ip}', { params: { ip: '198.51.100.77' }, query: {} })
    expect(found.fleet_bans).toMatchObject([{ entry: '198.51.100.0/24', reason: 'botnet', servers: 3 }])
    expect(found.total_bans).toBe(0)
    expect((await operator.client.call('GET /bans', { query: {} })).total).toBe(0)
  })

  test('is in the audit log', async () => {
    const { id } = await add('198.51.100.10', { server_ids: [web.id] }, { reason: 'why' })
    await operator.client.call('PATCH /fleet/bans/{id}', { params: { id }, body: { reason: 'because' } })
    await remove(id)
    const { entries } = await admin.client.call('GET /settings/audit', { query: { q: 'action:fleet_ban.' } })
    expect(entries.slice(0, 3).map(({ action }) => action)).toEqual([
      'fleet_ban.delete',
      'fleet_ban.update',
      'fleet_ban.create',
    ])
    expect(entries[2]?.details).toMatchObject({ entry: '198.51.100.10', target: ['web-01'], servers: 1, reason: 'why' })
  })
})

describe('what a host gets', () => {
  test('is what concerns it, as a difference or as a whole', async () => {
    const everywhere = await add('203.0.113.1', { all: true }, { duration: -1 })
    const there = await add('203.0.113.2', { server_ids: [db.id] }, { duration: -1 })
    const before = await shieldOf(web)
    const whole = await fetched(web)
    expect(whole).toMatchObject({ full: true, version: before.version, count: 1, remove: [] })
    expect(whole.add).toEqual([{ id: everywhere.id, entry: '203.0.113.1', expires_at: null, force: false }])
    expect(whole.digest).toBe(digestOf(['203.0.113.1 -']))
    expect((await fetched(db)).digest).toBe(digestOf(['203.0.113.1 -', '203.0.113.2 -']))
    // A change for another server does not concern it.
    await operator.client.call('PATCH /fleet/bans/{id}', { params: { id: there.id }, body: { duration: 600 } })
    expect((await shieldOf(web)).version).toBe(before.version)
    const moved = await operator.client.call('PATCH /fleet/bans/{id}', {
      params: { id: there.id },
      body: { target: { server_ids: [web.id] } },
    })
    const [difference, elsewhere] = [await fetched(web, before.version), await fetched(db, before.version)]
    expect(difference).toMatchObject({ full: false, count: 2, remove: [] })
    expect(difference.add.map(({ id }) => id)).toEqual([moved.id])
    expect(elsewhere).toMatchObject({ full: false, count: 1, add: [], remove: [moved.id] })
  })

  test('of two bans of an entry the later end counts', async () => {
    const short = await add('203.0.113.5', { all: true }, { duration: 600 })
    const long = await add('203.0.113.5', { server_ids: [web.id] }, { duration: 7200 })
    const set = await fetched(web)
    expect(set).toMatchObject({ count: 2 })
    expect(set.digest).toBe(digestOf([`203.0.113.5 ${Date.parse(long.expires_at ?? '')}`]))
    await remove(long.id)
    expect((await fetched(web)).digest).toBe(digestOf([`203.0.113.5 ${Date.parse(short.expires_at ?? '')}`]))
  })

  test('is known by its version: 304, and all of it for a version that was never given', async () => {
    await add('203.0.113.6')
    const { version } = await fetched(web)
    const headers = { 'if-none-match': `"${version}"` }
    const same = await raw(server, 'GET', `/api/v1/agent/shield/bans?since=${version}`, { token: web.key, headers })
    expect(same.status).toBe(304)
    for (const since of [0, version + 1, Number.MAX_SAFE_INTEGER])
      expect(await fetched(web, since)).toMatchObject({ full: true, count: 1 })
  })

  test('follows with the state of the poll, also for a server that comes later', async () => {
    const polled = async (state: string) =>
      (
        await web.client.call('GET /servers/{serverId}/commands/pending', {
          params: { serverId: web.id },
          query: { wait: 20, state },
        })
      ).desired_state.version
    const { version } = await web.client.call('GET /agent/state')
    const waiting = polled(version)
    await add('203.0.113.7')
    expect(await waiting).not.toBe(version)
    const late = await aHost(server, admin.client, 'late-01')
    expect((await fetched(late)).add.map(({ entry }) => entry)).toEqual(['203.0.113.7'])
    expect((await operator.client.call('GET /fleet/bans', { query: { server_id: late.id, active: true } })).total).toBe(
      1,
    )
    await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: late.id } })
  })

  test('loses what expired without a new version', async () => {
    const { id } = await add('203.0.113.8', { all: true }, { duration: 60 })
    const { version } = await shieldOf(web)
    clock.forward(61)
    await eventually(async () =>
      expect(await read(id)).toMatchObject({ active: false, ended_by: 'expired', state: { pending: 0 } }),
    )
    expect((await shieldOf(web)).version).toBe(version)
    await acknowledge(web)
    await add('203.0.113.9')
    expect((await fetched(web)).add.map(({ entry }) => entry)).toEqual(['203.0.113.9'])
  })
})

describe('what hosts say', () => {
  test('is believed when it is proved by the digest', async () => {
    const one = await add('198.18.0.1')
    await acknowledge(web, { digest: digestOf([]) })
    const stateOf = async (id: number) => {
      const { servers } = await operator.client.call('GET /fleet/bans/{id}/servers', { params: { id }, query: {} })
      return servers.find(({ server: { hostname } }) => hostname === 'web-01')
    }
    expect(await stateOf(one.id)).toMatchObject({
      state: 'pending',
      reason: 'The server does not hold what it was given.',
    })
    const two = await add('198.18.0.2')
    const rest = digestOf([`198.18.0.1 ${Date.parse(one.expires_at ?? '')}`])
    await acknowledge(web, { refused: [{ id: two.id, reason: 'it is a gateway' }], digest: rest })
    expect(await stateOf(one.id)).toMatchObject({ state: 'held', reason: null })
    expect(await stateOf(two.id)).toMatchObject({ state: 'refused', reason: 'it is a gateway' })
    expect((await read(two.id)).state).toEqual({ applied: 0, in_jail: 0, pending: 1, failed: 1, not_covered: 1 })
    const failed = await operator.client.call('GET /fleet/bans', { query: { state: 'refused' } })
    expect(failed.fleet_bans.map(({ id }) => id)).toEqual([two.id])
  })

  test('of versions that it was never given, or of nonsense, proves nothing', async () => {
    const { id } = await add('198.18.0.3')
    const { version, shield } = await web.client.call('GET /agent/state')
    const say = (bans: object) =>
      ask({ token: web.key, client: web.client }, 'POST', '/agent/state/ack', { version, shield: { bans } })
    const fine = { version: shield.bans.version, held: 1, digest: shield.bans.digest, refused: [] }
    expect((await say({ ...fine, version: fine.version + 5 })).status).toBe(200)
    expect((await read(id)).state).toMatchObject({ applied: 0, pending: 2 })
    expect((await say({ ...fine, version: 1 })).status).toBe(200)
    expect((await read(id)).state).toMatchObject({ applied: 0, pending: 2 })
    for (const bad of [{ version: -1 }, { version: 'x' }, { held: -1 }, { digest: 'x'.repeat(65) }, { refused: [{}] }])
      expect((await say({ ...fine, ...bad })).status).toBe(400)
    expect((await say(fine)).status).toBe(200)
    expect((await read(id)).state).toMatchObject({ applied: 1, pending: 1 })
  })

  test('names why it can hold none', async () => {
    const { id } = await add('198.18.0.4')
    const { version, shield } = await old.client.call('GET /agent/state')
    const bans = { version: shield.bans.version, held: 0, digest: '', refused: [], not_covered: 'no nftables here' }
    await old.client.call('POST /agent/state/ack', { body: { version, shield: { bans } } })
    const { servers } = await operator.client.call('GET /fleet/bans/{id}/servers', {
      params: { id },
      query: { state: 'not_covered' },
    })
    expect(servers).toMatchObject([{ server: { hostname: 'old-01' }, reason: 'no nftables here' }])
    // Where fail2ban holds them instead, the host says why.
    const inJail = { ...bans, held: 1, digest: shield.bans.digest, not_covered: null, fallback: 'nft is not installed' }
    await old.client.call('POST /agent/state/ack', { body: { version, shield: { bans: inJail } } })
    expect((await read(id)).state).toMatchObject({ applied: 1, in_jail: 1, not_covered: 0 })
    const held = await operator.client.call('GET /fleet/bans/{id}/servers', {
      params: { id },
      query: { state: 'held' },
    })
    expect(held.servers).toMatchObject([{ server: { hostname: 'old-01' }, reason: 'nft is not installed' }])
    await old.client.call('POST /agent/state/ack', { body: { version, shield: { bans } } })
    // An agent from before fleet bans says nothing of them.
    await db.client.call('POST /agent/state/ack', { body: { version } })
    expect((await read(id)).state).toMatchObject({ not_covered: 2 })
    await acknowledge(db)
    expect((await read(id)).state).toMatchObject({ applied: 1, not_covered: 1 })
  })
})

describe('refusals', () => {
  const refused = async (entry: string, more: object = {}) => {
    const { status, json } = await ask(operator, 'POST', '/fleet/bans', { entry, target: { all: true }, ...more })
    return [status, (json as { message?: string }).message]
  }
  test.each([
    ['0.0.0.0/0', 409, /never banned/],
    ['127.0.0.53', 409, /never banned/],
    ['fe80::1', 409, /never banned/],
    ['224.0.0.0/24', 409, /never banned/],
    ['198.50.0.0/15', 400, /wider than \/16/],
    ['2001:db8::/31', 400, /wider than \/32/],
    ['example', 400, /must be an IPv4/],
  ])('%s', async (entry, status, message) => {
    expect(await refused(entry, { force: true })).toEqual([status, expect.stringMatching(message)])
  })

  test('what is whitelisted, a managed server, or the own address without force', async () => {
    const { id } = await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.128/25' } })
    expect(await refused('203.0.113.200', { force: true })).toEqual([409, expect.stringContaining('whitelist entry')])
    expect(await refused('203.0.113.0/24', { force: true })).toEqual([409, expect.stringContaining('holds the whitel')])
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
    const from = { 'x-forwarded-for': '198.18.0.99' }
    const body = { entry: '198.18.0.99', target: { all: true } }
    const own = (more: object = {}) =>
      raw(server, 'POST', '/api/v1/fleet/bans', { token: operator.token, headers: from, body: { ...body, ...more } })
    const objection = '198.18.0.99 holds the address that you come from.'
    const first = await own()
    expect(first.status).toBe(409)
    expect(JSON.parse(first.text)).toEqual({
      error: 'Conflict',
      reason: 'force-required',
      message: `${objection} Send "force": true to ban it all the same.`,
      details: [{ path: 'entry', message: objection }],
    })
    expect((await own({ force: true })).status).toBe(201)
  })

  test('a target and an end that make no sense', async () => {
    for (const more of [
      { target: {} },
      { target: { all: true, server_ids: [web.id] } },
      { target: { server_ids: [] } },
      { target: { server_ids: ['01900000-0000-7000-8000-000000000000'] } },
      { expires_at: '2001-01-01T00:00:00Z' },
      { expires_at: null, duration: 60 },
      { duration: 0 },
      { tags: ['web'] },
    ])
      expect([more, (await refused('198.18.0.5', more))[0]]).toEqual([more, 400])
  })

  test('of a network that stands for IPv4, and of where others work', async () => {
    for (const entry of ['64:ff9b::/96', '64:ff9b:1::/48', '::/96', '::7f00:0/112'])
      expect((await refused(entry))[0], entry).not.toBe(201)
    expect((await refused('64:ff9b::5db8:0/112'))[0]).toBe(409)
    const work = { username: 'admin', password }
    const office = '198.18.7.7'
    await raw(server, 'POST', '/api/v1/auth/login', { body: work, headers: { 'x-forwarded-for': office } })
    clock.forward(31)
    expect((await refused('198.18.7.0/24'))[0]).toBe(409)
    expect((await add('198.18.7.0/24', { all: true }, { force: true })).entry).toBe('198.18.7.0/24')
  })

  test('many at once: what must not be banned is left out with its reason, the others are banned and lifted together', async () => {
    await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.9' } })
    const standing = await add('198.18.1.1', { all: true }, { reason: 'before' })
    const from = { 'x-forwarded-for': '198.18.1.3' }
    const body = {
      entries: ['198.18.1.1', '198.18.1.2', '198.18.1.2', '203.0.113.9', '198.18.1.3', '127.0.0.1', '2001:DB8::7'],
      target: { all: true },
      duration: 600,
    }
    const many = await raw(server, 'POST', '/api/v1/fleet/bans/bulk', { token: operator.token, headers: from, body })
    expect(many.status).toBe(201)
    const reply = JSON.parse(many.text) as { fleet_bans: { id: number; entry: string; is_new: boolean }[] }
    expect(reply).toEqual({
      fleet_bans: [
        { id: standing.id, entry: '198.18.1.1', is_new: false },
        { id: expect.any(Number), entry: '198.18.1.2', is_new: true },
        { id: expect.any(Number), entry: '2001:db8::7', is_new: true },
      ],
      refused: [
        { entry: '203.0.113.9', reason: 'conflict', message: expect.stringContaining('whitelist entry') },
        { entry: '198.18.1.3', reason: 'force-required', message: '198.18.1.3 holds the address that you come from.' },
        { entry: '127.0.0.1', reason: 'conflict', message: expect.stringContaining('never banned') },
      ],
    })
    expect(await read(standing.id)).toMatchObject({ reason: 'before', active: true })
    expect((await fetched(web)).add.map(({ entry }) => entry).sort()).toEqual([
      '198.18.1.1',
      '198.18.1.2',
      '2001:db8::7',
    ])
    const { entries } = await admin.client.call('GET /settings/audit', {
      query: { action: 'fleet_ban.create', limit: 2 },
    })
    expect(entries.map(({ user, details }) => [user, details.entry]).sort()).toEqual([
      ['operator', '198.18.1.2'],
      ['operator', '2001:db8::7'],
    ])

    const ids = reply.fleet_bans.map(({ id }) => id)
    const removeMany = (of: readonly number[], who = operator) =>
      ask(who, 'POST', '/fleet/bans/remove', { ids: [...of] })
    expect(await removeMany([...ids, 999_999_999])).toMatchObject({ status: 400 })
    expect(await removeMany(ids, limited)).toMatchObject({ status: 403 })
    expect((await fetched(web)).count).toBe(3)
    expect(JSON.parse((await removeMany([...ids, ...ids])).text)).toEqual({ removed: 3 })
    expect(JSON.parse((await removeMany(ids)).text)).toEqual({ removed: 0 })
    expect((await fetched(web)).count).toBe(0)
  })

  test('many at once are for who may ban there, and within their bounds', async () => {
    const entries = Array.from({ length: 1001 }, (_, index) => `198.18.${2 + (index >> 8)}.${index & 255}`)
    const bulk = (body: object, who = operator) => ask(who, 'POST', '/fleet/bans/bulk', body)
    expect(await bulk({ entries, target: { all: true } })).toMatchObject({ status: 400 })
    expect(await bulk({ entries: [], target: { all: true } })).toMatchObject({ status: 400 })
    expect(await bulk({ entries: entries.slice(1), target: { all: true } }, limited)).toMatchObject({ status: 403 })
    expect(await bulk({ entries: ['198.18.2.1'], target: { all: true } }, viewer)).toMatchObject({ status: 403 })
    const many = await bulk({ entries: entries.slice(1), target: { server_ids: [web.id] } }, limited)
    expect(many.status).toBe(201)
    expect([(await fetched(web)).count, (await fetched(db)).count]).toEqual([1000, 0])
    const ids = (JSON.parse(many.text) as { fleet_bans: { id: number }[] }).fleet_bans.map(({ id }) => id)
    const removal = await ask(limited, 'POST', '/fleet/bans/remove', { ids })
    expect(JSON.parse(removal.text)).toEqual({ removed: 1000 })
  })

  test('the list takes what is asked for only, and pages', async () => {
    for (const n of [1, 2, 3]) await add(`198.18.0.${n}`, { all: true }, { reason: n === 2 ? 'Spam' : '' })
    const list = (query: object) => operator.client.call('GET /fleet/bans', { query: { active: true, ...query } })
    expect((await list({ sort: 'entry', limit: 2, page: 2 })).fleet_bans.map(({ entry }) => entry)).toEqual([
      '198.18.0.3',
    ])
    expect((await list({ search: 'spam' })).total).toBe(1)
    expect((await list({ search: '198.18.0.3' })).total).toBe(1)
    expect((await list({ source: 'rule:1' })).total).toBe(0)
    expect((await list({ state: 'pending', limit: 1, sort: '-entry' })).total).toBe(3)
    expect((await ask(operator, 'GET', '/fleet/bans?sort=reason')).status).toBe(400)
  })
})

describe('attacks', () => {
  test('an operator of one server bans there only, and sees no other server', async () => {
    const all = await add('198.18.0.10')
    const there = await add('198.18.0.11', { server_ids: [db.id] })
    const both = await add('198.18.0.12', { server_ids: [db.id, web.id] })
    const body = { entry: '198.18.0.13', target: { all: true } }
    expect((await ask(limited, 'POST', '/fleet/bans', body)).status).toBe(403)
    expect((await ask(limited, 'POST', '/fleet/bans', { ...body, target: { server_ids: [db.id] } })).status).toBe(403)
    const own = await add('198.18.0.13', { server_ids: [web.id] }, {}, limited)
    expect(own.state).toMatchObject({ pending: 1 })
    const patch = (id: number, change: object) => ask(limited, 'PATCH', `/fleet/bans/${id}`, change)
    expect((await patch(own.id, { target: { all: true } })).status).toBe(403)
    expect((await patch(own.id, { target: { server_ids: [db.id] } })).status).toBe(403)
    for (const [{ id }, status] of [
      [all, 403],
      [both, 403],
      [there, 404],
    ] as const) {
      expect((await patch(id, { reason: 'mine' })).status).toBe(status)
      expect((await ask(limited, 'DELETE', `/fleet/bans/${id}`)).status).toBe(status)
    }
    expect(await read(both.id, limited)).toMatchObject({ target: { server_ids: [web.id] }, state: { pending: 1 } })
    const listed = await limited.client.call('GET /fleet/bans', { query: { active: true, sort: 'entry' } })
    expect(listed.fleet_bans.map(({ entry }) => entry)).toEqual(['198.18.0.10', '198.18.0.12', '198.18.0.13'])
    const found = await limited.client.call('GET /bans/lookup/{ip}', { params: { ip: '198.18.0.11' }, query: {} })
    expect(found.fleet_bans).toEqual([])
    expect((await ask(viewer, 'DELETE', `/fleet/bans/${own.id}`)).status).toBe(403)
    expect((await ask(viewer, 'POST', '/fleet/bans', { ...body, target: { server_ids: [web.id] } })).status).toBe(403)
    await remove(own.id, limited)
  })

  test('the key of a host reads its own set and bans nowhere else', async () => {
    await add('198.18.0.20', { server_ids: [db.id] })
    const thief: Signed = { token: web.key, client: web.client }
    expect((await fetched(web)).add).toEqual([])
    expect((await fetched(web, 1)).remove).toEqual([])
    for (const caller of [thief, await aServerKey(server, admin.client, web.id)]) {
      expect((await ask(caller, 'GET', '/fleet/bans?active=true')).status).toBe(403)
      for (const target of [{ server_ids: [web.id] }, { server_ids: [db.id] }, { all: true }])
        expect((await ask(caller, 'POST', '/fleet/bans', { entry: '198.18.0.21', target })).status).toBe(403)
    }
    expect((await ask(operator, 'GET', '/agent/shield/bans')).status).toBe(403)
    expect((await raw(server, 'GET', '/api/v1/agent/shield/bans')).status).toBe(401)
  })
})
