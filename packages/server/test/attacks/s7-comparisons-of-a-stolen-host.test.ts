import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { bounds } from '@stockade/contract'
import { sliceOf } from '@stockade/contract/slices.ts'
import { aHost, raw, standingClock } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { withTwoHosts } from '../../src/testing/scene.ts'

/* A stolen host compares as many bans as it can, again and again, and each has its price on the event loop. */

/** No time passes between requests, however slow the machine is. */
const clock = standingClock()
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
withTwoHosts({ clock }, scene => ({ server, admin, web, db } = scene))

interface Held {
  readonly event_id: string
  readonly jail: string
  readonly ip: string
}
const agentId = () => `${randomUUID().slice(0, 14)}8${randomUUID().slice(15)}`
const held = (ip: string, jail = 'sshd'): Held => ({ event_id: agentId(), jail, ip })
const compare = (host: EnrolledHost, bans: readonly Held[], query = '') =>
  raw(server, 'PUT', `/api/v1/agent/active${query}`, {
    token: host.key,
    body: { as_of: new Date(clock()).toISOString(), bans },
  })
const many = (count: number) =>
  Array.from({ length: count }, (_, at) => held(`45.${at >> 14}.${(at >> 7) & 127}.${at & 127}`))

test('the same ban twice is refused, in whatever form it comes', async () => {
  const one = held('2001:db8::1')
  const range = held('198.51.100.0/24')
  for (const again of [
    { ...held('2001:db8::2'), event_id: one.event_id.toUpperCase() },
    held('2001:0DB8:0:0::1'),
    held('198.51.100.77/24'),
    range,
    held('no address'),
  ]) {
    const bans = [one, range, held('no address', 'other'), held('no address'), again]
    expect(await compare(web, bans), again.ip).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('is there twice') },
    })
  }
  expect((await compare(web, [one, range, held('2001:db8::1', 'other')])).json).toMatchObject({ pending: 0 })
})

test('what a real host holds is compared, and no more of it in ten seconds in whatever slices', async () => {
  const of = 3
  const bans = many(bounds.activeBansPerHost + 10_000)
  const parts = [0, 1, 2].map(slice => bans.filter(({ ip }) => sliceOf(ip, of) === slice))
  const ask = (slice: number) => compare(db, parts[slice] ?? [], `?slice=${slice}&of=${of}`)
  for (const slice of [0, 1]) {
    clock.forward(3)
    const { status, json } = await ask(slice)
    expect(status).toBe(200)
    expect((json as { unknown: string[] }).unknown).toHaveLength(parts[slice]?.length ?? 0)
  }
  clock.forward(3)
  const refused = await ask(2)
  expect(refused).toMatchObject({ status: 429, json: { message: expect.stringContaining('in all slices together') } })
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBe(4)
  // Other slices, and other numbers of them, are no way around it, and a refused body counts like any other.
  expect((await compare(db, parts[2] ?? [], '?slice=5&of=64')).status).toBe(429)
  clock.forward(wait)
  expect((await ask(2)).status).toBe(200)
  const thief = await aHost(server, admin.client, 'thief')
  const whole = many(bounds.activeBansPerHost)
  expect((await compare(thief, whole.toSpliced(-1, 1, whole[0] ?? held('192.0.2.1')))).status).toBe(400)
  expect((await compare(thief, whole)).status).toBe(429)
  clock.forward(10)
  expect((await compare(thief, whole)).status).toBe(200)
})

test('a host hears of its own bans, beside many of others and beside many that ask', async () => {
  const hosts = await Promise.all(Array.from({ length: 8 }, (_, at) => aHost(server, admin.client, `many-${at}`)))
  const past = new Date(clock() - 300_000).toISOString()
  // More than one page of the scan.
  for (const [place, host] of hosts.entries())
    await host.client.call('POST /bans/batch', {
      body: {
        bans: Array.from({ length: 400 }, (_, at) => ({
          ...held(`45.${place}.${at >> 7}.${at & 127}`),
          ban_duration: -1,
          banned_at: past,
        })),
      },
    })
  clock.forward(60)
  const answers = await Promise.all(hosts.map(host => compare(host, [])))
  for (const { json } of answers) expect(json).toMatchObject({ unknown: [], ended: 0, pending: 400 })
})
