import { gunzipSync } from 'node:zlib'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost

beforeAll(async () => {
  server = await startServer({ clock })
  const signed = await server.setUp()
  const { key } = await signed.client.call('POST /keys', { body: { name: 'feeds', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
  await report(web, ['198.51.100.4', '198.51.100.5', '198.51.100.6', '198.51.100.7', '2001:db8:1::5'], 'sshd')
  await report(db, ['198.51.100.4', '203.0.113.9'], 'nginx')
  await report(db, ['192.0.2.60'], 'sshd', 60)
  await admin.client.call('POST /fleet/bans', {
    body: { entry: '203.0.113.64/26', target: { all: true }, reason: 'range' },
  })
})
afterAll(() => server.close())

const report = (host: EnrolledHost, ips: string[], jail: string, duration = 86_400) =>
  host.client.call('POST /bans/batch', { body: { bans: ips.map(ip => ({ ip, jail, ban_duration: duration })) } })
let feeds = 0
const create = (input: object = {}) =>
  admin.client.call('POST /fleet/feeds', { body: { name: `feed ${++feeds}`, ...input } })
/** Past the few seconds that a text is kept. */
const later = () => clock.forward(6)

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}
/** A consumer that knows the address only. */
const get = (token: string, query = '', headers: Record<string, string> = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    const url = `${server.url}/api/v1/feeds/${token}${query && `?${query}`}`
    request(url, { headers }, reply => {
      const parts: Buffer[] = []
      reply.on('data', (part: Buffer) => parts.push(part))
      reply.on('end', () => {
        const body = Buffer.concat(parts)
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body, text: body.toString() })
      })
    })
      .on('error', reject)
      .end()
  })
const linesOf = async (token: string, query = '') => {
  const { status, text } = await get(token, query)
  expect(status).toBe(200)
  return text.split('\n').filter(line => line !== '')
}

const none = { wide: 0, of_one_server: 0, of_some_servers: 0, protected: 0, held_back: 0 }
/** What hosts reported and what the fleet bans, as a feed lists it. */
const entries = [
  '192.0.2.60',
  '198.51.100.4',
  '198.51.100.5',
  '198.51.100.6',
  '198.51.100.7',
  '203.0.113.9',
  '203.0.113.64/26',
  '2001:db8:1::5',
]

