import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testAlone } from '../testing/alone.ts'
import { engine, paired, raw, startServer, within } from '../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../testing/index.ts'
import { withHost } from '../testing/scene.ts'

let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({}, made => ({ server, admin, host } = made))

const post = (body: string, headers: Record<string, string> = {}, path = '/api/v1/servers') =>
  raw(server, 'POST', path, { token: admin.token, body, headers })
/** The value of a line of the metrics; NaN when there is none. */
const metric = async (name: string) => {
  const { text } = await raw(server, 'GET', '/metrics')
  return Number(
    text
      .split('\n')
      .find(line => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? NaN,
  )
}
const isProblem = { error: expect.any(String), message: expect.any(String) }

describe('bodies', () => {
  test.each([
    '{',
    '{"hostname":"x",}',
    'hostname=x',
    '"',
    '{"a":1}}',
    'nul',
    '\u0000',
    '{"__proto__":{"x":1},"hostname":"x"}',
  ])('malformed: %j', async body =>
    expect(await post(body)).toMatchObject({ status: 400, json: { ...isProblem, error: 'Bad Request' } }),
  )
  test.each(['null', '[]', '7', '"text"', 'true'])('of another type: %s', async body =>
    expect(await post(body)).toMatchObject({ status: 400, json: isProblem }),
  )
  test('no JSON is 415, whatever it says', async () => {
    expect(await post('hostname=x', { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({
      status: 415,
      json: { error: 'Unsupported Media Type' },
    })
    expect(await post('{"hostname":"x"}', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
    expect(
      await post('{"hostname":"suffix"}', { 'content-type': 'application/problem+json; charset=utf-8' }),
    ).toMatchObject({ status: 201 })
  })
  test('an empty one counts as {}, whatever its type', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded'])
      expect(
        await raw(server, 'POST', '/api/v1/servers', { token: admin.token, headers: { 'content-type': type } }),
      ).toMatchObject({
        status: 400,
        json: { details: [{ path: 'hostname', message: 'hostname is required' }] },
      })
    const { id } = await admin.client.call('POST /servers', { body: { hostname: 'x' } })
    expect(
      await raw(server, 'PATCH', `/api/v1/servers/${id}`, {
        token: admin.token,
        headers: { 'content-type': 'application/json' },
      }),
    ).toMatchObject({ status: 200 })
    expect(
      await raw(server, 'DELETE', `/api/v1/servers/${id}`, {
        token: admin.token,
        headers: { 'content-type': 'application/json' },
      }),
    ).toMatchObject({ status: 200 })
  })
  test('unknown fields are named, also where none is taken', async () => {
    expect(await post('{"hostname":"x","color":1}')).toMatchObject({
      status: 400,
      json: { message: 'Color is not a known field.', details: [{ path: 'color' }] },
    })
    expect(await post('{"x":1}', {}, `/api/v1/servers/${host.id}/regenerate-token`)).toMatchObject({
      status: 400,
      json: { details: [{ path: 'x' }] },
    })
  })
  test('unknown parameters are named, also to a host, whose bodies may hold what an older server does not know', async () => {
    const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
      raw(server, method, `/api/v1${path}`, { token: host.key, ...(body ? { body } : {}) })
    const refused = { status: 400, json: { details: [{ path: 'color' }] } }
    const beat = { hostname: 'web-01', color: 1 }
    expect(await ask('GET', `/servers/${host.id}/commands/pending?color=1`)).toMatchObject(refused)
    expect(await ask('POST', '/servers/heartbeat?color=1', beat)).toMatchObject(refused)
    expect(await ask('POST', '/servers/heartbeat', beat)).toMatchObject({ status: 200 })
  })
  testAlone('too large is 413', async () => {
    expect(await post(JSON.stringify({ hostname: 'x'.repeat(1024 * 1024) }))).toMatchObject({
      status: 413,
      json: { error: 'Payload Too Large' },
    })
    const bans = [{ ip: '203.0.113.1', jail: 'sshd', log_lines: 'x'.repeat(2 * 1024 * 1024) }]
    expect(await raw(server, 'POST', '/api/v1/bans/batch', { token: host.key, body: { bans } })).toMatchObject({
      status: 200,
    })
    bans[0] = { ip: '203.0.113.1', jail: 'sshd', log_lines: 'x'.repeat(17 * 1024 * 1024) }
    expect(await raw(server, 'POST', '/api/v1/bans/batch', { token: host.key, body: { bans } })).toMatchObject({
      status: 413,
    })
  })
  test.each([
    ['with its length', `content-length: ${6 * 1024 * 1024}`],
    ['in chunks', 'transfer-encoding: chunked'],
  ])('a client that reads only once it has written everything learns that too, %s', async (_, framing) => {
    const body = Buffer.alloc(6 * 1024 * 1024, 32)
    const sent = framing.endsWith('chunked')
      ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
      : body
    const socket = connect(server.port, '127.0.0.1').setEncoding('utf8').pause()
    try {
      const head = `POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n`
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.write(`${head}${framing}\r\n\r\n`)
        socket.write(sent, error => (error ? reject(error) : resolve()))
      })
      expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 413 [^]*Payload Too Large/)
    } finally {
      socket.destroy()
    }
  })
  test('broken UTF-8 and NUL are stored as the replacement character', async () => {
    const reply = await fetch(`${server.url}/api/v1/servers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
      body: Buffer.concat([
        Buffer.from('{"hostname":"a'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('\\u0000\\\\u0000"}'),
      ]),
    })
    expect(reply.status).toBe(201)
    expect(await reply.json()).toMatchObject({ hostname: 'a\ufffd\ufffd\ufffd\\u0000' })
  })
})

describe('paths', () => {
  test('unknown ones are 404, known ones with another method 405', async () => {
    for (const path of ['/api', '/api/v1', '/api/v1/nothing', '/api/v2/servers', '/agent/nothing'])
      expect(await raw(server, 'GET', path, { token: admin.token }), path).toMatchObject({
        status: 404,
        json: { error: 'Not Found' },
      })
    const wrong = await raw(server, 'PUT', '/api/v1/servers', { token: admin.token, body: {} })
    expect(wrong).toMatchObject({ status: 405, json: { error: 'Method Not Allowed' } })
    expect(wrong.headers.get('allow')).toBe('GET, POST')
    expect((await raw(server, 'DELETE', '/api/v1/auth/login')).headers.get('allow')).toBe('POST')
    for (const path of ['/api/docs', '/api/openapi.json', '/metrics', '/install.sh', '/agent/stockade-agent.mjs'])
      expect((await raw(server, 'POST', path)).headers.get('allow'), path).toBe('GET')
  })
  test('malformed escapes and ids are 400', async () => {
    for (const path of [
      '/api/v1/servers/%zz',
      '/api/v1/servers/nope',
      '/api/v1/servers/..%2f..%2fetc',
      `/api/v1/servers/${'x'.repeat(400)}`,
    ])
      expect(await raw(server, 'GET', path, { token: admin.token }), path).toMatchObject({
        status: 400,
        json: isProblem,
      })
  })
})

test('nothing leaks: no stack, no SQL, no path, in any refusal', async () => {
  const replies = await Promise.all([
    post('{'),
    post('[]'),
    raw(server, 'GET', '/api/v1/bans/x', { token: admin.token }),
    raw(server, 'GET', "/api/v1/bans?jail='", { token: admin.token }),
  ])
  for (const reply of replies) expect(reply.text).not.toMatch(/node_modules|\.ts|select |at \w+ \(|SQLITE/i)
})

test('garbage on the wire does not stop it', async () => {
  for (const garbage of [
    '\u0000\u0001\u0002\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'POST /api/v1/bans HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
    `GET /${'x'.repeat(70_000)} HTTP/1.1\r\n\r\n`,
  ])
    await within(
      new Promise<void>(resolve => {
        const socket = connect(server.port, '127.0.0.1', () => socket.end(garbage))
        socket.on('close', () => resolve())
        socket.on('error', () => resolve())
        socket.resume()
      }),
      'the end of the connection',
    )
  expect(await raw(server, 'GET', '/api/v1/health')).toMatchObject({
    status: 200,
    json: { status: 'ok', version: expect.any(String) },
  })
})

test('health, readiness, metrics, docs', async () => {
  expect(await raw(server, 'GET', '/api/v1/ready')).toMatchObject({ status: 200 })
  const before = await metric('stockade_search_seconds_count{outcome="answered"}')
  await admin.client.call('GET /bans', { query: { q: 'log:nothing' } })
  expect(await metric('stockade_servers{status="pending"}')).toBeGreaterThan(0)
  // Of two processes, another one may be asked.
  if (!paired) expect(await metric('stockade_search_seconds_count{outcome="answered"}')).toBeGreaterThan(before)
  expect(await metric('stockade_search_seconds_count{outcome="too_long"}')).toBe(0)
  if (engine === 'sqlite') expect(await metric('stockade_sqlite_log_bytes')).toBeGreaterThan(0)
  expect(await raw(server, 'GET', '/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })).toMatchObject({
    status: 403,
  })
  const { key } = await admin.client.call('POST /keys', { body: { name: 'prometheus' } })
  expect(
    await raw(server, 'GET', '/metrics', { token: key, headers: { 'x-forwarded-for': '203.0.113.1' } }),
  ).toMatchObject({ status: 200 })
  const docs = await raw(server, 'GET', '/api/docs')
  expect(docs.headers.get('content-type')).toMatch(/text\/html/)
  expect(docs.text).toContain('/api/v1/bans')
  expect(docs.text).not.toMatch(/https?:\/\/(?!localhost|127\.0\.0\.1|www\.apache\.org|[\w.-]*\.example)/)
})

test('built files come compressed as the browser takes them, and for ever', async () => {
  const page = await raw(server, 'GET', '/')
  const [script = ''] = /assets\/app-[\w-]+\.js/.exec(page.text) ?? []
  const texts = await Promise.all(
    ['br', 'gzip', 'identity'].map(async encoding => {
      const { status, headers, text } = await raw(server, 'GET', `/${script}`, {
        headers: { 'accept-encoding': encoding },
      })
      expect(status).toBe(200)
      expect(headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
      expect(headers.get('content-type')).toMatch(/javascript/)
      expect(headers.get('vary')).toMatch(/accept-encoding/i)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      return text
    }),
  )
  expect(new Set(texts).size).toBe(1)
  expect((await raw(server, 'GET', '/assets/')).status).toBe(404)
  expect((await raw(server, 'GET', '/assets/..%2f..%2fpackage.json')).text).not.toContain('"name"')
})

test('long lists that hold no secret come compressed to those who take it; other answers as they are', async () => {
  const ask = (path: string, encoding: string) =>
    raw(server, 'GET', `/api/v1${path}`, { token: admin.token, headers: { 'accept-encoding': encoding } })
  const [small, plain, other] = await Promise.all([
    ask('/templates', 'gzip'),
    ask('/templates', 'identity'),
    ask('/bootstrap', 'gzip'),
  ])
  expect(small.headers.get('content-encoding')).toBe('gzip')
  expect(small.headers.get('vary')).toBe('Accept-Encoding')
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(small.json).toEqual(plain.json)
  expect(Number(small.headers.get('content-length'))).toBeLessThan(plain.text.length / 2)
  expect(other.text.length).toBeGreaterThan(1024)
  expect(other.headers.get('content-encoding')).toBeNull()
})

describe('budgets', () => {
  testAlone('every answer tells what is left; past it 429 says when', async () => {
    const limited = await startServer({ env: { STOCKADE_RATE_LIMIT: '5', STOCKADE_RATE_LIMIT_SENSITIVE: '2' } })
    try {
      const root = await limited.setUp()
      const get = () => raw(limited, 'GET', '/api/v1/servers', { token: root.token })
      const began = Date.now()
      const left = []
      for (let n = 0; n < 5; n++) left.push((await get()).headers.get('x-ratelimit-remaining'))
      expect(left).toEqual(['4', '3', '2', '1', '0'])
      const refused = await get()
      expect(refused).toMatchObject({
        status: 429,
        json: { error: 'Too Many Requests', message: expect.stringMatching(/again in \d+ seconds/) },
      })
      expect(refused.headers.get('x-ratelimit-limit')).toBe('5')
      // A minute after the first of them.
      const reset = 1000 * Number(refused.headers.get('x-ratelimit-reset'))
      expect(reset).toBeGreaterThanOrEqual(began + 59_000)
      expect(reset).toBeLessThanOrEqual(Date.now() + 61_000)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      // Another credential has a budget of its own, and so have sensitive endpoints; the set-up took one of two.
      const login = () => raw(limited, 'POST', '/api/v1/auth/login', { body: { username: 'x', password: 'y' } })
      expect((await login()).status).toBe(401)
      expect((await login()).status).toBe(429)
      // Refused before the body is read.
      expect(await raw(limited, 'POST', '/api/v1/auth/login', { body: '{broken' })).toMatchObject({ status: 429 })
    } finally {
      await limited.close()
    }
  })
  testAlone('the security log has a line for each refusal, also by the budget and whatever was typed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-security-log-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'security.log')
    const guarded = await startServer({ env: { STOCKADE_RATE_LIMIT_SENSITIVE: '1', STOCKADE_SECURITY_LOG: file } })
    onTestFinished(() => guarded.close())
    const body = { username: 'anna"\n401 from 198.51.100.1', password: 'y' }
    const login = async () => (await raw(guarded, 'POST', '/api/v1/auth/login', { body })).status
    expect((await Promise.all([login(), login()])).sort()).toEqual([401, 429])
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    expect(lines.map(line => line.replace(/^\S+ /, '')).sort()).toEqual([
      'stockade-auth: 401 from 127.0.0.1 POST /api/v1/auth/login user="anna??401?from?198.51.100.1"',
      'stockade-auth: 429 from 127.0.0.1 POST /api/v1/auth/login',
    ])
  })
  testAlone('a forwarding header counts only from a trusted proxy', async () => {
    const env = { STOCKADE_RATE_LIMIT: '3' }
    const [plain, behind] = [
      await startServer({ env }),
      await startServer({ env: { ...env, STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' } }),
    ]
    const statuses = async (on: TestServer) => {
      const seen = []
      for (let n = 0; n < 5; n++)
        seen.push(
          (await raw(on, 'GET', '/api/v1/auth/options', { headers: { 'x-forwarded-for': `203.0.113.${n}` } })).status,
        )
      return seen
    }
    try {
      expect(await statuses(plain)).toEqual([200, 200, 200, 429, 429])
      expect(await statuses(behind)).toEqual([200, 200, 200, 200, 200])
      // Nonsense from a trusted proxy is the proxy itself, and neighbours in a /64 are one caller.
      for (let n = 0; n < 4; n++)
        await raw(behind, 'GET', '/api/v1/auth/options', { headers: { 'x-forwarded-for': `2001:db8::${n}` } })
      expect(
        await raw(behind, 'GET', '/api/v1/auth/options', { headers: { 'x-forwarded-for': '2001:db8::ffff' } }),
      ).toMatchObject({ status: 429 })
    } finally {
      await plain.close()
      await behind.close()
    }
  })
})

test('a base URL with a path is answered with the path and without', async () => {
  const env = { STOCKADE_BASE_URL: 'https://ban.example/stockade' }
  const under = await startServer({ env })
  try {
    for (const path of ['/stockade/api/v1/health', '/api/v1/health'])
      expect(await raw(under, 'GET', path)).toMatchObject({ status: 200 })
    const { client } = await under.setUp()
    expect(await client.call('POST /servers', { body: { hostname: 'x' } })).toMatchObject({
      install_command: expect.stringMatching(/^curl -fsSL https:\/\/ban\.example\/stockade\/install\.sh \|/),
    })
    const login = await raw(under, 'POST', '/stockade/api/v1/auth/login', {
      body: { username: 'admin', password: 'Sup3r-secret-1' },
    })
    expect(login.headers.get('set-cookie')).toMatch(/^__Host-stockade_session=.*; Secure/)
  } finally {
    await under.close()
  }
})

test('no forwarding header of a stranger changes who the caller is', async () => {
  const part = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom(
      'unknown',
      '',
      ' ',
      '127.0.0.1',
      '_hidden',
      '"[2001:db8::1]:80"',
      '999.1.1.1',
      'for=203.0.113.9',
      '10.0.0.1:22',
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }).map(text => text.replace(/[^\x21-\x7e]/g, '')),
  )
  const names = fc.constantFrom(
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'via',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(names, fc.array(part, { maxLength: 4 })), { maxLength: 4 }), async pairs => {
      const headers = Object.fromEntries(pairs.map(([name, parts]) => [name, parts.join(', ')]))
      const reply = await raw(server, 'GET', '/api/v1/auth/me', { token: admin.token, headers })
      expect((reply.json as { ip_address?: string }).ip_address).toBe('127.0.0.1')
    }),
    { numRuns: 300 },
  )
})
