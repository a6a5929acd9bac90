import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import pg from 'pg'
import WebSocket from 'ws'
import { times } from '@stockade/contract'
import type { LiveMessage } from '@stockade/contract'
import {
  aHost,
  engine,
  eventually,
  freshDatabase,
  movableClock,
  openPoll,
  startServer,
  within,
} from '../src/testing/index.ts'
import type { Signed, TestServer } from '../src/testing/index.ts'

/** Two processes over one PostgreSQL are one service: what one of them did, the other one knows soon. */
describe.runIf(engine === 'postgres')('two processes', () => {
  const clock = movableClock()
  let one: TestServer
  let two: TestServer
  let admin: Signed
  let databaseUrl = ''
  let drop: () => Promise<void> = async () => {}
  beforeAll(async () => {
    const database = await freshDatabase()
    if (!database) throw new Error('this runs on PostgreSQL')
    drop = database.drop
    databaseUrl = database.url
    one = await startServer({ clock, databaseUrl })
    admin = await one.setUp()
    two = await startServer({ clock, databaseUrl })
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
    await eventually(() =>
      two
        .client(host.key)
        .call('POST /servers/heartbeat', { body: { hostname: 'shared', jails: [{ name: 'sshd', enabled: true }] } }),
    )
    await eventually(async () =>
      expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).toMatchObject({
        status: 'online',
      }),
    )
    await eventually(async () =>
      expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).toMatchObject({
        jails: [{ name: 'sshd' }],
        last_heartbeat: expect.any(String),
      }),
    )
    await there.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })
    await eventually(() =>
      expect(one.client(host.key).call('POST /servers/heartbeat', { body: { hostname: 'x' } })).rejects.toMatchObject({
        status: 401,
      }),
    )
    await eventually(() =>
      expect(admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).rejects.toMatchObject({
        status: 404,
      }),
    )
  })

  test('what was changed here is there when the answer comes, also beside a neighbour’s endless transaction', async () => {
    const neighbour = await freshDatabase()
    const busy = new pg.Client({ connectionString: neighbour?.url ?? '' })
    await busy.connect()
    try {
      await busy.query('begin')
      await busy.query('select pg_current_xact_id()')
      const there = two.client(admin.token)
      for (let n = 0; n < 10; n++) {
        const site_name = `Fence ${n}`
        await admin.client.call('PATCH /settings', { body: { service: { site_name } } })
        expect((await there.call('GET /settings')).service.site_name).toBe(site_name)
        const { id } = await there.call('POST /servers', { body: { hostname: `here-${n}` } })
        expect((await admin.client.call('GET /servers/{serverId}', { params: { serverId: id } })).hostname).toBe(
          `here-${n}`,
        )
      }
    } finally {
      await busy.end()
      await neighbour?.drop()
    }
  })

  test('a whitelist entry lifts itself once, and both know', async () => {
    const there = two.client(admin.token)
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await there.call('POST /whitelist', { body: { ip: '198.51.100.99', expires_at: inAnHour } })
    for (const client of [admin.client, there]) {
      expect(await client.call('GET /whitelist/check/{ip}', { params: { ip: '198.51.100.99' } })).toMatchObject({
        matched_entry: { id, expires_at: inAnHour },
      })
      expect(await client.call('GET /whitelist.txt')).toContain('198.51.100.99')
    }
    const expires_at = new Date(clock() + 600_000).toISOString()
    await there.call('PATCH /whitelist/{id}', { params: { id }, body: { expires_at } })
    clock.forward(601)
    for (const client of [admin.client, there])
      await eventually(async () => {
        const params = { ip: '198.51.100.99' }
        expect((await client.call('GET /whitelist/check/{ip}', { params })).whitelisted).toBe(false)
        expect(await client.call('GET /whitelist.txt')).not.toContain('198.51.100.99')
      })
    const { entries } = await there.call('GET /settings/audit', { query: { action: 'whitelist.remove' } })
    expect(entries.map(({ user, details }) => [user, details.id])).toEqual([['system', id]])
  })

  test('an event whose transaction ends late is not passed by', async () => {
    const late = new pg.Client({ connectionString: databaseUrl })
    await late.connect()
    const heard: string[] = []
    const feed = new WebSocket(`${two.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1', `bearer.${admin.token}`])
    feed.on('message', data => {
      const message = JSON.parse(String(data)) as LiveMessage
      if (message.type === 'server') heard.push(message.data.hostname)
    })
    await within(new Promise(resolve => feed.once('open', resolve)), 'the live feed')
    const made = await admin.client.call('POST /servers', { body: { hostname: 'late' } })
    const [{ no }] = (await late.query<{ no: number }>('select no from servers where id = $1', [made.id])).rows as [
      { no: number },
    ]
    await eventually(() => expect(heard).toContain('late'))
    heard.length = 0
    try {
      await late.query('begin')
      await late.query("insert into events (at, name, server_no, data) values ($2, 'server.update', $1, '{}')", [
        no,
        clock(),
      ])
      await admin.client.call('POST /servers', { body: { hostname: 'after' } })
      await new Promise(resolve => setTimeout(resolve, 300))
      expect(heard).toEqual([])
      await late.query('commit')
      await eventually(() => expect(heard).toEqual(['late', 'after']))
    } finally {
      await late.end()
      feed.terminate()
    }
  })

  test('a long poll here wakes for a command that was queued there, and each goes out once', async () => {
    const host = await aHost(one, admin.client, 'waker')
    await eventually(() => two.client(host.key).call('POST /servers/heartbeat', { body: { hostname: 'waker' } }))
    const before = await openPoll(await aHost(one, admin.client, 'not woken'))
    const poll = async (server: typeof one) => {
      const query = { wait: times.longPollMaximum }
      const { commands } = await server
        .client(host.key)
        .call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id }, query })
      return commands.map(order => order.id)
    }
    const queue = async () => {
      const params = { serverId: host.id }
      return (await admin.client.call('POST /servers/{serverId}/commands', { params, body: { type: 'reload-all' } })).id
    }
    // Several rounds: which of the two is faster is a race.
    for (let round = 0; round < 10; round++) {
      const polls = [one, two].map(poll)
      await new Promise(resolve => setTimeout(resolve, 60))
      const first = await queue()
      expect(await Promise.race(polls)).toEqual([first])
      // The other one waits on, and gets the next command alone.
      const second = await queue()
      expect((await Promise.all(polls)).flat().sort()).toEqual([first, second].sort())
    }
    expect(before.isOpen()).toBe(true)
    await before.close()
  })

  test('a whitelist that was changed here is what the other one checks, serves and wakes its hosts for', async () => {
    const host = await aHost(one, admin.client, 'lister')
    // Every host of this service is woken, so the poll that runs out is that of another one.
    const calm = await freshDatabase()
    const third = await startServer({ databaseUrl: calm?.url ?? '' })
    onTestFinished(async () => {
      await third.close()
      await calm?.drop()
    })
    const idle = await aHost(third, (await third.setUp()).client, 'idle')
    const elsewhere = two.client(host.key)
    await eventually(() => elsewhere.call('POST /servers/heartbeat', { body: { hostname: 'lister' } }))
    const there = two.client(admin.token)
    const hold = async () => {
      const here = one.client(host.key)
      // What was changed before has arrived.
      const { version } = await eventually(async () => {
        const state = await elsewhere.call('GET /agent/state')
        expect(await here.call('GET /agent/state')).toEqual(state)
        return state
      })
      const before = await openPoll(idle)
      const poll = elsewhere.call('GET /servers/{serverId}/commands/pending', {
        params: { serverId: host.id },
        query: { wait: times.longPollMaximum, state: version },
      })
      await new Promise(resolve => setTimeout(resolve, 200))
      return async () => {
        const { desired_state } = await poll
        expect(before.isOpen()).toBe(true)
        await before.close()
        expect(desired_state).not.toEqual({ version })
        // What the poll names is there to be fetched: the same here and there.
        const state = await elsewhere.call('GET /agent/state')
        expect(state.version).toBe(desired_state.version)
        expect(await here.call('GET /agent/state')).toEqual(state)
      }
    }
    const check = async (ip: string) =>
      (await there.call('GET /whitelist/check/{ip}', { params: { ip } })).matched_entry?.ip ?? null
    const texts = async () =>
      Promise.all([one, two].map(server => server.client(admin.token).call('GET /whitelist.txt')))

    let answered = await hold()
    const wide = await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.0/24' } })
    await answered()
    expect(await check('198.51.100.7')).toBe('198.51.100.0/24')
    await expect(
      there.call('POST /servers/{serverId}/bans', { params: { serverId: host.id }, body: { ip: '198.51.100.7' } }),
    ).rejects.toMatchObject({ status: 409 })

    // Both change it at once: neither forgets what the other did.
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? admin.client : there).call('POST /whitelist', { body: { ip: `192.0.2.${n}` } }),
      ),
    )
    answered = await hold()
    await admin.client.call('DELETE /whitelist/{id}', { params: { id: wide.id } })
    await answered()
    expect(await check('198.51.100.7')).toBe(null)
    await eventually(async () => {
      const [here, other] = await texts()
      expect(other).toBe(here)
      expect(here?.trimEnd().split('\n')).toHaveLength(22)
    })

    answered = await hold()
    await admin.client.call('POST /whitelist/sync', { body: { server_ids: [host.id] } })
    await answered()
  })

  test('a live feed here hears of a ban that was reported there, once', async () => {
    const host = await aHost(one, admin.client, 'feed')
    await eventually(() => two.client(host.key).call('POST /servers/heartbeat', { body: { hostname: 'feed' } }))
    const heard: LiveMessage[] = []
    const socket = new WebSocket(`${one.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1', `bearer.${admin.token}`])
    socket.on('message', data => heard.push(JSON.parse(String(data)) as LiveMessage))
    await within(new Promise(resolve => socket.once('open', resolve)), 'the live feed')
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 2 ? one : two).client(host.key).call('POST /bans', { body: { ip: `203.0.113.${n}`, jail: 'sshd' } }),
      ),
    )
    const bans = () => heard.flatMap(message => (message.type === 'ban' ? [message.data.id] : []))
    await eventually(() => expect(bans().sort()).toEqual(made.map(ban => ban.id).sort()))
    await new Promise(resolve => setTimeout(resolve, 1200))
    expect(bans()).toHaveLength(30)
    socket.close()
  })

  test('what is revoked here is dead there', async () => {
    const { id } = await admin.client.call('POST /users', {
      body: { username: 'leaver', email: 'leaver@stockade.example', password: 'An0ther-secret', role: 'Operator' },
    })
    const reply = await two
      .client()
      .call('POST /auth/login', { body: { username: 'leaver', password: 'An0ther-secret' } })
    if (!('access_token' in reply)) throw new Error('no second factor here')
    const there = two.client(reply.access_token)
    const { key } = await there.call('POST /users/{userId}/keys', {
      params: { userId: id },
      body: { name: 'mine', permissions: 'write' },
    })
    const keyed = two.client(key)
    const dead = (check: () => Promise<unknown>, status: number) =>
      eventually(() => expect(check()).rejects.toMatchObject({ status }))
    const batch = { body: { server_ids: [crypto.randomUUID()], type: 'reload-all' as const } }
    await expect(keyed.call('POST /commands/batch', batch)).rejects.toMatchObject({ status: 400 })
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { role: 'Viewer' } })
    await dead(() => keyed.call('POST /commands/batch', batch), 403)
    await dead(() => there.call('POST /commands/batch', batch), 403)
    const bound = await admin.client.call('POST /keys', { body: { name: 'passing' } })
    await eventually(() => two.client(bound.key).call('GET /servers'))
    await admin.client.call('DELETE /keys/{keyId}', { params: { keyId: bound.id } })
    await dead(() => two.client(bound.key).call('GET /servers'), 401)
    await admin.client.call('DELETE /users/{userId}', { params: { userId: id } })
    await dead(() => there.call('GET /servers'), 401)
    await dead(() => keyed.call('GET /servers'), 401)
  })

  test('the key of an agent that was replaced here is dead there', async () => {
    const host = await aHost(one, admin.client, 'replaced')
    const beat = { body: { hostname: 'replaced' } }
    const elsewhere = two.client(host.key)
    await eventually(() => elsewhere.call('POST /servers/heartbeat', beat))
    const { install_command } = await admin.client.call('POST /servers/{serverId}/regenerate-token', {
      params: { serverId: host.id },
    })
    const { api_key } = await one.client().call('POST /agent/enroll', {
      body: { token: install_command.split(' ').at(-1) ?? '', hostname: 'replaced', agent_id: crypto.randomUUID() },
    })
    // The earlier agent goes on until the new one is heard of, and the server stays online meanwhile.
    await elsewhere.call('POST /servers/heartbeat', beat)
    await one.client(api_key).call('POST /servers/heartbeat', beat)
    await eventually(() =>
      expect(elsewhere.call('POST /servers/heartbeat', beat)).rejects.toMatchObject({ status: 401 }),
    )
    await two.client(api_key).call('POST /servers/heartbeat', beat)
  })

  test('a knock that is asked for here reaches a host that polls there, and its answer comes back', async () => {
    const host = await aHost(one, admin.client, 'knocked')
    const elsewhere = two.client(host.key)
    await eventually(() => elsewhere.call('POST /servers/heartbeat', { body: { hostname: 'knocked' } }))
    const { id } = await admin.client.call('POST /portknock/sequences', {
      body: { name: 'door', protected_port: 22, knock_ports: [7000, 9000, 8000], server_ids: [host.id] },
    })
    // A knock waits two seconds for the host: on a slow machine the host is asked once more.
    await eventually(async () => {
      const state = await elsewhere.call('GET /agent/state')
      expect(state.portknock.sequences).toMatchObject([{ id }])
      const poll = elsewhere.call('GET /servers/{serverId}/commands/pending', {
        params: { serverId: host.id },
        query: { wait: 10, state: state.version },
      })
      await new Promise(resolve => setTimeout(resolve, 200))
      const opened = admin.client.call('POST /portknock/knock', {
        body: { server_id: host.id, sequence_name: 'door' },
      })
      expect((await poll).desired_state.version).not.toBe(state.version)
      const { version, portknock } = await elsewhere.call('GET /agent/state')
      expect(portknock.openings).toHaveLength(1)
      await elsewhere.call('POST /agent/state/ack', {
        body: { version, portknock: { sequences: [], openings: portknock.openings.map(opening => opening.id) } },
      })
      expect(await opened).toMatchObject({ confirmed: true })
    })
  })

  test('a budget is one budget, wherever the requests land', async () => {
    const env = { STOCKADE_RATE_LIMIT: '20' }
    const database = await freshDatabase()
    const pair = [await startServer({ env, databaseUrl: database?.url ?? '' })]
    const { token } = await (pair[0] as TestServer).setUp()
    pair.push(await startServer({ env, databaseUrl: database?.url ?? '' }))
    try {
      const ask = async (server: TestServer) =>
        server
          .client(token)
          .call('GET /servers')
          .then(
            () => 200,
            (error: { status: number }) => error.status,
          )
      for (let n = 0; n < 12; n++) for (const server of pair) await ask(server)
      // Each of them counted 12; together it was 24.
      await eventually(async () => expect(await Promise.all(pair.map(ask))).toEqual([429, 429]))
    } finally {
      for (const server of pair) await server.close()
      await database?.drop()
    }
  })
})
