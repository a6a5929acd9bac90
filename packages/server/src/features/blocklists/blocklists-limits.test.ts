import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aHost, movableClock, startServer, until } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { startListSource } from '../../testing/list-source.ts'

/* What a list may make of Stockade and of servers, whatever its source answers. */

const clock = movableClock()
const source = await startListSource()
const { url, answers, text } = source
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
})
afterAll(async () => {
  await server.close()
  source.close()
})
beforeEach(async () => {
  clock.forward(120)
  answers.clear()
  for (const { id } of (await admin.client.call('GET /lists')).lists)
    await admin.client.call('DELETE /lists/{id}', { params: { id } })
})

const preview = (path: string, more: object = {}) =>
  admin.client.call('POST /lists/preview', {
    body: { source: { kind: 'url', url: `${url}${path}` }, allow_private: true, ...more },
  })
const subscribe = (path: string, more: object = {}) =>
  admin.client.call('POST /lists', {
    body: {
      name: path,
      source: { kind: 'url', url: `${url}${path}` },
      target: { all: true },
      allow_private: true,
      ...more,
    },
  })
const read = (id: number) => admin.client.call('GET /lists/{id}', { params: { id } })
const refresh = (id: number, accept_change = false) =>
  admin.client.call('POST /lists/{id}/refresh', { params: { id }, body: { accept_change } })
const change = (id: number, body: object) => admin.client.call('PATCH /lists/{id}', { params: { id }, body })
const entries = (id: number, search?: string) =>
  admin.client.call('GET /lists/{id}/entries', { params: { id }, query: search === undefined ? {} : { search } })
const rows = (count: number, row: (n: number) => string) => Array.from({ length: count }, (_, n) => row(n)).join('\n')
const singles = (count: number) => rows(count, n => `9.${n >> 7}.${(n & 127) * 2}.1`)
const eights = (from: number, count: number) => rows(count, n => `${from + n}.0.0.0/8`)
const sayingIt = (message: RegExp) => ({ message: expect.stringMatching(message) as string })

describe('an answer that is made to be expensive', () => {
  const spread = (n: number) => `2001:db8:${(n >> 15).toString(16)}:${((n & 0x7fff) * 2).toString(16)}`
  const bad: readonly [name: string, text: string, reason: RegExp][] = [
    [
      'few lines that are very many entries',
      rows(2500, n => `${spread(n)}::1-${spread(n)}:ffff:ffff:ffff:fffe`),
      /more than [\d,]+ entries/,
    ],
    ['JSON of millions of values', `[${'{},'.repeat(1_500_000)}{}]`, /JSON of more than/],
    ['deep JSON', '['.repeat(20 * 1024 * 1024), /nested deeper/],
  ]
  test.for(bad)(
    '%s is refused in a preview and as a list, and the list is not due again at once',
    async ([, body, reason]) => {
      text('/list', gzipSync(body))
      await expect(preview('/list')).rejects.toMatchObject({ status: 409, ...sayingIt(reason) })
      const { id } = await subscribe('/list')
      const { last_error, entries: held, next_check_at } = await refresh(id)
      expect(last_error).toMatch(reason)
      expect(held).toBe(0)
      expect(Date.parse(next_check_at ?? '')).toBeGreaterThan(clock())
    },
  )

  test('a look is written down before it is made, so that one that ends the process is not due at once', async () => {
    const { id } = await subscribe('/list')
    let isAsked = false
    let answer = () => {}
    answers.set('/list', (_, reply) => {
      isAsked = true
      answer = () => void reply.writeHead(200, { 'content-type': 'text/plain' }).end('198.51.100.1\n')
    })
    const look = refresh(id)
    await until(() => isAsked, 'a look at the source')
    expect(Date.parse((await read(id)).next_check_at ?? '')).toBeGreaterThan(clock())
    answer()
    expect(await look).toMatchObject({ entries: 1, last_error: null })
  })

  test('each caller looks at one source at a time', async () => {
    let isAsked = false
    let answer = () => {}
    answers.set('/slow', (_, reply) => {
      isAsked = true
      answer = () => void reply.writeHead(200, { 'content-type': 'text/plain' }).end('198.51.100.1\n')
    })
    text('/list', '198.51.100.1\n')
    const { id } = await subscribe('/list')
    const first = preview('/slow')
    await until(() => isAsked, 'a look at the source')
    await expect(preview('/list')).rejects.toMatchObject({ status: 409, ...sayingIt(/already/) })
    await expect(refresh(id)).rejects.toMatchObject({ status: 409, ...sayingIt(/already/) })
    answer()
    expect(await first).toMatchObject({ entries: 1 })
    expect(await preview('/list')).toMatchObject({ entries: 1 })
  })
})

