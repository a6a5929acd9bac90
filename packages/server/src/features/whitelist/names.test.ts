import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bounds } from '@stockade/contract'
import { startDnsServer } from '../../testing/dns-server.ts'
import type { DnsReply, DnsServer } from '../../testing/dns-server.ts'
import { aHost, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

let dns: DnsServer
let server: TestServer
let admin: Signed
let host: EnrolledHost
const clock = movableClock()
beforeAll(async () => {
  dns = await startDnsServer()
  server = await startServer({ clock, env: { STOCKADE_DNS_SERVERS: dns.address } })
  const signed = await server.setUp()
  host = await aHost(server, signed.client)
  // A key, because the time goes on for longer than a session lasts.
  const { key } = await signed.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
})
afterAll(async () => {
  await server.close()
  await dns.close()
})
const names = async () => (await admin.client.call('GET /whitelist/names')).names
const entries = async () => (await admin.client.call('GET /whitelist', { query: { limit: 100 } })).whitelist
const addresses = async () => (await entries()).map(({ ip }) => ip).sort()
const add = (name: string, description = '') =>
  admin.client.call('POST /whitelist/names', { body: { name, description } })
const ask = (method: string, path: string, body?: unknown) =>
  raw(server, method, `/api/v1${path}`, { token: admin.token, ...(body === undefined ? {} : { body }) })
const removeName = (id: number) => admin.client.call('DELETE /whitelist/names/{id}', { params: { id } })
const countWarnings = async () =>
  (await admin.client.call('GET /settings/audit', { query: { action: 'whitelist.name_warn' } })).total
/** The time goes on until the name is looked at again. */
const lookAgain = async (name: string) => {
  const before = (await names()).find(row => row.name === name)
  clock.forward(bounds.whitelistNames.interval.maximum)
  return eventually(async () => {
    const row = (await names()).find(each => each.name === name)
    if (!row || row.checked_at === before?.checked_at) throw new Error(`${name} was not looked at again`)
    return row
  })
}
const bareReply = (...list: string[]): DnsReply => ({ addresses: list, ttl: 300 })

beforeEach(async () => {
  for (const { id } of await names()) await removeName(id)
  const ids = (await entries()).map(({ id }) => id)
  if (ids.length > 0) await admin.client.call('POST /whitelist/remove', { body: { ids } })
  dns.replies.clear()
})

describe('a DNS name', () => {
  test('is resolved at once; its addresses are entries that follow it, and go with it', async () => {
    dns.replies.set('office.dyn.example', bareReply('198.51.100.7', '2001:db8::7'))
    const made = await add('Office.Dyn.Example.', 'Office')
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'office.dyn.example',
      description: 'Office',
      created_by: 'key:ops',
      created_at: expect.any(String),
      addresses: ['198.51.100.7', '2001:db8::7'],
      since: expect.any(String),
      checked_at: expect.any(String),
      next_check_at: expect.any(String),
      last_error: null,
    })
    expect(Date.parse(made.next_check_at) - Date.parse(made.checked_at ?? '')).toBe(300_000)
    expect(await entries()).toMatchObject([
      { ip: '198.51.100.7', description: 'office.dyn.example: Office', created_by: 'key:ops', expires_at: null },
      { ip: '2001:db8::7' },
    ])
    expect(await host.client.call('GET /whitelist.txt')).toContain('\n198.51.100.7\n2001:db8::7\n')

    dns.replies.set('office.dyn.example', bareReply('198.51.100.8'))
    const moved = await lookAgain('office.dyn.example')
    expect(moved).toMatchObject({ addresses: ['198.51.100.8'], last_error: null })
    expect(Date.parse(moved.since ?? '')).toBeGreaterThan(Date.parse(made.since ?? ''))
    expect(await addresses()).toEqual(['198.51.100.8'])
    const { entries: audit } = await admin.client.call('GET /settings/audit', { query: { limit: 20 } })
    expect(audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['whitelist.name_create', 'whitelist.name_resolve', 'whitelist.add', 'whitelist.remove']),
    )

    expect((await removeName(made.id)).message).toContain('office.dyn.example')
    expect(await addresses()).toEqual([])
    expect(await ask('DELETE', `/whitelist/names/${made.id}`)).toMatchObject({ status: 404 })
  })
  test.each<[string, DnsReply | readonly [DnsReply, DnsReply], RegExp]>([
    ['fails', { code: 2 }, /server failed/],
    ['refuses', { code: 5 }, /server refused/],
    ['does not exist', { code: 3 }, /does not exist/],
    ['has no address', bareReply(), /no address/],
    ['is nonsense', 'junk', /./],
    ['never comes', 'silence', /in time/],
    ['is private', bareReply('10.0.0.1'), /10\.0\.0\.1, which is no public address/],
    ['is loopback', bareReply('127.0.0.1'), /no public address/],
    ['is everything', bareReply('0.0.0.0'), /no public address/],
    ['is everything of IPv6', bareReply('::'), /no public address/],
    ['is multicast', bareReply('224.0.0.1'), /no public address/],
    ['is broadcast', bareReply('255.255.255.255'), /no public address/],
    ['is metadata', bareReply('169.254.169.254'), /no public address/],
    ['is a private address that is mapped', bareReply('::ffff:10.0.0.1'), /10\.0\.0\.1, which is no public/],
    ['is behind NAT64', bareReply('64:ff9b::c633:6401'), /no public address/],
    ['is behind 6to4', bareReply('2002:c633:6401::1'), /no public address/],
    ['is local in IPv6', bareReply('fd00::1'), /no public address/],
    ['is public and private', bareReply('198.51.100.9', '192.168.0.1'), /192\.168\.0\.1/],
    ['has a thousand', bareReply(...Array.from({ length: 1000 }, (_, n) => `198.18.${n >> 8}.${n & 255}`)), /./],
    ['has very many', bareReply(...Array.from({ length: 30 }, (_, n) => `198.51.100.${n + 1}`)), /30 addresses/],
  ])('keeps the addresses of before when the answer %s', async (_, reply, error) => {
    dns.replies.set('a.dyn.example', bareReply('198.51.100.7'))
    await add('a.dyn.example')
    dns.replies.set('a.dyn.example', reply)
    expect(await lookAgain('a.dyn.example')).toMatchObject({
      addresses: ['198.51.100.7'],
      last_error: expect.stringMatching(error),
    })
    expect(await addresses()).toEqual(['198.51.100.7'])
  })
  test('of which one family fails keeps the addresses of that family', async () => {
    dns.replies.set('a.dyn.example', bareReply('198.51.100.7', '2001:db8::7'))
    await add('a.dyn.example')
    dns.replies.set('a.dyn.example', [bareReply('198.51.100.8'), { code: 2 }])
    expect(await lookAgain('a.dyn.example')).toMatchObject({
      addresses: ['198.51.100.8', '2001:db8::7'],
      last_error: 'IPv6: the DNS server failed.',
    })
  })
  test('is followed over aliases, and asked for at the pace of its TTL within bounds', async () => {
    const { interval } = bounds.whitelistNames
    for (const [ttl, seconds] of [
      [0, interval.minimum],
      [600, 600],
      [2 ** 31 - 1, interval.maximum],
    ] as const) {
      const name = `t${ttl}.dyn.example`
      dns.replies.set(name, { addresses: ['198.51.100.7'], ttl, alias: ['b.dyn.example', 'c.dyn.example'] })
      const { checked_at, next_check_at, addresses: found } = await add(name)
      expect(found).toEqual(['198.51.100.7'])
      expect(Date.parse(next_check_at) - Date.parse(checked_at ?? '')).toBe(seconds * 1000)
    }
  })
  test('that does not answer is added with the reason, and taken when it does', async () => {
    expect(await add('later.dyn.example')).toMatchObject({
      addresses: [],
      since: null,
      last_error: 'The name does not exist.',
    })
    dns.replies.set('later.dyn.example', bareReply('198.51.100.7'))
    expect(await lookAgain('later.dyn.example')).toMatchObject({ addresses: ['198.51.100.7'], last_error: null })
  })
  test.each([
    '',
    'office',
    'a b.example',
    'a\u0000.example',
    'a\n.example',
    'a\u202e.example',
    'a%2eb.example',
    'a..example',
    '.example',
    '-a.example',
    'a.example..',
    '192.0.2.1',
    '１９２.0.2.1',
    '2001:db8::1',
    '0x7f.1',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
    'http://a.example',
    '*.example',
  ])('is refused: %j', async name =>
    expect(await ask('POST', '/whitelist/names', { name })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'name' }] },
    }),
  )
  test('has one form, and is there once', async () => {
    expect(await add('BÜRO.dyn.example.')).toMatchObject({ name: 'xn--bro-hoa.dyn.example' })
    expect(await ask('POST', '/whitelist/names', { name: 'xn--BRO-hoa.dyn.example' })).toMatchObject({
      status: 409,
      json: { message: expect.stringContaining('xn--bro-hoa.dyn.example') },
    })
  })
})

