import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Refused, createOutgoing } from './outgoing.ts'

/** Sockets that anybody opened in this process: a refusal opens none. */
let opened = 0
const note = () => void opened++
beforeAll(() => subscribe('net.client.socket', note))
afterAll(() => void unsubscribe('net.client.socket', note))
beforeEach(() => {
  opened = 0
})

/** What nobody may reach, as IPv4. */
const forbidden4 = [
  '0.0.0.0',
  '0.0.0.1',
  '0.255.255.255',
  '169.254.0.1',
  '169.254.169.254',
  '169.254.255.255',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
]
const forbidden6 = [
  '::',
  'fe80::1',
  'febf:ffff::1',
  'fe80::a9fe:a9fe',
  'fec0::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'ff02::1',
  'ff05::2',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]
const hex = (n: number) => n.toString(16)
const groups = (bytes: readonly number[]) =>
  [0, 2].map(at => ((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)).toString(16)).join(':')
/** Everything that some parser, translator or tunnel takes for the same IPv4 address. */
const disguises4 = (dotted: string): string[] => {
  const bytes = dotted.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const wide = [...dotted].map(char => (/\d/.test(char) ? String.fromCharCode(0xff10 + Number(char)) : char)).join('')
  return [
    dotted,
    `${dotted}.`,
    String(whole),
    `0x${hex(whole)}`,
    `0${whole.toString(8)}`,
    bytes.map(byte => `0x${hex(byte)}`).join('.'),
    bytes.map(byte => `0${byte.toString(8)}`).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${b * 65_536 + c * 256 + d}`,
    wide,
    dotted.replaceAll('.', '\u3002'),
    dotted.replaceAll('.', '\uff0e'),
    `[::ffff:${dotted}]`,
    `[::ffff:${groups(bytes)}]`,
    `[0:0:0:0:0:FFFF:${groups(bytes)}]`,
    `[64:ff9b::${dotted}]`,
    `[64:ff9b:1::${dotted}]`,
    `[64:ff9b:1:${hex(a * 256 + b)}:${hex(c)}:${hex(d * 256)}::]`,
    `[2002:${groups(bytes)}::1]`,
    `[2001:0:203.0.113.1:0:0:${groups(bytes.map(byte => byte ^ 0xff))}]`.replace('203.0.113.1', 'cb00:7101'),
    `[2001:0:${groups(bytes)}:0:0:3c00:8efe]`,
    `[::ffff:0:${dotted}]`,
    `[2001:db8::5efe:${dotted}]`,
    `[2001:db8::200:5efe:${dotted}]`,
    ...(a > 0 ? [`[::${dotted}]`] : []),
  ]
}
const percent = (host: string) => [...host].map(char => `%${hex(char.charCodeAt(0))}`).join('')
const hostsOf = (): string[] => [
  ...forbidden4.flatMap(disguises4),
  ...forbidden6.flatMap(text => [`[${text}]`, `[${text.toUpperCase()}]`]),
  '[fe80::1%eth0]',
  '[fe80::1%25eth0]',
]
const urlsOf = (): string[] => [
  ...hostsOf().map((host, n) => `${n % 2 ? 'https' : 'http'}://${host}${n % 3 ? '' : ':8080'}/latest/meta-data/`),
  `http://${percent('169.254.169.254')}/`,
  'http://user@169.254.169.254/',
  'http://203.0.113.1@169.254.169.254/',
  'http://203.0.113.1:80@169.254.169.254:80/',
  'http://user:secret@203.0.113.1/',
  'http://169.254.169.254\\@203.0.113.1/',
  'http:169.254.169.254/',
  'http:\\\\169.254.169.254\\latest',
  'http:///169.254.169.254/',
  '\thttp://169.254.169.254/\n',
  'ht\ntp://169.254.1\n69.254/',
  'file:///etc/passwd',
  'ftp://203.0.113.1/',
  'gopher://203.0.113.1:6379/_INFO',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'unix:/run/docker.sock',
  '//169.254.169.254/',
  '169.254.169.254',
  'http://',
  'http://[::1',
  'http://203.0.113.1:99999/',
  'http://203.0.113.1:0/',
  '',
]
/** Names and all that they resolve to: one bad address among good ones is enough. */
const names: Record<string, readonly string[]> = {
  ...Object.fromEntries(forbidden4.map((ip, n) => [`plain${n}.example`, [ip]])),
  ...Object.fromEntries(forbidden6.map((ip, n) => [`six${n}.example`, [ip]])),
  ...Object.fromEntries(forbidden4.map((ip, n) => [`mixed${n}.example`, ['203.0.113.7', ip]])),
  ...Object.fromEntries(forbidden4.map((ip, n) => [`mapped${n}.example`, [`::ffff:${ip}`, '2001:db8::1']])),
  ...Object.fromEntries(forbidden4.map((ip, n) => [`nat${n}.example`, [`64:ff9b::${ip}`]])),
  'zone.example': ['fe80::1%eth0'],
  'odd.example': ['0x7f.1'],
  'empty.example': [],
}
const resolve = async (name: string): Promise<readonly string[]> => {
  const found = names[name]
  if (!found) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  return found
}

describe('what may not be reached', () => {
  const outgoing = createOutgoing({ ports: [8420], databases: [], resolve })

  test('the corpus is as large as it says', () => {
    expect(new Set([...urlsOf(), ...Object.keys(names)]).size).toBeGreaterThan(400)
  })

  test('no address in any disguise is called', async () => {
    for (const url of urlsOf()) {
      const answer = await outgoing.request(url, { timeout: 300 }).catch((error: unknown) => error)
      expect([url, answer]).toEqual([url, expect.any(Refused)])
    }
    expect(opened).toBe(0)
  })

  test('nor a name that has one, in any spelling', async () => {
    for (const name of Object.keys(names))
      for (const spelled of [name, `${name}.`, name.toUpperCase(), name.replaceAll('.', '\u3002')]) {
        const answer = await outgoing.request(`http://${spelled}/`, { timeout: 300 }).catch((error: unknown) => error)
        expect([spelled, answer]).toEqual([spelled, expect.any(Refused)])
      }
    expect(opened).toBe(0)
  })

  test('the same holds for hosts without a URL, as mail servers have them', async () => {
    const more = ['', ' ', 'a b', 'a/b', 'a@b', 'a%62', 'a\u0000b', '1.2.3.4:25', '[::1', '::1]x', 'x'.repeat(300)]
    for (const host of [...hostsOf(), ...hostsOf().map(host => host.replace(/^\[|\]$/g, '')), ...more])
      expect([host, await outgoing.reach(host, 25).catch((error: unknown) => error)]).toEqual([
        host,
        expect.any(Refused),
      ])
    for (const port of [0, -1, 65_536, 1.5, NaN])
      await expect(outgoing.reach('203.0.113.1', port)).rejects.toThrow(Refused)
  })

  test.each([
    ['203.0.113.1', '203.0.113.1', 4],
    ['[2001:db8::1]', '2001:db8::1', 6],
    ['2001:DB8::1', '2001:db8::1', 6],
    ['10.0.0.5', '10.0.0.5', 4],
    ['192.168.1.1', '192.168.1.1', 4],
    ['fd12:3456::1', 'fd12:3456::1', 6],
    ['127.0.0.1', '127.0.0.1', 4],
    ['::1', '::1', 6],
    ['2130706433', '127.0.0.1', 4],
    ['::ffff:10.0.0.5', '10.0.0.5', 4],
  ])('%s may: private networks are where relays live', async (host, address, family) => {
    expect(await outgoing.reach(host, 25)).toMatchObject({ address, family, port: 25 })
  })
})

test('neither this server nor its database, by whatever address or name', async () => {
  const own = Object.values(networkInterfaces()).flatMap(list => list?.map(({ address }) => address) ?? [])
  const outgoing = createOutgoing({
    ports: [8420],
    baseUrl: () => 'https://Stockade.Example.:8443/here',
    databases: [
      { host: 'db.example', port: 5432 },
      { host: '192.0.2.7', port: 5433 },
    ],
    resolve: async name =>
      ({ 'db.example': ['192.0.2.5'], 'alias.example': ['192.0.2.5'], 'me.example': ['127.0.0.1'] })[name] ?? [
        '203.0.113.1',
      ],
  })
  const local = createOutgoing({
    ports: [],
    databases: [{ host: 'localhost', port: 5432 }],
    resolve: async () => ['127.0.0.1'],
  })
  const hosts = [
    ...own.filter(ip => !ip.startsWith('fe80')),
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::127.0.0.1',
    'me.example',
  ]
  for (const host of hosts) {
    await expect(outgoing.reach(host, 8420)).rejects.toThrow(/is this server itself/)
    expect((await outgoing.reach(host, 8421)).port).toBe(8421)
    await expect(local.reach(host, 5432)).rejects.toThrow(/is this server's database/)
  }
  for (const host of ['stockade.example', 'STOCKADE.example.', 'stockade\u3002example'])
    await expect(outgoing.reach(host, 8443)).rejects.toThrow(/is this server itself/)
  expect((await outgoing.reach('stockade.example', 443)).address).toBe('203.0.113.1')
  for (const host of ['db.example', 'alias.example', '192.0.2.5', '3221225989'])
    await expect(outgoing.reach(host, 5432)).rejects.toThrow(/is this server's database/)
  await expect(outgoing.reach('192.0.2.7', 5433)).rejects.toThrow(/is this server's database/)
  expect((await outgoing.reach('192.0.2.6', 5432)).address).toBe('192.0.2.6')
})

describe('a request', () => {
  const hits: string[] = []
  const server = createServer((request, reply) => {
    hits.push(`${request.headers.host ?? ''}${request.url ?? ''}`)
    if (request.url === '/redirect') reply.writeHead(302, { location: '/ok' }).end('elsewhere')
    else if (request.url === '/endless') {
      const more = () => {
        while (!reply.destroyed && reply.write('x'.repeat(65_536)));
      }
      reply.on('drain', more)
      more()
    } else if (request.url === '/drip') {
      reply.write('x')
      const drip = setInterval(() => reply.write('x'), 20)
      reply.on('close', () => clearInterval(drip))
    } else if (request.url !== '/silent') reply.end('fine')
  })
  let port = 0
  beforeAll(async () => {
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    ;({ port } = server.address() as AddressInfo)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    hits.length = 0
  })

  test('goes to the address that was checked: a name is resolved once', async () => {
    let asked = 0
    const outgoing = createOutgoing({
      ports: [],
      databases: [],
      // A name that turns to the metadata address after the check.
      resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']),
    })
    const reply = await outgoing.request(`http://turning.example:${port}/ok`, { timeout: 2000 })
    expect([reply.status, reply.text, asked, opened]).toEqual([200, 'fine', 1, 1])
    expect(hits).toEqual([`turning.example:${port}/ok`])
    await expect(outgoing.request(`http://turning.example:${port}/ok`, { timeout: 2000 })).rejects.toThrow(Refused)
    expect(opened).toBe(1)
  })

  test('lets a request judge every address of its target, and the IPv4 addresses inside of them', async () => {
    const judged: string[] = []
    const judge = (ip: { readonly text: string }) => {
      judged.push(ip.text)
      return ip.text === '10.0.0.1' ? 'not this one' : null
    }
    const answers: Record<string, readonly string[]> = {
      'good.example': ['127.0.0.1', '203.0.113.7'],
      'second.example': ['127.0.0.1', '10.0.0.1'],
      'nat.example': ['64:ff9b::10.0.0.1'],
      'six.example': ['2002:a00:1::1'],
    }
    const outgoing = createOutgoing({ ports: [], databases: [], resolve: async name => answers[name] ?? [] })
    const request = (host: string) => outgoing.request(`http://${host}:${port}/ok`, { timeout: 2000, judge })
    expect((await request('good.example')).text).toBe('fine')
    expect(judged).toEqual(['127.0.0.1', '203.0.113.7'])
    for (const host of ['second.example', 'nat.example', 'six.example', '10.0.0.1', '[::ffff:a00:1]'])
      await expect(request(host)).rejects.toThrow('not this one')
    expect([hits.length, opened]).toEqual([1, 1])
  })

  const outgoing = createOutgoing({ ports: [], databases: [] })
  const ask = (path: string, options: { timeout?: number; most?: number } = {}) =>
    outgoing.request(`http://127.0.0.1:${port}${path}`, { timeout: 2000, ...options })

  test('follows no redirect', async () => {
    expect((await ask('/redirect')).status).toBe(302)
    expect(hits).toHaveLength(1)
  })

  test('reads no more than it wants, and waits no longer than it says', async () => {
    expect((await ask('/endless')).text).toHaveLength(64 * 1024)
    expect((await ask('/endless', { most: 10 })).text).toHaveLength(10)
    await expect(ask('/silent', { timeout: 150 })).rejects.toThrow('no answer within 0.15 s')
    await expect(ask('/drip', { timeout: 150 })).rejects.toThrow('no answer within 0.15 s')
    const slow = createOutgoing({ ports: [], databases: [], resolve: () => new Promise<never>(() => {}) })
    await expect(slow.request('http://slow.example/', { timeout: 150 })).rejects.toThrow('no answer within 0.15 s')
  })
})