test('looks and searches in a long list find its entries', async () => {
  const v6 = rows(40_000, n => `2001:db8:${(n >> 15).toString(16)}:${((n & 0x7fff) * 2).toString(16)}::7`)
  text('/list', gzipSync(`${singles(20_000)}\n${v6}\n`))
  const { id } = await subscribe('/list', { max_entries: 200_000 })
  await refresh(id)
  const lookUp = async (ip: string) =>
    (await admin.client.call('GET /bans/lookup/{ip}', { params: { ip } })).blocklists.map(({ entry }) => entry)
  expect(await lookUp('2001:db8:1:14::7')).toEqual(['2001:db8:1:14::7'])
  expect(await lookUp('2001:db8:1:14::8')).toEqual([])
  expect(await lookUp('9.1.4.1')).toEqual(['9.1.4.1'])
  expect(await entries(id)).toMatchObject({ total: 60_000, entries: expect.arrayContaining(['9.0.0.1']) as string[] })
  expect(await entries(id, '2001:db8:1:14::/63')).toMatchObject({ total: 1, entries: ['2001:db8:1:14::7'] })
  expect(await entries(id, '9.1.0.0/16')).toMatchObject({ total: 128 })
  expect(await entries(id, '9.1.4.')).toMatchObject({ total: 1, entries: ['9.1.4.1'] })
  // The next version is found, and the one before no more.
  text('/list', `${singles(20_000)}\n`)
  await refresh(id, true)
  expect(await lookUp('2001:db8:1:14::7')).toEqual([])
})

