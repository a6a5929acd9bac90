import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { aHost, engine, eventually, freshDatabase, movableClock, startServer } from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { webhookReceiver } from '../../testing/webhook.ts'
import type { WebhookReceiver } from '../../testing/webhook.ts'

interface Post {
  readonly title: string
  readonly text: string
  readonly category: string
  readonly facts: object[]
  readonly tables: { title: string; rows: string[][] }[]
}
let receiver: WebhookReceiver<Post>
beforeAll(async () => {
  receiver = await webhookReceiver()
})
afterAll(() => receiver.close())
const titles = () => receiver.posts.map(({ title }) => title)

describe('the daily summary', () => {
  const clock = movableClock()
  /** Moves the clock on to a moment. */
  const moveTo = (at: string) => clock.forward((Date.parse(at) - clock()) / 1000)
  let server: TestServer
  let admin: Client
  let host: EnrolledHost
  let next = 1
  const bans = (n: number, banned_at: string) =>
    host.client.call('POST /bans/batch', {
      body: {
        bans: Array.from({ length: n }, () => ({ ip: `203.0.113.${next++}`, jail: 'sshd', banned_at })),
        unbans: [],
      } as never,
    })
  const chat = (body: object) => admin.call('PATCH /settings/chat', { body })
  beforeAll(async () => {
    server = await startServer({ clock })
    const first = await server.setUp()
    // A key, since tokens end while this test moves the time.
    const made = await first.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })
    admin = server.client(made.key)
    host = await aHost(server, admin, 'web-01.example')
    await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01.example' } })
  })
  afterAll(() => server.close())
  const summaries = () => receiver.posts.filter(({ category }) => category === 'summary')
  const settle = () => new Promise(resolve => setTimeout(resolve, 1300))
  test('comes once when its hour has come, also where the clock jumps over it, with exact figures', async () => {
    await chat({ enabled: true, notify_bans: false, notify_errors: false, webhook_url: receiver.url })
    await admin.call('PATCH /settings', { body: { service: { timezone: 'Europe/Vienna' } } })
    // 01:59 in Vienna, on the day on which 02:00 to 03:00 does not happen.
    moveTo('2027-03-28T00:59:00Z')
    await chat({ daily_summary: true, daily_summary_hour: 2 })
    // Yesterday in Vienna: from 23:00 to 23:00 UTC.
    for (const [banned_at, n] of [
      ['2027-03-26T23:00:00Z', 2],
      ['2027-03-27T22:59:59Z', 1],
      ['2027-03-27T23:00:00Z', 4],
      ['2027-03-26T22:59:59Z', 2],
    ] as const)
      await bans(n, banned_at)
    receiver.posts.length = 0
    await settle()
    expect(summaries()).toEqual([])
    clock.forward(61)
    await eventually(() => expect(summaries()).toHaveLength(1))
    const [summary] = summaries()
    expect(summary).toMatchObject({
      title: 'Daily summary: Daily report, 2027-03-27',
      text: '3 bans on 1 server, 50 % more than the day before (2). Days are those of Europe/Vienna.',
    })
    expect(summary?.facts).toEqual(
      expect.arrayContaining([
        { name: 'Attackers', value: '3, 50 % more than the day before (2)' },
        { name: 'Needs attention', value: expect.any(String) },
      ]),
    )
    const table = (title: string) => summary?.tables.find(each => each.title === title)?.rows
    expect(table('Most attacked servers')).toEqual([['web-01.example', '3', '2 the day before']])
    expect(table('Jails')).toEqual([['sshd', '3', '2 the day before']])
    expect(table('Addresses')).toHaveLength(3)
    clock.forward(3600)
    await settle()
    expect(summaries()).toHaveLength(1)
  })
  test('comes once on the day on which its hour happens twice', async () => {
    moveTo('2027-10-31T00:00:30Z')
    await eventually(() => expect(summaries().at(-1)?.title).toBe('Daily summary: Daily report, 2027-10-30'))
    const n = summaries().length
    // 02:00 once more, and then the rest of a day of 25 hours.
    moveTo('2027-10-31T01:00:30Z')
    await settle()
    moveTo('2027-10-31T22:59:00Z')
    await settle()
    expect(summaries()).toHaveLength(n)
  })
  test('that is switched on after its hour comes tomorrow; within the hour, at once', async () => {
    await chat({ daily_summary: false })
    moveTo('2027-12-01T10:30:00Z')
    const n = summaries().length
    await chat({ daily_summary: true })
    await settle()
    expect(summaries()).toHaveLength(n)
    await chat({ daily_summary_hour: 11 })
    await eventually(() => expect(summaries().at(-1)?.title).toBe('Daily summary: Daily report, 2027-11-30'))
    // It was heard of once, a year ago by this clock.
    const look = summaries()
      .at(-1)
      ?.tables.find(({ title }) => title === 'Needs attention')
    expect(look?.rows).toContainEqual(['web-01.example', 'offline', ''])
  })
  test('is listed with the schedules, and changed by its switches only', async () => {
    const { schedules } = await admin.call('GET /reports/schedules')
    const [own] = schedules.filter(({ builtin }) => builtin)
    expect(own).toMatchObject({ name: 'Daily summary', period: 'day', hour: 11, channels: ['chat'], enabled: true })
    const params = { id: own?.id ?? 0 }
    await expect(
      admin.call('PATCH /reports/schedules/{id}', { params, body: { enabled: false } }),
    ).rejects.toMatchObject({ status: 409 })
    await expect(admin.call('DELETE /reports/schedules/{id}', { params })).rejects.toMatchObject({ status: 409 })
    await chat({ daily_summary: false })
    const after = await admin.call('GET /reports/schedules')
    expect(after.schedules).toMatchObject([{ builtin: true, channels: [], enabled: false, next_at: null }])
    await expect(admin.call('POST /reports/schedules/{id}/test', { params })).rejects.toMatchObject({ status: 409 })
  })
})

