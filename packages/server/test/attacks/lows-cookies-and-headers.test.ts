import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { endpoints } from '@stockade/contract'
import { password, raw, startServer, within } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'

/*
 * Under an https address: a page that came in the clear, which anybody on the way could have written, sent changes along with the cookie; and a
 * cookie of the plain name, which a sibling host can plant, was taken. Some replies said nothing about the guessing of types.
 */

const site = 'https://stockade.example'
let server: TestServer
let admin: Signed
/** `__Host-stockade_session=...`, and what stands in it. */
let cookie: string
let session: string
beforeAll(async () => {
  server = await startServer({ env: { STOCKADE_BASE_URL: site } })
  admin = await server.setUp()
  const login = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
  cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  session = cookie.slice(cookie.indexOf('=') + 1)
})
afterAll(() => server.close())

const add = (ip: string, headers: Record<string, string>) =>
  raw(server, 'POST', '/api/v1/whitelist', { headers, body: { ip } })
const me = (sent: string) => raw(server, 'GET', '/api/v1/auth/me', { headers: { cookie: sent } })
/** The status of a refused live feed; 101 for one that opens. */
const feed = (headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1'], { headers })
    socket.once('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.once('unexpected-response', (asked, response) => {
      asked.destroy()
      resolve(response.statusCode ?? 0)
    })
    socket.on('error', reject)
  })

describe('a change by cookie', () => {
  test('is refused to pages that came in the clear, also from the same host', async () => {
    const own = `http://127.0.0.1:${server.port}`
    const refused: Record<string, string>[] = [
      { origin: 'http://stockade.example' },
      { origin: own },
      { origin: 'null' },
      { referer: 'http://stockade.example/whitelist' },
      { referer: `${own}/whitelist` },
      // The origin counts, whatever page it names beside.
      { origin: 'http://stockade.example', referer: `${site}/whitelist` },
      {},
    ]
    for (const sent of refused)
      expect([sent, await add('198.51.100.7', { cookie, ...sent })]).toMatchObject([
        sent,
        { status: 403, json: { message: expect.stringContaining(`needs the Origin of this dashboard, ${site}`) } },
      ])
    expect(await admin.client.call('GET /whitelist')).toMatchObject({ total: 0 })
    expect((await add('198.51.100.8', { cookie, origin: site })).status).toBe(201)
    expect((await add('198.51.100.9', { cookie, referer: `${site}/whitelist` })).status).toBe(201)
  })
  test('and a live feed, too', async () => {
    expect(await feed({ cookie, origin: 'http://stockade.example' })).toBe(403)
    expect(await feed({ cookie, origin: site })).toBe(101)
  })
})

describe('a cookie of the plain name', () => {
  test('signs nobody in, even with a session that is good', async () => {
    expect((await me(`stockade_session=${session}`)).status).toBe(401)
    expect((await add('198.51.100.10', { cookie: `stockade_session=${session}`, origin: site })).status).toBe(401)
    expect(await feed({ cookie: `stockade_session=${session}`, origin: site })).toBe(401)
  })
  test('does not put its session in place of one that is there', async () => {
    const body = { username: 'mallory', email: 'mallory@stockade.example', password }
    await admin.client.call('POST /users', { body })
    const login = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'mallory', password } })
    const planted = `stockade_session=${login.headers.get('set-cookie')?.split(';')[0]?.split('=')[1] ?? ''}`
    for (const sent of [`${planted}; ${cookie}`, `${cookie}; ${planted}`])
      expect((await me(sent)).json).toMatchObject({ username: 'admin' })
  })
})

describe('no reply lets types be guessed', () => {
  const lacks = async (asked: readonly (readonly [method: string, path: string, token?: string])[]) => {
    const replies = await Promise.all(
      asked.map(async ([method, path, token]) => {
        const { status, headers } = await raw(server, method, path, token ? { token } : {})
        return { asked: `${method} ${path}`, status, nosniff: headers.get('x-content-type-options') === 'nosniff' }
      }),
    )
    return { statuses: new Set(replies.map(({ status }) => status)), bare: replies.filter(({ nosniff }) => !nosniff) }
  }
  test('of the API, with a credential and without', async () => {
    const paths = endpoints.map(({ method, path }) => [method, `/api/v1${path.replace(/\{\w+\}/g, '1')}`] as const)
    const strange = await lacks(paths)
    expect(strange.bare).toEqual([])
    const own = await lacks(paths.filter(([method]) => method === 'GET').map(one => [...one, admin.token] as const))
    expect(own.bare).toEqual([])
    expect([...strange.statuses]).toEqual(expect.arrayContaining([400, 401]))
    expect([...own.statuses]).toEqual(expect.arrayContaining([200, 404]))
  })
  test('of files, pages, the installer, and what is not there', async () => {
    const page = (await raw(server, 'GET', '/')).text
    const built = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    const paths = [
      ...['/', '/bans', '/icon.svg', '/install.sh', '/agent/stockade-agent.mjs', '/agent/MANIFEST', '/metrics'],
      ...[
        '/api/openapi.json',
        '/api/docs',
        '/api/docs.css',
        '/api/docs.js',
        '/api/v1/none',
        '/assets/none.js',
        '/agent/none',
        '/none',
      ],
      ...['/%', '/%00', '/api/v1/%zz', '/..%2f..%2fetc/passwd', `/${'a'.repeat(3000)}`, '/api/v1/bans?limit=x'],
      ...built,
    ]
    const found = await lacks(
      paths.flatMap(path => ['GET', 'HEAD', 'POST', 'OPTIONS'].map(way => [way, path] as const)),
    )
    expect(found.bare).toEqual([])
    expect([...found.statuses]).toEqual(expect.arrayContaining([200, 404]))
  })
  test.each([
    ['no request at all', 'nonsense\r\n\r\n', 400],
    ['a head without end', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['a method that nobody knows', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a length that is none', 'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 400],
  ])('of what is no HTTP: %s', async (_, sent, status) => {
    const reply = await within(
      new Promise<string>((resolve, reject) => {
        const socket = connect(server.port, '127.0.0.1', () => socket.write(sent))
        let text = ''
        socket.on('data', data => (text += String(data)))
        socket.once('close', () => resolve(text))
        socket.once('error', reject)
      }),
      'the end of the answer',
    )
    expect(reply).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const [, body = ''] = reply.split('\r\n\r\n')
    expect(JSON.parse(body)).toEqual({ error: expect.any(String), message: expect.stringMatching(/\.$/) })
    expect(reply.toLowerCase()).toContain('\r\nx-content-type-options: nosniff\r\n')
  })
})

test('a newcomer who types an https address before there is one goes on', async () => {
  const typed = await startServer()
  try {
    const { token } = await typed.setUp()
    const login = await raw(typed, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
    const headers = { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '', origin: typed.url }
    await raw(typed, 'PATCH', '/api/v1/settings', {
      token,
      body: { service: { site_url: 'https://stockade.example' } },
    })
    expect(await raw(typed, 'GET', '/api/v1/auth/me', { headers })).toMatchObject({ status: 200 })
    const body = { service: { site_url: typed.url } }
    expect(await raw(typed, 'PATCH', '/api/v1/settings', { headers, body })).toMatchObject({ status: 200 })
  } finally {
    await typed.close()
  }
})
