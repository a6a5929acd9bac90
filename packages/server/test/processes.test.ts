import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import type { LiveMessage } from '@stockade/contract'
import { aHost, engine, eventually, freshDatabase, startServer } from '../src/testing/index.ts'
import type { Signed, TestServer } from '../src/testing/index.ts'

/** Two processes over one PostgreSQL are one service: what one of them did, the other one knows within a second. */
describe.runIf(engine === 'postgres')('two processes', () => {
  let one: TestServer
  let two: TestServer
  let admin: Signed
  let drop: () => Promise<void> = async () => {}
  beforeAll(async () => {
    const database = await freshDatabase()
    if (!database) throw new Error('this runs on PostgreSQL')
    drop = database.drop
    one = await startServer({ databaseUrl: database.url })
    admin = await one.setUp()
    two = await startServer({ databaseUrl: database.url })
  })
  afterAll(async () => {
    await one.close()
    await two.close()
    await drop()
  })

  test('sessions, keys, servers and heartbeats', async () => {
    const there = two.client(admin.token)
    const host = await aHost(one, admin.client, 'shared')
    expect((await there.call('GET /auth/me')).username).toBe('admin')
    await two
      .client(host.key)
      .call('POST /bans', { body: { ip: '203.0.113.1', jail: 'sshd' } })
      .catch(() => {})
    await eventually(
      () =>
        two
          .client(host.key)
          .call('POST /servers/heartbeat', { body: { hostname: 'shared', jails: [{ name: 'sshd', enabled: true }] } }),
      3,
    )
    await eventually(
      async () =>
        expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).toMatchObject({
          status: 'online',
        }),
      3,
    )
    await eventually(
      async () =>
        expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).toMatchObject({
          jails: [{ name: 'sshd' }],
          last_heartbeat: expect.any(String),
        }),
      10,
    )
    await there.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })
    await eventually(
      () =>
        expect(one.client(host.key).call('POST /servers/heartbeat', { body: { hostname: 'x' } })).rejects.toMatchObject(
          { status: 401 },
        ),
      3,
    )
    await eventually(
      () =>
        expect(admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).rejects.toMatchObject({
          status: 404,
        }),
      3,
    )
  })

  test('a long poll here wakes for a command that was queued there, and each goes out once', async () => {
    const host = await aHost(one, admin.client, 'waker')
    await eventually(() => two.client(host.key).call('POST /servers/heartbeat', { body: { hostname: 'waker' } }), 3)
    const polls = [one, two].map(server =>
      server
        .client(host.key)
        .call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id }, query: { wait: 6 } }),
    )
    await new Promise(resolve => setTimeout(resolve, 300))
    const started = Date.now()
    const { id } = await admin.client.call('POST /servers/{serverId}/commands', {
      params: { serverId: host.id },
      body: { type: 'reload-all' },
    })
    await Promise.race(polls)
    expect(Date.now() - started).toBeLessThan(3000)
    const orders = (await Promise.all(polls)).flatMap(reply => reply.commands)
    expect(orders.map(order => order.id)).toEqual([id])
  })

  test('a live feed here hears of a ban that was reported there, once', async () => {
    const host = await aHost(one, admin.client, 'feed')
    await eventually(() => two.client(host.key).call('POST /servers/heartbeat', { body: { hostname: 'feed' } }), 3)
    const heard: LiveMessage[] = []
    const socket = new WebSocket(`${one.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1', `bearer.${admin.token}`])
    socket.on('message', data => heard.push(JSON.parse(String(data)) as LiveMessage))
    await new Promise(resolve => socket.once('open', resolve))
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 2 ? one : two).client(host.key).call('POST /bans', { body: { ip: `203.0.113.${n}`, jail: 'sshd' } }),
      ),
    )
    const bans = () => heard.flatMap(message => (message.type === 'ban' ? [message.data.id] : []))
    await eventually(() => expect(bans().sort()).toEqual(made.map(ban => ban.id).sort()), 5)
    await new Promise(resolve => setTimeout(resolve, 1200))
    expect(bans()).toHaveLength(30)
    socket.close()
  })
})