describe('a feed', () => {
  test('holds each banned address once, in order, and ranges of fleet bans', async () => {
    const { token, url } = await create()
    expect(new URL(url).pathname).toBe(`/api/v1/feeds/${token}`)
    expect(await linesOf(token)).toEqual(entries)
    expect(await linesOf(token, 'collapse=true')).toEqual([
      '192.0.2.60',
      '198.51.100.4/30',
      '203.0.113.9',
      '203.0.113.64/26',
      '2001:db8:1::5',
    ])
    expect(await linesOf(token, 'format=cidr&family=ipv4')).toEqual([
      '192.0.2.60/32',
      '198.51.100.4/30',
      '203.0.113.9/32',
      '203.0.113.64/26',
    ])
  })

  test('holds what its search finds, of the families and up to the number that it is for', async () => {
    const nginx = await create({ q: 'jail:nginx', fleet_bans: false })
    expect(await linesOf(nginx.token)).toEqual(['198.51.100.4', '203.0.113.9'])
    const six = await create({ family: 'ipv6', fleet_bans: false })
    expect(await linesOf(six.token)).toEqual(['2001:db8:1::5'])
    const few = await create({ maximum: 2, bans: true, fleet_bans: false })
    expect(JSON.parse((await get(few.token, 'format=json')).text)).toMatchObject({ total: 2, truncated: true })
    const fleet = await create({ bans: false })
    expect(await linesOf(fleet.token)).toEqual(['203.0.113.64/26'])
    const none = await create({ q: 'jail:nothing', fleet_bans: false })
    expect((await get(none.token)).text).toBe('')
  })

  test('says before it is made what it would hold', async () => {
    const preview = (body: object) => admin.client.call('POST /fleet/feeds/preview', { body })
    expect(await preview({})).toEqual({
      total: 8,
      ipv4: 7,
      ipv6: 1,
      collapsed: 5,
      truncated: false,
      left_out: none,
      samples: entries,
    })
    expect(await preview({ q: 'jail:nginx', fleet_bans: false, maximum: 1 })).toMatchObject({
      total: 1,
      truncated: true,
    })
    await expect(preview({ q: 'jail:' })).rejects.toMatchObject({ status: 400 })
  })

  test('loses what ended, what was whitelisted, and what a server in quarantine says', async () => {
    const { token } = await create()
    clock.forward(120)
    expect(await linesOf(token)).not.toContain('192.0.2.60')
    await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.5' } })
    await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.66' } })
    later()
    const held = await linesOf(token)
    expect(held).not.toContain('198.51.100.5')
    expect(held).toContain('203.0.113.64/31')
    expect(held).toContain('203.0.113.67')
    expect(held).not.toContain('203.0.113.66')
    const server_ = { serverId: db.id }
    await admin.client.call('POST /servers/{serverId}/quarantine', { params: server_, body: { reason: 'stolen' } })
    later()
    const trusted = await linesOf(token)
    expect(trusted).not.toContain('203.0.113.9')
    expect(trusted, 'which another server says too').toContain('198.51.100.4')
    await admin.client.call('DELETE /servers/{serverId}/quarantine', { params: server_ })
  })

  test('answers 304 while nothing changed, and compresses', async () => {
    const { token } = await create({ q: 'jail:sshd', fleet_bans: false })
    const first = await get(token)
    const etag = String(first.headers.etag)
    const modified = String(first.headers['last-modified'])
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    expect((await get(token, '', { 'if-none-match': etag })).status).toBe(304)
    expect((await get(token, '', { 'if-modified-since': modified })).status).toBe(304)
    expect((await get(token, 'format=nginx', { 'if-none-match': etag })).status).toBe(200)
    later()
    expect((await get(token, '', { 'if-none-match': etag })).status, 'read again, and the same').toBe(304)
    expect((await get(token)).headers['last-modified'], 'whichever process answers').toBe(modified)
    const zipped = await get(token, '', { 'accept-encoding': 'gzip' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.body).toString()).toBe(first.text)
    await report(web, ['198.51.100.90'], 'sshd')
    later()
    const changed = await get(token, '', { 'if-none-match': etag })
    expect(changed.status).toBe(200)
    expect(changed.text).toContain('198.51.100.90')
    const again = await get(token, '', { 'if-modified-since': modified })
    expect(again.status, 'a change is never within the second of the one before').toBe(200)
    expect(again.headers['last-modified']).toBe(changed.headers['last-modified'])
  })

  test('comes in every format, each an exact text', async () => {
    const { token, name } = await create({ q: 'jail:nginx', fleet_bans: false })
    const texts: Record<string, string> = {
      plain: '198.51.100.4\n203.0.113.9\n',
      cidr: '198.51.100.4/32\n203.0.113.9/32\n',
      nginx: 'deny 198.51.100.4;\ndeny 203.0.113.9;\n',
      apache: 'Require not ip 198.51.100.4\nRequire not ip 203.0.113.9\n',
      haproxy: '198.51.100.4 1\n203.0.113.9 1\n',
      pf: '198.51.100.4\n203.0.113.9\n',
    }
    for (const [format, text] of Object.entries(texts))
      expect((await get(token, `format=${format}`)).text, format).toBe(text)
    const json = await get(token, 'format=json')
    expect(json.headers['content-type']).toContain('application/json')
    expect(JSON.parse(json.text)).toEqual({
      name,
      generated_at: expect.stringMatching(/Z$/),
      total: 2,
      truncated: false,
      left_out: none,
      entries: ['198.51.100.4', '203.0.113.9'],
    })
    const mikrotik = (await get(token, 'format=mikrotik&set=evil')).text
    expect(mikrotik).toContain('/ip firewall address-list remove [find list="evil"]\n')
    expect(mikrotik).toContain('/ip firewall address-list add list="evil" address=203.0.113.9\n')
  })

  test('is read by its token alone, which can be replaced', async () => {
    const { id, token } = await create()
    expect(await get(token)).toMatchObject({ status: 200 })
    const { feeds: listed } = await admin.client.call('GET /fleet/feeds')
    expect(listed.find(feed => feed.id === id)).toMatchObject({ used_from: '127.0.0.1' })
    expect(JSON.stringify(listed)).not.toContain(token)
    const fresh = await admin.client.call('POST /fleet/feeds/{id}/rotate', { params: { id } })
    expect(await get(token)).toMatchObject({ status: 404 })
    expect(await get(fresh.token)).toMatchObject({ status: 200 })
    await admin.client.call('DELETE /fleet/feeds/{id}', { params: { id } })
    expect(await get(fresh.token)).toMatchObject({ status: 404 })
    const { text } = await raw(server, 'GET', '/api/v1/settings/audit', { token: admin.token })
    expect(text).toContain('feed.rotate')
    expect(text).not.toContain(token)
    expect(text).not.toContain(fresh.token)
    // The token of a feed opens nothing else.
    for (const path of ['/bans', '/fleet/feeds', '/servers'])
      expect(await raw(server, 'GET', `/api/v1${path}`, { token: fresh.token })).toMatchObject({ status: 401 })
  })

  test('has a budget of its own', async () => {
    const { token } = await create()
    // The budget is of a minute by the clock.
    clock.forward(60 - ((clock() / 1000) % 60))
    const statuses = []
    for (let n = 0; n < 62; n++) statuses.push((await get(token)).status)
    expect(statuses.filter(status => status === 429)).toHaveLength(2)
    expect(Number((await get(token)).headers['retry-after'])).toBeGreaterThan(0)
    expect(await get((await create()).token)).toMatchObject({ status: 200 })
    clock.forward(61)
    expect(await get(token)).toMatchObject({ status: 200 })
  })

  test('refuses what makes no sense, and is for administrators', async () => {
    const ask = (method: string, path: string, body?: object, token = admin.token) =>
      raw(server, method, `/api/v1${path}`, { token, ...(body ? { body } : {}) })
    expect(await ask('POST', '/fleet/feeds', { name: 'wrong', q: 'colour:red' })).toMatchObject({ status: 400 })
    expect(await ask('POST', '/fleet/feeds', { name: 'wrong', maximum: 0 })).toMatchObject({ status: 400 })
    expect(await ask('POST', '/fleet/feeds', { name: 'feed 1' })).toMatchObject({ status: 409 })
    expect(await ask('PATCH', '/fleet/feeds/99999', { name: 'x' })).toMatchObject({ status: 404 })
    const { token } = await create()
    for (const query of ['format=exe', 'set=%3Bdrop', 'set=a%20b', 'collapse=maybe'])
      expect(await get(token, query), query).toMatchObject({ status: 400 })
    const { token: operator } = await aUser(server, admin.client, 'operator', 'Operator')
    expect(await ask('POST', '/fleet/feeds', { name: 'mine' }, operator)).toMatchObject({ status: 403 })
    expect(await ask('GET', '/fleet/feeds', undefined, operator)).toMatchObject({ status: 403 })
  })
})