describe('growth', () => {
  test('ranges wider than a ban are left out, and taken by consent', async () => {
    text('/list', singles(1000))
    const { id } = await subscribe('/list')
    await refresh(id)
    text('/list', `${singles(1000)}\n${eights(20, 15)}\n2001::/20\n`)
    expect(await refresh(id)).toMatchObject({ entries: 1000, addresses: 1000, left_out: { too_wide: 16 } })
    await change(id, { allow_wide: true, max_addresses: 2 ** 32, max_networks: 2 ** 61 })
    expect(await refresh(id)).toMatchObject({ addresses: 1000, last_error: expect.stringMatching(/are new/) as string })
    expect(await refresh(id, true)).toMatchObject({ addresses: 1000 + 15 * 2 ** 24, last_error: null })
  })

  test('neighbours do not become an entry that is wider than a ban', async () => {
    text(
      '/list',
      rows(16, n => `20.${n}.0.0/16`),
    )
    const { id } = await subscribe('/list')
    await refresh(id)
    expect((await entries(id)).entries).toEqual(rows(16, n => `20.${n}.0.0/16`).split('\n'))
  })

  test.each([
    [
      'a long list, by few entries of IPv4',
      singles(1000),
      rows(15, n => `20.${n * 2}.0.0/16`),
      /of the IPv4 addresses/i,
    ],
    ['a long list, by few entries of IPv6', singles(1000), '2001:db8::/32', /of the IPv6 addresses/i],
    ['a short list', '9.0.0.1\n9.0.2.1', '20.0.0.0/16', /of the IPv4 addresses/i],
    ['a short list that changes wholly', '9.0.0.1', '20.0.0.0/17', /of the IPv4 addresses/i],
  ])('%s grows by addresses only when somebody accepts it', async (_, before, more, reason) => {
    text('/list', before)
    const { id } = await subscribe('/list')
    const first = await refresh(id)
    text('/list', `${before}\n${more}`)
    const { last_error, addresses } = await refresh(id)
    expect(last_error).toMatch(reason)
    expect(addresses).toBe(first.addresses)
    expect((await refresh(id, true)).last_error).toBeNull()
  })

  test('a list without a bound takes ten times what its first version covers, and no more step by step', async () => {
    const sixteens = (count: number) => rows(count, n => `20.${n * 2}.0.0/16`)
    text('/list', sixteens(3))
    const { id } = await subscribe('/list')
    expect((await refresh(id)).max_addresses).toBe(30 * 2 ** 16)
    for (const count of [6, 12, 24]) {
      text('/list', sixteens(count))
      expect((await refresh(id)).last_error).toBeNull()
    }
    text('/list', sixteens(48))
    expect((await refresh(id, true)).last_error).toMatch(/covers 3,145,728 addresses, and the list takes 1,966,080/)
    await change(id, { max_addresses: 2 ** 22 })
    expect((await refresh(id)).last_error).toBeNull()
  })

  test('so it is with networks of IPv6', async () => {
    const blocks = (count: number) => rows(count, n => `2a00:${(n * 2).toString(16)}::/32`)
    text('/list', blocks(3))
    const { id } = await subscribe('/list')
    expect((await read(id)).max_networks).toBeNull()
    expect((await refresh(id)).max_networks).toBe(30 * 2 ** 32)
    for (const count of [6, 12, 24]) {
      text('/list', blocks(count))
      expect((await refresh(id)).last_error).toBeNull()
    }
    text('/list', blocks(48))
    expect((await refresh(id, true)).last_error).toMatch(/networks of IPv6, and the list takes/)
    await change(id, { max_networks: 2 ** 40 })
    expect((await refresh(id)).last_error).toBeNull()
  })

  test('a list whose bound was given keeps it', async () => {
    text('/list', '9.0.0.1')
    const { id } = await subscribe('/list', { max_addresses: 100 })
    expect((await refresh(id)).max_addresses).toBe(100)
  })
})

describe('the enforced lists of one server together', () => {
  const wide = { allow_wide: true, max_addresses: 2 ** 32 }
  beforeEach(() => {
    text('/one', eights(20, 33))
    text('/two', eights(60, 33))
  })
  const enforce = (path: string, host: EnrolledHost | null, mode = 'enforce') =>
    subscribe(path, { ...wide, mode, target: host ? { server_ids: [host.id] } : { all: true } })

  test('cover at most a quarter of all public addresses', async () => {
    await refresh((await enforce('/one', null)).id)
    const { id } = await enforce('/two', web)
    expect(await refresh(id)).toMatchObject({
      version: 0,
      last_error: expect.stringMatching(/would cover 29\.9 % of all public addresses together/) as string,
    })
    await change(id, { mode: 'observe' })
    expect((await refresh(id)).last_error).toBeNull()
    await expect(change(id, { mode: 'enforce' })).rejects.toMatchObject({ status: 409, ...sayingIt(/At most 25 %/) })
    expect((await read(id)).mode).toBe('observe')
    expect((await change(id, { name: 'renamed' })).name).toBe('renamed')
  })

  test('are those of that server, also after another target', async () => {
    const one = await enforce('/one', web)
    const two = await enforce('/two', db)
    for (const { id } of [one, two]) expect((await refresh(id)).last_error).toBeNull()
    for (const target of [{ all: true }, { server_ids: [web.id] }, { server_ids: [db.id, web.id] }])
      await expect(change(two.id, { target })).rejects.toMatchObject({ status: 409 })
    await change(one.id, { mode: 'off' })
    expect((await change(two.id, { target: { all: true } })).target).toEqual({ all: true })
  })

  test('one list alone is judged too', async () => {
    text('/all', eights(1, 221))
    const { id } = await enforce('/all', null)
    expect((await refresh(id)).last_error).toMatch(/together/)
  })
})