describe('addresses of names', () => {
  test('are changed by the name only', async () => {
    dns.replies.set('a.dyn.example', bareReply('198.51.100.7'))
    await add('a.dyn.example')
    const [entry] = await entries()
    for (const [method, path, body] of [
      ['DELETE', `/whitelist/${entry?.id}`, undefined],
      ['PATCH', `/whitelist/${entry?.id}`, { expires_at: null }],
      ['POST', '/whitelist/remove', { ids: [entry?.id] }],
      ['POST', '/whitelist', { ip: '198.51.100.7' }],
    ] as const)
      expect(await ask(method, path, body)).toMatchObject({ status: 409 })
    expect(await addresses()).toEqual(['198.51.100.7'])
  })
  test('stay while another name has them, and beside an entry that somebody typed', async () => {
    dns.replies.set('a.dyn.example', bareReply('198.51.100.7', '198.51.100.8'))
    dns.replies.set('b.dyn.example', bareReply('198.51.100.7'))
    const typed = await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.8', description: 'typed' } })
    const { id } = await add('a.dyn.example')
    await add('b.dyn.example')
    expect(await addresses()).toEqual(['198.51.100.7', '198.51.100.8'])
    await removeName(id)
    expect(await entries()).toMatchObject([
      { ip: '198.51.100.8', description: 'typed' },
      { ip: '198.51.100.7', description: 'b.dyn.example' },
    ])
    // Of an entry that is taken off a name makes its own.
    dns.replies.set('b.dyn.example', bareReply('198.51.100.8'))
    await lookAgain('b.dyn.example')
    await admin.client.call('DELETE /whitelist/{id}', { params: { id: typed.id } })
    await eventually(async () => expect(await entries()).toMatchObject([{ description: 'b.dyn.example' }]))
    expect(await addresses()).toEqual(['198.51.100.8'])
  })
  test('that are banned are lifted, and told', async () => {
    const { id } = await host.client.call('POST /bans', { body: { ip: '198.51.100.66', jail: 'sshd' } })
    expect(id).toBeGreaterThan(0)
    dns.replies.set('a.dyn.example', bareReply('198.51.100.66'))
    const before = await countWarnings()
    await add('a.dyn.example')
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
    })
    expect(commands).toMatchObject([{ type: 'unban-ip', params: { jail: '*', ip: '198.51.100.66' } }])
    expect(await countWarnings()).toBe(before + 1)
  })
  test('a refused answer is told once, a failure after a day and once', async () => {
    dns.replies.set('a.dyn.example', bareReply('10.0.0.1'))
    const before = await countWarnings()
    await add('a.dyn.example')
    await lookAgain('a.dyn.example')
    expect(await countWarnings()).toBe(before + 1)
    dns.replies.set('a.dyn.example', bareReply('198.51.100.7'))
    await lookAgain('a.dyn.example')
    dns.replies.set('a.dyn.example', { code: 2 })
    await lookAgain('a.dyn.example')
    expect(await countWarnings()).toBe(before + 1)
    clock.forward(86_400)
    await lookAgain('a.dyn.example')
    await lookAgain('a.dyn.example')
    expect(await countWarnings()).toBe(before + 2)
  })
})

test('there are so many names at most', async () => {
  const { count } = bounds.whitelistNames
  for (let n = 0; n < count; n++) await add(`n${n}.dyn.example`)
  expect(await ask('POST', '/whitelist/names', { name: 'more.dyn.example' })).toMatchObject({ status: 409 })
})
