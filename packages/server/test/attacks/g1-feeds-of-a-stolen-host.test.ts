import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { aHost, standingClock, password, raw } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser, withTwoHosts } from '../../src/testing/scene.ts'

/* A stolen host, and an operator of one server, write into what every firewall of the fleet reads. */

const clock = standingClock()
let server: TestServer
let admin: Signed
let thief: EnrolledHost
let db: EnrolledHost

withTwoHosts({ clock, env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' } }, async scene => {
  ;({ server, db } = scene)
  thief = scene.web
  const { key } = await scene.admin.client.call('POST /keys', { body: { name: 'feeds', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
})

let feeds = 0
const create = (input: object = {}) =>
  admin.client.call('POST /fleet/feeds', { body: { name: `feed ${++feeds}`, ...input } })
const read = async (token: string, query = '') => {
  clock.forward(6)
  const { status, text } = await raw(server, 'GET', `/api/v1/feeds/${token}${query}`)
  expect(status).toBe(200)
  return text.split('\n').filter(Boolean)
}
const report = (host: EnrolledHost, ips: readonly string[]) =>
  host.client.call('POST /bans/batch', {
    body: { bans: ips.map(ip => ({ ip, jail: 'sshd', ban_duration: -1, event_id: randomUUID() })) },
  })
const errorsOf = async (host: EnrolledHost, ips: readonly string[]) =>
  (await report(host, ips)).results.map(({ error }) => error)

test('no feed holds what no server bans, nor the wide ranges of one', async () => {
  const { token } = await create()
  await report(db, ['45.9.0.7', '45.9.8.0/24', '2001:db8:77::/48'])
  const before = await read(token)
  expect(before).toEqual(['45.9.0.7', '45.9.8.0/24', '2001:db8:77::/48'])
  const refused = [
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/1',
    '8.0.0.0/7',
    '2000::/15',
    '127.0.0.1',
    '127.8.0.0/16',
    '::1',
    '::',
    '0.0.0.0',
  ]
  const mapped = ['::ffff:0.0.0.0/96', '::ffff:127.0.0.1', '224.0.0.1', 'ff02::1', 'ff00::/16']
  for (const error of await errorsOf(thief, [...refused, ...mapped])) expect(error).toMatch(/which no server bans/)
  for (const ip of [...refused, ...mapped]) {
    const { status } = await raw(server, 'POST', '/api/v1/bans', { token: thief.key, body: { ip, jail: 'sshd' } })
    expect(status, ip).toBe(400)
  }
  const wide = ['12.0.0.0/8', '45.0.0.0/16', '45.9.0.0/23', '2a00::/16', '2001:db8::/47']
  expect(await errorsOf(thief, wide)).toEqual(wide.map(() => null))
  // They did happen, as the host says: they are kept, and marked.
  const { bans } = await admin.client.call('GET /bans', { query: { server_id: thief.id, limit: 100 } })
  expect(bans.map(({ ip, wide: isWide }) => [ip, isWide]).sort()).toEqual(wide.map(ip => [ip, true]).sort())
  expect(await read(token)).toEqual(before)
  expect(await read(token, '?collapse=true')).toEqual(before)
  expect(await admin.client.call('POST /fleet/feeds/preview', { body: {} })).toMatchObject({
    total: 3,
    left_out: { wide: wide.length },
  })
  const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'feed.limit' } })
  expect(entries).toHaveLength(1)
})

test('no feed holds where people work, this server, or IPv4 by another name', async () => {
  const { token } = await create()
  await report(thief, ['64:ff9b::5db8:d822', '64:ff9b::/96', '::5db8:d822', '127.0.0.1'])
  const people = '45.77.1.9'
  await admin.client.call('POST /whitelist', { body: { ip: '45.77.2.0/24' } })
  await report(thief, [people, '45.77.2.5', '10.1.2.3', '100.64.0.9'])
  expect(await read(token)).toContain(people)
  for (const held of await read(token)) expect(held).not.toMatch(/^64:ff9b|^::|^10\.|^100\.64|^45\.77\.2\./)
  const signIn = { body: { username: 'admin', password }, headers: { 'x-forwarded-for': people } }
  expect((await raw(server, 'POST', '/api/v1/auth/login', signIn)).status).toBe(200)
  clock.forward(31)
  expect(await read(token)).not.toContain(people)
})

