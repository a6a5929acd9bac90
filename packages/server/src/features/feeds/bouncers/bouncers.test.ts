import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStorage } from '../../../admin/storage.ts'
import { readConfig } from '../../../config.ts'
import type { Config } from '../../../config.ts'
import { aHost, eventually, freshDatabase, movableClock, startServer } from '../../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../../testing/index.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let web: EnrolledHost

beforeAll(async () => {
  server = await startServer({ clock })
  const signed = await server.setUp()
  const { key } = await signed.client.call('POST /keys', { body: { name: 'feeds', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
  web = await aHost(server, admin.client, 'web-01')
  await report(['198.51.100.7', '2001:db8:1::5'])
  await ban('203.0.113.64/26')
})
afterAll(() => server.close())

const report = (ips: string[], duration = 86_400 * 30) =>
  web.client.call('POST /bans/batch', { body: { bans: ips.map(ip => ({ ip, jail: 'sshd', ban_duration: duration })) } })
const ban = (entry: string) =>
  admin.client.call('POST /fleet/bans', { body: { entry, target: { all: true }, reason: 'test' } })
const unban = async (entry: string) => {
  const { fleet_bans: bans } = await admin.client.call('GET /fleet/bans', { query: {} })
  const id = bans.find(one => one.entry === entry)?.id ?? 0
  await admin.client.call('DELETE /fleet/bans/{id}', { params: { id } })
}
let feeds = 0
const aFeed = (input: object = {}) =>
  admin.client.call('POST /fleet/feeds', { body: { name: `bouncer ${++feeds}`, ...input } })
/** Past the time in which an answer waits for no reading. */
const later = (seconds = 16) => clock.forward(seconds)

interface Asked {
  readonly key?: string
  readonly from?: string
  readonly program?: string
  readonly method?: string
  readonly url?: string
  readonly headers?: Record<string, string>
}
/** A program that knows the base URL and a key only. */
const get = (
  path: string,
  { key, from, program = 'bouncer/1', method = 'GET', headers = {}, url = server.url }: Asked = {},
) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = { 'user-agent': program, ...(key === undefined ? {} : { 'x-api-key': key }), ...headers }
    request(
      `${url}/api/v1/crowdsec/v1/${path}`,
      { method, headers: sent, localAddress: from ?? '127.0.0.1' },
      reply => {
        let text = ''
        reply.on('data', (part: Buffer) => (text += part.toString()))
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
      },
    )
      .on('error', reject)
      .end()
  })
interface Decision {
  readonly id: number
  readonly value: string
  readonly duration: string
  readonly scope: string
}
type Stream = { readonly new: Decision[] | null; readonly deleted: Decision[] | null }
const values = (list: Decision[] | null) => (list ?? []).map(({ value }) => value).sort()
const pull = async (key: string, query = '', asked: Asked = {}) => {
  const { status, text } = await get(`decisions/stream?${query}`, { key, ...asked })
  expect(status, text).toBe(200)
  const stream = JSON.parse(text) as Stream
  return { ...stream, added: values(stream.new), removed: values(stream.deleted) }
}
/** Starts servers on data of their own, one after the other. */
const withOwnData = async (work: (start: () => Promise<TestServer>, config: Config) => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-bouncers-'))
  const database = await freshDatabase()
  const options = { dataDir: folder, clock, ...(database ? { databaseUrl: database.url } : {}) }
  const config = readConfig({
    STOCKADE_DATA_DIR: folder,
    ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
  })
  let last: TestServer | null = null
  try {
    await work(async () => (last = await startServer(options)), config)
  } finally {
    await (last as TestServer | null)?.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}
const all = ['198.51.100.7', '2001:db8:1::5', '203.0.113.64/26'].sort()

describe('the stream', () => {
  test('begins with everything, in the fields of the protocol', async () => {
    const { token } = await aFeed()
    const { text } = await get('decisions/stream?startup=true', { key: token })
    const stream = JSON.parse(text) as Stream
    expect(stream.deleted).toBeNull()
    expect(values(stream.new)).toEqual(all)
    expect(stream.new?.find(({ scope }) => scope === 'Range')).toEqual({
      id: expect.any(Number),
      origin: 'stockade',
      type: 'ban',
      scope: 'Range',
      value: '203.0.113.64/26',
      duration: expect.stringMatching(/^\d+h\d+m\d+s$/),
      scenario: 'stockade/feed',
    })
    expect(await pull(token)).toMatchObject({ new: null, deleted: null })
  })

  test('goes on with what changed, for each bouncer by itself', async () => {
    const { token } = await aFeed()
    await pull(token, 'startup=true')
    await pull(token, 'startup=true', { program: 'other/1' })
    await ban('203.0.113.9')
    later()
    expect(await pull(token, 'startup=false')).toMatchObject({ added: ['203.0.113.9'], deleted: null })
    expect(await pull(token)).toMatchObject({ new: null, deleted: null })
    await unban('203.0.113.9')
    later()
    expect(await pull(token)).toMatchObject({ new: null, removed: ['203.0.113.9'] })
    expect(await pull(token, '', { program: 'other/1' }), 'came and went between two pulls').toMatchObject({
      new: null,
      removed: ['203.0.113.9'],
    })
    expect(await pull(token, '', { key: `${token}.behind-nat` }), 'one that nobody knows').toMatchObject({
      added: all,
      removed: ['203.0.113.9'],
    })
  })

  test('loses no removal while no process runs', () =>
    withOwnData(async (start, config) => {
      const before = await start()
      const { client } = await before.setUp()
      const { token } = await client.call('POST /fleet/feeds', { body: { name: 'kept' } })
      for (const entry of ['203.0.113.10', '203.0.113.11'])
        await client.call('POST /fleet/bans', { body: { entry, target: { all: true }, reason: 'test' } })
      later()
      await pull(token, 'startup=true', { url: before.url })
      // What ended is not read by any bouncer before the process ends.
      const { fleet_bans: bans } = await client.call('GET /fleet/bans', { query: {} })
      const id = bans.find(({ entry }) => entry === '203.0.113.10')?.id ?? 0
      await client.call('DELETE /fleet/bans/{id}', { params: { id } })
      await before.close()
      later(60)
      const restarted = clock()
      const after = await start()
      const storage = await openStorage(config)
      try {
        await eventually(async () => {
          const row = await storage.read.selectFrom('feeds_sent').selectAll().executeTakeFirstOrThrow()
          expect(row.saved_at, 'read though no bouncer asked').toBeGreaterThanOrEqual(restarted)
        })
      } finally {
        await storage.close()
      }
      expect(await pull(token, '', { url: after.url })).toMatchObject({
        added: ['203.0.113.11'],
        removed: ['203.0.113.10'],
      })
    }))

  test('takes the filters of the protocol and ignores others', async () => {
    const { token } = await aFeed()
    const added = async (query: string) => (await pull(token, `startup=true&${query}`)).added
    expect(await added('scopes=range')).toEqual(['203.0.113.64/26'])
    expect(await added('scopes=ip,Range&dedup=false')).toEqual(all)
    expect(await added('scopes=country')).toEqual([])
    expect(await added('origins=CAPI')).toEqual([])
    expect(await added('origins=CAPI,stockade')).toEqual(all)
    expect(await added('scenarios_containing=ssh')).toEqual([])
    expect(await added('scenarios_not_containing=feed')).toEqual([])
  })
})

describe('a question', () => {
  test('is answered for an address, for a range, and for all', async () => {
    const { token } = await aFeed()
    const asked = async (query: string) => {
      const { status, text } = await get(`decisions?${query}`, { key: token })
      return status === 200 ? values(JSON.parse(text) as Decision[] | null) : status
    }
    expect(await asked('')).toEqual(all)
    expect(await asked('ip=198.51.100.7')).toEqual(['198.51.100.7'])
    expect(await asked('ip=203.0.113.65')).toEqual(['203.0.113.64/26'])
    expect(await asked('ip=::ffff:203.0.113.65')).toEqual(['203.0.113.64/26'])
    expect(await asked('ip=198.51.100.8')).toEqual([])
    expect(await asked('range=203.0.113.96/27')).toEqual(['203.0.113.64/26'])
    expect(await asked('range=203.0.113.0/24')).toEqual([])
    expect(await asked('range=203.0.113.0/24&contains=false')).toEqual(['203.0.113.64/26'])
    expect(await asked('type=captcha&ip=198.51.100.7')).toEqual([])
    expect(await asked('scope=ip&value=198.51.100.7')).toEqual(['198.51.100.7'])
    expect(await asked('ip=junk')).toBe(400)
    expect((await get('decisions?ip=198.51.100.8', { key: token })).text).toBe('null')
    expect((await get('decisions', { key: token, method: 'HEAD' })).status).toBe(200)
    expect((await get('usage-metrics', { key: token, method: 'POST' })).status).toBe(201)
  })
})

describe('an attacker', () => {
  test('gets nothing without the token of a feed in the header', async () => {
    const { token, id } = await aFeed()
    let caller = 1
    const refused = async (asked: Asked, path = 'decisions/stream?startup=true') => {
      const reply = await get(path, { from: `127.0.1.${++caller}`, ...asked })
      expect(reply.status, reply.text).toBe(403)
      expect(JSON.parse(reply.text)).toMatchObject({ message: 'access forbidden' })
    }
    await refused({})
    await refused({ key: '' })
    await refused({ key: web.key })
    await refused({ key: admin.token })
    await refused({ headers: { authorization: `Bearer ${token}` } })
    await refused({ headers: { authorization: `Bearer ${admin.token}` } })
    await refused({}, `decisions?key=${token}&api_key=${token}`)
    await refused({ key: `${token}x` })
    await refused({ key: `${token}.${'n'.repeat(40)}` })
    await refused({ key: 'k'.repeat(8000) })
    await refused({ method: 'POST' }, 'usage-metrics')
    const rotated = await admin.client.call('POST /fleet/feeds/{id}/rotate', { params: { id } })
    await refused({ key: token })
    expect(await pull(rotated.token, 'startup=true')).toMatchObject({ added: all })
    await admin.client.call('DELETE /fleet/feeds/{id}', { params: { id } })
    await refused({ key: rotated.token })
  })

  test('pays for guesses as for wrong passwords, and others at the same address do not', async () => {
    const { token } = await aFeed()
    const guess = async () => (await get('decisions', { key: `feed_${'g'.repeat(40)}`, from: '127.0.2.2' })).status
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt++) statuses.push(await guess())
    expect(statuses.filter(status => status === 403)).toHaveLength(10)
    expect(statuses.filter(status => status === 429)).toHaveLength(2)
    await pull(token, 'startup=true', { from: '127.0.2.2' })
  })

  test('gets another feed by its token only, and none of what a feed must not hold', async () => {
    const few = await aFeed({ q: 'jail:nothing', fleet_bans: false })
    expect(await pull(few.token, 'startup=true')).toMatchObject({ new: null, deleted: null })
    await report(['203.0.113.200'])
    await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.200' } })
    const { token } = await aFeed()
    later()
    const stream = await pull(token, '')
    expect([...stream.added, ...stream.removed]).not.toContain('203.0.113.200')
    expect((await get('decisions?ip=203.0.113.200', { key: token })).text).toBe('null')
  })

  test('is refused parameters of any size, and lists of everything beyond a bound', async () => {
    const { token } = await aFeed()
    expect((await get(`decisions/stream?scopes=${'a'.repeat(1001)}`, { key: token })).status).toBe(400)
    expect((await get('decisions/stream?startup=true&startup=false', { key: token })).status).toBe(400)
    expect((await get(`decisions/stream?since=${'9'.repeat(900)}&startup=9e999`, { key: token })).status).toBe(200)
    const statuses: number[] = []
    for (let attempt = 0; attempt < 125; attempt++)
      statuses.push((await get('decisions/stream?startup=true', { key: token, from: '127.0.3.3' })).status)
    expect(statuses.filter(status => status === 200)).toHaveLength(120)
    await pull(token, 'startup=true', { from: '127.0.3.4' })
  })

  test('as 500 bouncers at once gets one text', async () => {
    const { token } = await aFeed()
    const streams = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        pull(token, '', { from: `127.1.${index >> 8}.${index & 255 || 1}`, program: `b/${index}` }),
      ),
    )
    for (const { added } of streams) expect(added).toEqual(all)
  })
})

describe('a lease', () => {
  test('is told again before and after its end, and is a day long at most', async () => {
    const { token } = await aFeed()
    const told = new Map<string, number>()
    await pull(token, 'startup=true')
    for (let step = 0; step < 300; step++) {
      later(300)
      for (const { value, duration } of (await pull(token)).new ?? []) {
        told.set(value, (told.get(value) ?? 0) + 1)
        expect(Number(duration.split('h')[0])).toBeLessThan(25)
      }
    }
    for (const entry of ['198.51.100.7', '2001:db8:1::5']) expect(told.get(entry), entry).toBeGreaterThanOrEqual(2)
  })
})
