import { expect, test } from 'vitest'
import WebSocket from 'ws'
import type { LiveMessage } from '@stockade/contract'
import { aHost, eventually, password, raw, within } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

/** Opens a feed and keeps what it hears. */
const listen = (protocols: string[], headers: Record<string, string> = {}, query = '') =>
  new Promise<{ heard: LiveMessage[]; socket: WebSocket; closed: Promise<number> }>((resolve, reject) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws${query}`, protocols, { headers })
    const heard: LiveMessage[] = []
    socket.on('message', data => heard.push(JSON.parse(String(data)) as LiveMessage))
    const closed = new Promise<number>(done => socket.on('close', done))
    socket.on('open', () => resolve({ heard, socket, closed }))
    socket.on('error', reject)
    socket.on('unexpected-response', (_, response) => reject(new Error(String(response.statusCode))))
  })
const bearer = (token: string) => listen(['stockade.v1', `bearer.${token}`])
const types = (heard: readonly LiveMessage[]) => heard.map(message => message.type)

test('tells of bans, their ends, servers and commands, as the lists show them', async () => {
  const feed = await bearer(admin.token)
  expect(feed.socket.protocol).toBe('stockade.v1')
  const host = await aHost(server, admin.client, 'live-01')
  await host.client.call('POST /servers/heartbeat', {
    body: { hostname: 'live-01', jails: [{ name: 'sshd', enabled: true }] },
  })
  const { id } = await host.client.call('POST /bans', { body: { ip: '203.0.113.3', jail: 'sshd', log_lines: 'why' } })
  await eventually(() => expect(types(feed.heard)).toContain('ban'))
  const told = feed.heard.find(message => message.type === 'ban')
  const { reputation_score: _, ...ban } = await admin.client.call('GET /bans/{banId}', { params: { banId: id } })
  expect(told).toMatchObject({ type: 'ban', at: expect.stringMatching(/Z$/), data: ban })
  const { command_id } = await admin.client.call('DELETE /servers/{serverId}/bans/{ip}', {
    params: { serverId: host.id, ip: '203.0.113.3' },
  })
  await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id } })
  await host.client.call('POST /commands/{commandId}/result', {
    params: { commandId: command_id },
    body: { success: true },
  })
  await eventually(() => expect(types(feed.heard)).toContain('unban'))
  await eventually(() =>
    expect(
      feed.heard
        .flatMap(message => (message.type === 'command' && message.data.id === command_id ? [message.data.status] : []))
        .at(-1),
    ).toBe('completed'),
  )
  expect(
    feed.heard.filter(
      message => message.type === 'server' && message.data.status === 'online' && message.data.hostname === 'live-01',
    ).length,
  ).toBeGreaterThan(0)
  const isDeletion = (message: LiveMessage) =>
    message.type === 'server' && message.data.deleted && message.data.id === host.id
  expect(feed.heard.filter(isDeletion)).toEqual([])
  await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })
  await eventually(() => expect(feed.heard.filter(isDeletion)).toHaveLength(1))
  feed.socket.close()
})

test('shows a key that is bound to one server nothing of the others', async () => {
  const [mine, other] = [await aHost(server, admin.client, 'mine'), await aHost(server, admin.client, 'other')]
  const { key } = await admin.client.call('POST /keys', { body: { name: 'bound', server_id: mine.id } })
  const feed = await bearer(key)
  await other.client.call('POST /bans', { body: { ip: '203.0.113.4', jail: 'sshd' } })
  await mine.client.call('POST /bans', { body: { ip: '203.0.113.5', jail: 'sshd' } })
  await eventually(() => expect(types(feed.heard)).toContain('ban'))
  expect(feed.heard.flatMap(message => (message.type === 'ban' ? [message.data.server.id] : []))).toEqual([mine.id])
  feed.socket.close()
})

test('takes a cookie from its own pages only', async () => {
  const cookie =
    (await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })).headers
      .get('set-cookie')
      ?.split(';')[0] ?? ''
  const feed = await listen(['stockade.v1'], { cookie, origin: server.url })
  feed.socket.close()
  await expect(listen(['stockade.v1'], { cookie, origin: 'https://evil.example' })).rejects.toThrow('403')
  await expect(listen(['stockade.v1'], { cookie })).rejects.toThrow('403')
})

test('refuses strangers and ends with the session', async () => {
  await expect(listen(['stockade.v1'])).rejects.toThrow('401')
  await expect(bearer('nonsense')).rejects.toThrow('401')
  const signed = await server.signIn()
  const feed = await bearer(signed.token)
  await signed.client.call('POST /auth/logout')
  // How soon: `review.unit.test.ts`.
  expect(await within(feed.closed, 'the end of the feed')).toBe(4401)
})

test('a feed that begins at a position gets what came since, once, and one whose position is unknown has to read again', async () => {
  const host = await aHost(server, admin.client, 'resume-01')
  const signedIn = await server.client().call('POST /auth/login', { body: { username: 'admin', password } })
  if (!('access_token' in signedIn)) throw new Error('a second factor is wanted')
  const { live_position } = await server.client(signedIn.access_token).call('GET /bootstrap')
  const missed = await host.client.call('POST /bans', { body: { ip: '203.0.113.61', jail: 'sshd' } })
  const feed = await listen(['stockade.v1', `bearer.${admin.token}`], {}, `?after=${live_position}`)
  const next = await host.client.call('POST /bans', { body: { ip: '203.0.113.62', jail: 'sshd' } })
  const bans = () => feed.heard.flatMap(message => (message.type === 'ban' ? [message.data.id] : []))
  await eventually(() => expect(bans()).toContain(next.id))
  expect(bans()).toEqual([missed.id, next.id])
  expect(types(feed.heard)).not.toContain('resync')
  feed.socket.close()
  for (const unknown of ['0123456789abcdef-1', 'nonsense', `${live_position}9`]) {
    const lost = await listen(['stockade.v1', `bearer.${admin.token}`], {}, `?after=${unknown}`)
    await eventually(() => expect(types(lost.heard)).toEqual(['resync']))
    lost.socket.close()
  }
})

test('a feed with a pulse hears signs of life', async () => {
  const feed = await listen(['stockade.v1', `bearer.${admin.token}`], {}, '?pulse=true')
  await eventually(() => expect(types(feed.heard)).toContain('pulse'))
  feed.socket.close()
})
