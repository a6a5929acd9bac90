import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../packages/client/src/index.ts'
import { httpReceiver, paramOf, streamReceiver } from '../../packages/server/src/features/siem/receivers.ts'
import {
  aHost,
  eventually,
  movableClock,
  raw,
  spawnServer,
  startServer,
} from '../../packages/server/src/testing/index.ts'
import type { EnrolledHost, TestServer } from '../../packages/server/src/testing/index.ts'

/*
 * Receivers that are killed again and again while events come in, and a server that is: nothing may be lost, and what comes
 * twice has the id that it had. `npm run check -- chaos-siem` does the same 100 times over 10,000 events.
 */
const kills = Number(process.env.SIEM_KILLS ?? 10)
const total = Number(process.env.SIEM_EVENTS ?? 1000)

/** Every ban has an address of its own, by which it is found again. */
const addressOf = (n: number) =>
  `2001:db8::${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`.replace('::0:', '::')
const report = async (host: EnrolledHost, from: number, to: number) => {
  const at = new Date().toISOString()
  for (let start = from; start < to; start += 50)
    await host.client.call('POST /bans/batch', {
      body: {
        bans: Array.from({ length: Math.min(50, to - start) }, (_, index) => ({
          ip: addressOf(start + index + 1),
          jail: 'sshd',
          banned_at: at,
        })),
      },
    })
}
const set = async (server: TestServer, key: string, body: object) => {
  const reply = await raw(server, 'PATCH', '/api/v1/siem/settings', { token: key, body })
  expect(reply.status, reply.text).toBe(200)
}
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const base = { enabled: true, host: '127.0.0.1', events: ['ban'], batch_size: 20, flush_interval: 1 }

interface Seen {
  readonly ip: string
  readonly id: string
}
describe('receivers that are killed', () => {
  const clock = movableClock()
  let server: TestServer
  let admin: Client
  let key = ''
  let host: EnrolledHost
  let sent = 0
  let ticking: NodeJS.Timeout
  beforeAll(async () => {
    server = await startServer({ clock })
    admin = (await server.setUp()).client
    key = (await admin.call('POST /keys', { body: { name: 'siem', permissions: 'admin' } })).key
    host = await aHost(server, admin)
    // Time for the waits between tries; ten times as fast, so that the minute after a break is not over at once.
    ticking = setInterval(() => clock.forward(0.5), 50)
  })
  afterAll(async () => {
    clearInterval(ticking)
    await server.close()
  })

  const run = async (
    receiver: { readonly port: number; stop(): Promise<void>; start(): Promise<void> },
    settings: object,
    seen: () => readonly Seen[],
  ) => {
    const [from, to] = [sent, sent + total]
    sent = to
    await set(server, key, { ...base, ...settings, port: receiver.port })
    const share = Math.ceil(total / kills)
    for (let n = 0; n < kills; n++) {
      const before = seen().length
      const reported = report(host, from + n * share, Math.min(to, from + (n + 1) * share))
      await eventually(() => expect(seen().length).toBeGreaterThan(before))
      await pause(Math.random() * 40)
      await receiver.stop()
      await pause(Math.random() * 50)
      await receiver.start()
      await reported
    }
    await eventually(async () => {
      expect(new Set(seen().map(({ ip }) => ip)).size).toBe(total)
      expect((await admin.call('GET /siem/status')).queue_size).toBe(0)
    })
    const wanted = new Set(Array.from({ length: total }, (_, index) => addressOf(from + index + 1)))
    const found = seen()
    expect(found.filter(({ ip }) => !wanted.has(ip))).toEqual([])
    // The same event comes under the same id, another under another.
    expect(new Set(found.map(({ id, ip }) => `${id} ${ip}`)).size).toBe(total)
    expect(new Set(found.map(({ id }) => id)).size).toBe(total)
    const doubles = found.length - total
    process.stderr.write(`    ${kills} kills, ${total} events: none lost, ${doubles} came more than once\n`)
    await set(server, key, { enabled: false })
    return found
  }
  test.each([
    ['JSON over HTTP', { format: 'json', protocol: 'http' }],
    ['the event collector', { format: 'collector', protocol: 'http', token: 'hec-token' }],
  ])('%s: none is lost', async (_, settings) => {
    const receiver = await httpReceiver()
    // Killed in between, it has taken what it never acknowledged.
    receiver.delay = 15
    try {
      await run(receiver, settings, () => receiver.events.map(({ id, data }) => ({ id, ip: String(data.ip) })))
    } finally {
      await receiver.stop()
    }
  })
  test('syslog over TCP: none is lost', async () => {
    const receiver = await streamReceiver()
    try {
      await run(receiver, { format: 'syslog', protocol: 'tcp', token: null }, () =>
        receiver.messages.map(message => ({
          id: paramOf(message, 'id') ?? '',
          ip: paramOf(message, 'ip') ?? '',
        })),
      )
      expect(receiver.faults).toEqual([])
    } finally {
      await receiver.stop()
    }
  })
})

test('a server that is killed in the middle loses nothing, and goes on with a replay', async () => {
  const receiver = await httpReceiver()
  const first = await spawnServer()
  let server = first
  const { dataDir, port } = first
  try {
    const admin = (await server.setUp()).client
    const { key } = await admin.call('POST /keys', { body: { name: 'siem', permissions: 'admin' } })
    const host = await aHost(server, admin)
    const acknowledged = 300
    // Half of the events are not taken before the server is killed, however long that takes.
    receiver.answer = events =>
      events.length > 0 && (receiver.events.length >= acknowledged / 2 || Math.random() < 0.3) ? 'cut' : undefined
    await set(server, key, { ...base, format: 'json', protocol: 'http', port: receiver.port, batch_size: 10 })
    await report(host, 0, acknowledged)
    await eventually(() => expect(receiver.events.length).toBeGreaterThan(0))
    expect(new Set(receiver.events.map(({ id }) => id)).size).toBeLessThan(acknowledged)
    await server.kill()
    server = await spawnServer({ dataDir, port })
    receiver.answer = null
    const ips = () => new Set(receiver.events.map(({ data }) => data.ip))
    await eventually(() => expect(ips().size).toBe(acknowledged))
    expect(new Set(receiver.events.map(({ id }) => id)).size).toBe(acknowledged)

    // The same ids again, in order, with a kill on the way.
    const idsBefore = [...new Set(receiver.events.map(({ id }) => id))].sort()
    receiver.events.length = 0
    const client = server.client(key)
    const { job_id, events_to_replay } = await client.call('POST /siem/replay', {
      body: {
        from: new Date(Date.now() - 600_000).toISOString(),
        to: new Date().toISOString(),
        event_types: ['ban'],
      },
    })
    expect(events_to_replay).toBe(acknowledged)
    await eventually(() => expect(receiver.events.length).toBeGreaterThan(20))
    await server.kill()
    server = await spawnServer({ dataDir, port })
    const progress = () => server.client(key).call('GET /siem/replay/{jobId}', { params: { jobId: job_id } })
    await eventually(async () => expect(await progress()).toMatchObject({ status: 'completed' }))
    expect(await progress()).toMatchObject({ total_events: acknowledged, events_failed: 0, progress_percent: 100 })
    expect([...new Set(receiver.events.map(({ id }) => id))].sort()).toEqual(idsBefore)
    expect(receiver.events.length - acknowledged).toBeLessThanOrEqual(10)
  } finally {
    await server.close()
    await first.close()
    await receiver.stop()
  }
})
