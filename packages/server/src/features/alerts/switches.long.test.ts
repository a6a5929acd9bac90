import { SMTPServer } from 'smtp-server'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, standingClock, startServer } from '../../testing/index.ts'
import { webhookReceiver } from '../../testing/webhook.ts'
import type { WebhookReceiver } from '../../testing/webhook.ts'

/* One outage is one message on each channel, whatever the switches of chat and e-mail say beside the routes. */

interface Post {
  readonly title: string
}
let chat: WebhookReceiver<Post>
let other: WebhookReceiver<Post>
let mails: string[] = []
const relay = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  onData(stream, _, done) {
    let text = ''
    stream.on('data', (piece: Buffer) => (text += piece.toString()))
    stream.on('end', () => {
      mails.push(/^Subject: \[Stockade\] (.*)$/m.exec(text)?.[1]?.trim() ?? '')
      done()
    })
  },
})
beforeAll(async () => {
  chat = await webhookReceiver()
  other = await webhookReceiver()
  await new Promise<void>(resolve => void relay.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await chat.close()
  await other.close()
  await new Promise<void>(resolve => relay.close(() => resolve()))
})

const positions = [false, true].flatMap(notify_bans =>
  [false, true].flatMap(notify_syncs =>
    [false, true].map(notify_errors => ({ notify_bans, notify_syncs, notify_errors })),
  ),
)
test.each(positions)('%j', async switches => {
  const clock = standingClock()
  const server = await startServer({ clock })
  try {
    chat.posts.length = 0
    other.posts.length = 0
    mails = []
    const { client } = await server.setUp()
    const host = await aHost(server, client, 'web-01')
    let reports = 0
    const beat = async (level: 'protected' | 'unprotected') => {
      const since = new Date(clock()).toISOString()
      const engine = { id: 'engine', subject: null, state: 'bad', since, detail: 'no answer' } as const
      await host.client.call('POST /servers/heartbeat', {
        body: {
          hostname: 'web-01',
          agent_id: host.agentId,
          report: { boot: host.agentId, number: ++reports },
          protection: {
            level,
            since,
            summary: level === 'protected' ? 'fine' : 'fail2ban does not answer.',
            checks: level === 'protected' ? [] : [engine],
            counted: { ok: 1, not_ok: level === 'protected' ? 0 : 1, unknown: 0 },
          },
        },
      })
    }
    /** Below a minute between two looks: a larger jump is taken for a clock that was set. */
    const liveUntil = async (level: 'protected' | 'unprotected', check: () => Promise<void> | void) => {
      let beatAt = 0
      await eventually(async () => {
        clock.forward(0.5)
        if (clock() - beatAt > 15_000) {
          await beat(level)
          beatAt = clock()
        }
        await check()
      })
    }
    await beat('protected')
    await client.call('PATCH /settings/chat', { body: { enabled: true, webhook_url: chat.url, ...switches } })
    const { port } = relay.server.address() as AddressInfo
    await client.call('PATCH /settings/email', {
      body: {
        ...{ enabled: true, smtp_host: '127.0.0.1', smtp_port: port, smtp_tls: false },
        ...{ recipients: ['anna@corp.example'], ...switches },
      },
    })
    const fields = [{ name: 'url', value: other.url }]
    await client.call('POST /channels', { body: { name: 'other', preset: 'webhook', fields } })
    const { routes } = await client.call('GET /alerts/routes')
    expect(routes).toMatchObject([{ severities: ['critical', 'warning'], channels: [expect.any(String)] }])
    // E-mail is named by a route too, whatever its switch says.
    const email = { severities: ['critical' as const], rules: [], hours: null, channels: ['email'] }
    const body = { routes: [...routes.map(({ target: _, ...route }) => route), email] }
    await client.call('PUT /alerts/routes', { body })

    await host.client.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd' } })
    await client.call('POST /whitelist', { body: { ip: '198.51.100.1', description: 'the office' } })
    const title = 'web-01 is unprotected'
    await liveUntil('unprotected', () => expect(other.posts.map(post => post.title)).toEqual([title]))
    await liveUntil('protected', () => expect(other.posts.map(post => post.title)).toEqual([title, `Over: ${title}`]))
    const news = [
      ...(switches.notify_bans ? ['203.0.113.9 banned on web-01'] : []),
      ...(switches.notify_syncs ? ['198.51.100.1 added to the whitelist'] : []),
    ]
    const outage = [title, `Over: ${title}`]
    await eventually(() => expect(mails.toSorted()).toEqual([...news, ...outage].toSorted()))
    const heard = [...news, ...(switches.notify_errors ? outage : [])]
    await eventually(() => expect(chat.posts.map(post => post.title).toSorted()).toEqual(heard.toSorted()))
    // Nothing waits that would be a second message.
    await eventually(async () => {
      const { channels } = await client.call('GET /channels')
      expect(channels.map(({ waiting }) => waiting)).toEqual([0, 0, 0])
    })
    expect(mails).toHaveLength(news.length + 2)
    expect(chat.posts).toHaveLength(heard.length)
  } finally {
    await server.close()
  }
})

test('an alert that no channel gets is counted until a route or a switch sends it to one that is on', async () => {
  const clock = standingClock()
  const server = await startServer({ clock })
  try {
    const { client } = await server.setUp()
    const host = await aHost(server, client, 'web-02')
    await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-02' } })
    const unheard = async () => (await client.call('GET /alerts')).unheard
    await eventually(async () => {
      clock.forward(0.5)
      expect((await client.call('GET /alerts')).firing.critical).toBe(1)
    })
    expect(await unheard()).toBe(1)
    const fields = [{ name: 'url', value: other.url }]
    const { id } = await client.call('POST /channels', { body: { name: 'other', preset: 'webhook', fields } })
    expect(await unheard()).toBe(0)
    await client.call('PATCH /channels/{id}', { params: { id }, body: { enabled: false } })
    expect(await unheard()).toBe(1)
    await client.call('PATCH /settings/chat', { body: { enabled: true } })
    expect(await unheard()).toBe(1)
    await client.call('PATCH /settings/chat', { body: { webhook_url: chat.url } })
    expect(await unheard()).toBe(0)
    await client.call('PATCH /settings/chat', { body: { notify_errors: false } })
    expect(await unheard()).toBe(1)
    // A channel takes its routes along.
    expect((await client.call('GET /alerts/routes')).routes).toHaveLength(1)
    await client.call('DELETE /channels/{id}', { params: { id } })
    expect((await client.call('GET /alerts/routes')).routes).toEqual([])
    const quiet = { name: 'quiet', preset: 'webhook' as const, fields, severities: [] }
    await client.call('POST /channels', { body: quiet })
    expect(await unheard()).toBe(1)
  } finally {
    await server.close()
  }
})
