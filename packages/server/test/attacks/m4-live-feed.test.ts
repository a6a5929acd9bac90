import { expect, test } from 'vitest'
import WebSocket from 'ws'
import { eventually, movableClock, password, raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* An open live feed kept its session alive for ever, and one user could open thousands of them. */

const clock = movableClock()
let server: TestServer
let admin: Signed
withServer({ clock }, made => ({ server, admin } = made))

interface Feed {
  readonly socket: WebSocket
  readonly opened: Promise<void>
  readonly closed: Promise<number>
}
const open = (protocols: string[], headers: Record<string, string> = {}): Feed => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, protocols, { headers })
  socket.on('error', () => {})
  return {
    socket,
    opened: new Promise(resolve => socket.once('open', resolve)),
    closed: new Promise(resolve => socket.once('close', resolve)),
  }
}
const cookieOf = async () => {
  const reply = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}
const me = async (cookie: string) => (await raw(server, 'GET', '/api/v1/auth/me', { headers: { cookie } })).status

test('an open feed is no activity: its session ends when nothing else is done with it, and the feed with it', async () => {
  await admin.client.call('PATCH /settings', { body: { security: { session_timeout: 3600 } } })
  const cookie = await cookieOf()
  expect(await me(cookie)).toBe(200)
  const feed = open(['stockade.v1'], { cookie, origin: server.url })
  await feed.opened
  let ended: number | null = null
  void feed.closed.then(code => (ended = code))
  clock.forward(3000)
  // The feed goes on while its session does; only what is asked for keeps it.
  const other = open(['stockade.v1'], { cookie, origin: server.url })
  await other.opened
  expect(ended).toBe(null)
  clock.forward(3000)
  expect(await feed.closed).toBe(4401)
  expect(await other.closed).toBe(4401)
  expect(await me(cookie)).toBe(401)
})
test('ten for one user, with whatever credential', async () => {
  admin = await server.signIn()
  const bearer = `bearer.${admin.token}`
  const cookie = await cookieOf()
  const feeds = Array.from({ length: 10 }, (_, n) =>
    n % 2 === 0 ? open(['stockade.v1', bearer]) : open(['stockade.v1'], { cookie, origin: server.url }),
  )
  for (const feed of feeds) await feed.opened
  const { key } = await admin.client.call('POST /keys', { body: { name: 'mine' } })
  expect(await open(['stockade.v1', `bearer.${key}`]).closed).toBe(1013)
  expect(await open(['stockade.v1', bearer]).closed).toBe(1013)
  feeds[0]?.socket.close()
  await eventually(async () => {
    const again = open(['stockade.v1', bearer])
    const closed = await Promise.race([
      again.closed,
      again.opened.then(() => new Promise(done => setTimeout(done, 200, 0))),
    ])
    expect(closed).toBe(0)
  })
  for (const { socket } of feeds) socket.terminate()
})