describe.runIf(engine === 'postgres')('two processes', () => {
  test('queue one summary and tell of a ban once, also after one of them ends', async () => {
    const database = await freshDatabase()
    if (!database) throw new Error('this runs on PostgreSQL')
    const time = movableClock()
    const toTomorrow = (at: string) => {
      const tomorrow = new Date(time() + 86_400_000).toISOString().slice(0, 10)
      time.forward((Date.parse(`${tomorrow}T${at}`) - time()) / 1000)
    }
    const one = await startServer({ databaseUrl: database.url, clock: time })
    const signed = await one.setUp()
    const made = await signed.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })
    const agent = await aHost(one, signed.client, 'shared')
    const two = await startServer({ databaseUrl: database.url, clock: time })
    try {
      const body = { enabled: true, webhook_url: receiver.url, daily_summary: true }
      await one.client(made.key).call('PATCH /settings/chat', { body })
      receiver.posts.length = 0
      toTomorrow('08:00:01Z')
      await one.client(agent.key).call('POST /bans', { body: { ip: '203.0.113.1', jail: 'sshd' } })
      await eventually(() => expect(titles().filter(title => title.includes('summary'))).toHaveLength(1))
      await eventually(() => expect(titles().filter(title => title.includes('banned'))).toHaveLength(1))
      await new Promise(resolve => setTimeout(resolve, 1200))
      expect(receiver.posts).toHaveLength(2)
      await one.close()
      toTomorrow('09:30:00Z')
      await two.client(agent.key).call('POST /bans', { body: { ip: '203.0.113.2', jail: 'sshd' } })
      await eventually(() => expect(titles().filter(title => title.includes('summary'))).toHaveLength(2))
      await eventually(() => expect(titles().filter(title => title.includes('banned'))).toHaveLength(2))
      expect(receiver.posts).toHaveLength(4)
    } finally {
      await one.close().catch(() => {})
      await two.close()
      await database.drop()
    }
  })
})
