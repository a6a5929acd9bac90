import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { webhookReceiver } from '../../testing/webhook.ts'
import type { WebhookReceiver } from '../../testing/webhook.ts'

interface Post {
  readonly title: string
  readonly category: string
  readonly tables: readonly { readonly rows: string[][] }[]
}
let receiver: WebhookReceiver<Post>
const clock = movableClock()
let server: TestServer
let admin: Signed
const hosts: EnrolledHost[] = []
beforeAll(async () => {
  receiver = await webhookReceiver()
  server = await startServer({ clock })
  admin = await server.setUp()
  const chat = { enabled: true, webhook_url: receiver.url, notify_bans: true, notify_errors: true }
  const set = await raw(server, 'PATCH', '/api/v1/settings/chat', { token: admin.token, body: chat })
  expect(set.status, set.text).toBe(200)
  for (let i = 1; i <= 8; i++) hosts.push(await aHost(server, admin.client, `p-${i}`))
})
afterAll(async () => {
  await server?.close()
  await receiver?.close()
})

const errors = () => receiver.posts.filter(({ category }) => category === 'errors').map(({ title }) => title)
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
  await eventually(() => expect(receiver.posts.map(({ category }) => category)).toContain('bans'))
  expect(errors()).toEqual([])
  clock.forward(61)
  await eventually(() => expect(errors()).toEqual(['8 errors']))
  const rows = receiver.posts.find(({ category }) => category === 'errors')?.tables[0]?.rows ?? []
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
