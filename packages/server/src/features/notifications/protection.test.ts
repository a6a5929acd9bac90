import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

interface Post {
  readonly title: string
  readonly category: string
  readonly tables: readonly { readonly rows: string[][] }[]
}
const posts: Post[] = []
const receiver = createServer((request, reply) => {
  let sent = ''
  request.on('data', (piece: Buffer) => (sent += piece.toString()))
  request.on('end', () => {
    posts.push(JSON.parse(sent) as Post)
    reply.writeHead(204).end()
  })
})
const clock = movableClock()
let server: TestServer
let admin: Signed
const hosts: EnrolledHost[] = []
beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  server = await startServer({ clock })
  admin = await server.setUp()
  const chat = { enabled: true, webhook_url: hook, notify_bans: true, notify_errors: true }
  const set = await raw(server, 'PATCH', '/api/v1/settings/chat', { token: admin.token, body: chat })
  expect(set.status, set.text).toBe(200)
  for (let i = 1; i <= 8; i++) hosts.push(await aHost(server, admin.client, `p-${i}`))
})
afterAll(async () => {
  await server?.close()
  receiver.close()
})

const errors = () => posts.filter(({ category }) => category === 'errors').map(({ title }) => title)
const report = async (level: 'protected' | 'unprotected', of: readonly EnrolledHost[] = hosts) => {
  for (const host of of)
    await host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: `p-${hosts.indexOf(host) + 1}`,
        agent_id: host.agentId,
        protection: {
          level,
          since: new Date(clock()).toISOString(),
          summary: 'fail2ban does not answer.',
          checks: [],
          counted: { ok: 0, not_ok: 1, unknown: 0 },
        },
      },
    })
}

test('a fleet that loses its protection within a minute is one message', async () => {
  await report('protected')
  await report('unprotected')
  await hosts[0]?.client.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd' } })
  await eventually(() => expect(posts.map(({ category }) => category)).toContain('bans'))
  expect(errors()).toEqual([])
  clock.forward(61)
  await eventually(() => expect(errors()).toEqual(['8 errors']))
  const rows = posts.find(({ category }) => category === 'errors')?.tables[0]?.rows ?? []
  expect(rows.map(([, what, name]) => `${name} ${what}`).toSorted()).toEqual(
    hosts.map((_, index) => `p-${index + 1} unprotected`),
  )
})
test('a server that is protected again is told of with the time that it was not', async () => {
  // The time of the digest is over: one message is told by itself again.
  for (let i = 0; i < 10; i++) {
    await report('unprotected')
    clock.forward(61)
  }
  await report('unprotected', hosts.slice(1))
  await report('protected', hosts.slice(0, 1))
  clock.forward(61)
  await eventually(() =>
    expect(errors()).toEqual(['8 errors', expect.stringMatching(/^p-1 is protected again after 1\d min$/)]),
  )
})