test('one host fills no more of a feed than its part', async () => {
  const { token } = await create({ maximum: 2000 })
  await report(db, ['45.88.0.1'])
  clock.forward(1)
  for (let batch = 0; batch < 3; batch++)
    await report(
      thief,
      Array.from({ length: 1000 }, (_, at) => `45.90.${batch * 4 + Math.floor(at / 250)}.${at % 250}`),
    )
  const held = await read(token)
  expect(held.filter(entry => entry.startsWith('45.90.'))).toHaveLength(1000)
  expect(held).toContain('45.88.0.1')
  expect(await admin.client.call('POST /fleet/feeds/preview', { body: { maximum: 2000 } })).toMatchObject({
    left_out: { of_one_server: expect.any(Number) },
  })
})

test('a feed that is read grows by steps, and none of it is lost', async () => {
  const crowd = await Promise.all([1, 2, 3].map(at => aHost(server, admin.client, `crowd-${at}`)))
  const { token } = await create({ q: 'server:crowd-*' })
  const other = await create({ q: 'server:nobody' })
  for (const feed of [token, other.token]) expect(await read(feed)).toEqual([])
  for (const [place, host] of crowd.entries())
    for (let batch = 0; batch < 3; batch++)
      await report(
        host,
        Array.from({ length: 1000 }, (_, at) => `45.${100 + place}.${batch * 4 + Math.floor(at / 250)}.${at % 250}`),
      )
  expect(await read(token)).toHaveLength(5000)
  expect(await read(token), 'within the minute').toHaveLength(5000)
  // What people ban on all servers waits for nothing.
  await admin.client.call('POST /fleet/bans', { body: { entry: '45.68.1.1', target: { all: true } } })
  expect(await read(token)).toContain('45.68.1.1')
  clock.forward(60)
  expect(await read(token)).toHaveLength(5001)
  expect(await read(token)).toHaveLength(9001)
})

test('a feed that somebody changes holds at once what it asks for', async () => {
  const { feeds: all } = await admin.client.call('GET /fleet/feeds')
  const { id } = all.find(({ q }) => q === 'server:nobody') ?? { id: 0 }
  const { token } = await admin.client.call('POST /fleet/feeds/{id}/rotate', { params: { id } })
  await admin.client.call('PATCH /fleet/feeds/{id}', { params: { id }, body: { q: 'server:crowd-*' } })
  expect(await read(token)).toHaveLength(9001)
})

test('a fleet ban of some servers is no word for the others', async () => {
  const { token } = await create({ bans: false })
  const limited = await aUser(server, admin.client, 'limited', 'Operator', [thief.id])
  for (const entry of ['45.66.1.1', '45.66.0.0/24'])
    await limited.client.call('POST /fleet/bans', {
      body: { entry, target: { server_ids: [thief.id] }, force: true },
    })
  await admin.client.call('POST /fleet/bans', { body: { entry: '45.67.1.1', target: { all: true } } })
  expect((await read(token)).filter(entry => !entry.startsWith('45.68.'))).toEqual(['45.67.1.1'])
  expect(await admin.client.call('POST /fleet/feeds/preview', { body: { bans: false } })).toMatchObject({
    left_out: { of_some_servers: 2 },
  })
})

test('entries end at the maximum, also after the cuts have made many of one', async () => {
  const { token } = await create({ bans: false, maximum: 50 })
  await admin.client.call('POST /whitelist/bulk', {
    body: { entries: Array.from({ length: 120 }, (_, at) => ({ ip: `45.70.${at}.1` })) },
  })
  // A ban that holds a whitelisted address is refused, so the entry was listed later.
  await admin.client.call('POST /fleet/bans', { body: { entry: '45.71.0.0/16', target: { all: true } } })
  await admin.client.call('POST /whitelist/bulk', {
    body: { entries: Array.from({ length: 120 }, (_, at) => ({ ip: `45.71.${at}.1` })) },
  })
  for (const query of ['', '?collapse=true', '?format=nft'])
    expect((await read(token, query)).filter(line => line.includes('45.7')).length, query).toBeLessThanOrEqual(50)
  expect(JSON.parse((await raw(server, 'GET', `/api/v1/feeds/${token}?format=json`)).text)).toMatchObject({
    total: 50,
    truncated: true,
  })
})
