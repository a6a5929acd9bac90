import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { aHost, eventually, movableClock, startServer } from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'

/* The alert on a channel that takes nothing: it fires while the channel can send, and ends when it is deleted or switched off. */

/** A path in here gets no answer until the test gives it. */
const slow = new Set<string>()
const waiting: { readonly path: string; readonly reply: ServerResponse }[] = []
const receiver = createServer((request, reply) => {
  request.resume()
  const path = request.url ?? ''
  if (slow.has(path)) waiting.push({ path, reply })
  else reply.writeHead(500).end()
})
const clock = movableClock()
let server: TestServer
let admin: Client
let host: EnrolledHost
let reports = 0

const beat = (level: 'protected' | 'unprotected') =>
  host.client.call('POST /servers/heartbeat', {
    body: {
      hostname: 'a-1',
      agent_id: host.agentId,
      report: { boot: host.agentId, number: ++reports },
      jails: [{ name: 'sshd', enabled: true, current_bans: 0 }],
      protection: {
        level,
        since: new Date(clock()).toISOString(),
        summary: 'fail2ban does not answer.',
        checks: [
          { id: 'engine', subject: null, state: 'bad', since: new Date(clock()).toISOString(), detail: 'no answer' },
        ] as never,
        counted: { ok: 1, not_ok: 1, unknown: 0 },
      },
    },
  })
const stuck = async () => {
  const { alerts } = await admin.call('GET /alerts', { query: { state: 'firing', limit: 200 } })
  return alerts.map(({ title }) => title).filter(title => title.startsWith('Messages are not delivered'))
}
/** The time goes on in steps below a minute between two looks: a larger jump is taken for a clock that was set. */
const liveUntil = async (check: () => Promise<void> | void) => {
  let beatAt = 0
  await eventually(async () => {
    clock.forward(0.5)
    if (clock() - beatAt > 15_000) {
      await beat('unprotected')
      beatAt = clock()
    }
    await check()
  })
}
const channelAt = async (path: string) => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`
  const body = { name: path, preset: 'webhook' as const, fields: [{ name: 'url', value: url }] }
  return (await admin.call('POST /channels', { body })).id
}
const titleOf = (id: string) => `Messages are not delivered to channel ${id}`

beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  server = await startServer({ clock })
  const first = await server.setUp()
  const { key } = await first.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })
  admin = server.client(key)
  host = await aHost(server, admin, 'a-1')
  await beat('protected')
})
afterAll(async () => {
  await server.close()
  receiver.closeAllConnections()
  receiver.close()
})

test('ends when the channel is deleted or switched off, also during a delivery', async () => {
  slow.add('/deleted-late')
  const ids = []
  for (const path of ['/kept', '/deleted', '/off', '/deleted-late']) ids.push(await channelAt(path))
  const [kept = '', deleted = '', off = '', late = ''] = ids
  await admin.call('PUT /alerts/routes', {
    body: { routes: [{ severities: [], rules: [], hours: null, channels: ids }] },
  })
  await liveUntil(() => expect(waiting.length).toBeGreaterThan(0))
  await admin.call('DELETE /channels/{id}', { params: { id: late } })
  for (const { reply } of waiting) reply.writeHead(500).end()
  await liveUntil(async () => expect((await stuck()).sort()).toEqual([kept, deleted, off].map(titleOf).sort()))
  await admin.call('DELETE /channels/{id}', { params: { id: deleted } })
  await admin.call('PATCH /channels/{id}', { params: { id: off }, body: { enabled: false } })
  await liveUntil(async () => expect(await stuck()).toEqual([titleOf(kept)]))
})
