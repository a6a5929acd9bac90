import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { sliceOf } from '@stockade/contract/slices.ts'
import { testAlone } from '../../testing/alone.ts'
import { aHost, eventually, movableClock, raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withHost } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({ clock }, made => ({ server, admin, host } = made))

const adopt = (bans: readonly object[]) =>
  raw(server, 'PUT', '/api/v1/agent/adopted', { token: host.key, body: { page: 1, pages: 1, bans } })
const held = (ip: string, more: object = {}) => ({
  event_id: randomUUID(),
  jail: 'sshd',
  ip,
  banned_at: new Date(clock() - 60_000).toISOString(),
  ban_duration: 3600,
  ...more,
})
const listOf = async (ip: string) => (await admin.client.call('GET /bans', { query: { ip } })).bans
const serverOf = () => admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })
const metric = async () => {
  const { text } = await raw(server, 'GET', '/metrics')
  return Number(/^stockade_bans_reported_total (\d+)$/m.exec(text)?.[1] ?? 0)
}

testAlone('what a host held before is listed, active and no news', async () => {
  const [active, over, endless] = [
    held('192.0.2.1'),
    held('192.0.2.2', { ban_duration: 10 }),
    held('2001:db8::1', { ban_duration: undefined, jail: 'recidive' }),
  ]
  const reply = await adopt([active, over, endless, { ip: 'nonsense' }, held('192.0.2.9', { event_id: undefined })])
  expect(reply.status, reply.text).toBe(200)
  const { results } = reply.json as { results: { event_id: string | null; id: number | null; error: string | null }[] }
  expect(results.map(({ id, error }) => [id !== null, error !== null])).toEqual([
    [true, false],
    [true, false],
    [true, false],
    [false, true],
    [false, true],
  ])
  expect(await listOf('192.0.2.1')).toMatchObject([
    { origin: 'adopted', active: true, banned_by: 'engine', event_id: active.event_id, ban_duration: 3600 },
  ])
  expect(await listOf('192.0.2.2')).toMatchObject([{ origin: 'adopted', active: false }])
  expect(await listOf('2001:db8::1')).toMatchObject([{ origin: 'adopted', active: true, expires_at: null }])
  expect(await metric()).toBe(0)
  expect(await serverOf()).toMatchObject({ bans_today: 0, install: { first_ban_at: null } })
  // A report is news, and only that.
  await host.client.call('POST /bans', { body: { ip: '192.0.2.3', jail: 'sshd' } })
  expect(await listOf('192.0.2.3')).toMatchObject([{ origin: null }])
  expect(await metric()).toBe(1)
  expect(await serverOf()).toMatchObject({ bans_today: 1 })
})
test('the same ban again, adopted or reported, is the same row', async () => {
  const ban = held('192.0.2.4')
  const idOf = (reply: Awaited<ReturnType<typeof adopt>>) =>
    (reply.json as { results: { id: number }[] }).results[0]?.id
  const first = idOf(await adopt([ban, ban]))
  expect(idOf(await adopt([ban]))).toBe(first)
  expect((await host.client.call('POST /bans', { body: ban })).id).toBe(first)
  expect(await listOf('192.0.2.4')).toHaveLength(1)
  const reported = held('192.0.2.5')
  const { id } = await host.client.call('POST /bans', { body: reported })
  expect(idOf(await adopt([reported]))).toBe(id)
  expect(await listOf('192.0.2.5')).toMatchObject([{ origin: null }])
})
test('a ban that the host holds still lasts as long as the host says now, until it has ended', async () => {
  const brief = { ban_duration: 100 }
  const [moved, reported, over] = [
    held('203.0.113.60', brief),
    held('203.0.113.61', brief),
    held('203.0.113.62', brief),
  ]
  const endless = held('203.0.113.63', { ban_duration: null })
  await host.client.call('POST /bans/batch', { body: { bans: [reported, over] } as never })
  await adopt([moved, endless])
  await host.client.call('POST /bans/batch', { body: { unbans: [{ ip: over.ip, jail: 'sshd' }] } })
  const bannedNow = async () => {
    const { attackers } = await admin.client.call('GET /bans/attackers', {
      query: { active: true, ip: '203.0.113.60/30' },
    })
    return attackers.map(({ ip, permanent }) => [ip, permanent]).sort()
  }
  expect(await bannedNow()).toEqual([moved, reported, endless].map(({ ip }) => [ip, false]))
  const again = (ban: ReturnType<typeof held>, ban_duration: number | null) => ({ ...ban, ban_duration })
  const reply = await adopt([again(moved, 130), again(reported, -1), again(over, 130), again(endless, 600)])
  expect(reply.json).toMatchObject({ results: [{ error: null }, { error: null }, { error: null }, { error: null }] })
  const endAfter = ({ banned_at }: { banned_at: string }, seconds: number) =>
    new Date(Date.parse(banned_at) + seconds * 1000).toISOString()
  expect(await listOf(moved.ip)).toMatchObject([
    { active: true, origin: 'adopted', ban_duration: 130, expires_at: endAfter(moved, 130) },
  ])
  expect(await listOf(reported.ip)).toMatchObject([{ active: true, origin: null, ban_duration: -1, expires_at: null }])
  expect(await listOf(over.ip)).toMatchObject([{ active: false, ban_duration: 100 }])
  expect(await listOf(endless.ip)).toMatchObject([{ active: true, expires_at: endAfter(endless, 600) }])
  clock.forward(41)
  expect(await listOf(moved.ip)).toMatchObject([{ active: true, unbanned_at: null }])
  expect(await bannedNow()).toEqual([
    [moved.ip, false],
    [reported.ip, true],
    [endless.ip, false],
  ])
  // A report again is the first one: only what the host says it holds moves an end.
  await host.client.call('POST /bans', { body: again(moved, 60) as never })
  expect(await listOf(moved.ip)).toMatchObject([{ active: true, ban_duration: 130 }])
  clock.forward(30)
  expect(await listOf(moved.ip)).toMatchObject([{ active: false, expires_at: endAfter(moved, 130) }])
})
test('among reports of one batch it alone is no news', async () => {
  const mixed = await Promise.all([
    adopt([held('192.0.2.20'), held('192.0.2.21')]),
    host.client.call('POST /bans', { body: held('192.0.2.22') }),
    adopt([held('192.0.2.23')]),
    host.client.call('POST /bans', { body: held('192.0.2.24') }),
  ])
  expect(mixed).toHaveLength(4)
  await eventually(async () => {
    const bans = await listOf('192.0.2.16/28')
    expect(Object.fromEntries(bans.map(({ ip, origin }) => [ip, origin]))).toEqual({
      '192.0.2.20': 'adopted',
      '192.0.2.21': 'adopted',
      '192.0.2.22': null,
      '192.0.2.23': 'adopted',
      '192.0.2.24': null,
    })
  })
})
test('its end is reported as of any other, and the whitelist lifts it', async () => {
  await adopt([held('192.0.2.6')])
  await host.client.call('POST /bans/batch', { body: { unbans: [{ ip: '192.0.2.6', jail: 'sshd' }] } })
  expect(await listOf('192.0.2.6')).toMatchObject([{ active: false }])
  await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.1' } })
  await adopt([held('198.51.100.1')])
  const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
    params: { serverId: host.id },
  })
  expect(commands).toMatchObject([{ type: 'unban-ip', params: { ip: '198.51.100.1' } }])
})
test('a comparison names what is lost here, and the second one ends what the host does not hold', async () => {
  // No other host of this test has compared anything, and no look is shared.
  const [web, other] = [await aHost(server, admin.client, 'web-02'), await aHost(server, admin.client, 'other-01')]
  const agentId = () => `${randomUUID().slice(0, 14)}8${randomUUID().slice(15)}`
  const old = (ip: string, event_id = agentId()) =>
    held(ip, { event_id, ban_duration: -1, banned_at: new Date(clock() - 300_000).toISOString() })
  const [kept, lifted, scripted] = [old('192.0.2.30'), old('192.0.2.31'), { ...old('192.0.2.33'), event_id: undefined }]
  const fresh = held('192.0.2.32', {
    event_id: agentId(),
    ban_duration: -1,
    banned_at: new Date(clock()).toISOString(),
  })
  await other.client.call('POST /bans/batch', { body: { bans: [old('192.0.2.30')] } as never })
  await web.client.call('POST /bans/batch', { body: { bans: [kept, lifted, scripted, fresh] } as never })
  const lost = { event_id: agentId(), jail: 'sshd', ip: '192.0.2.34' }
  // A ban that the host renewed has another id there, and is the same ban.
  const renewed = { event_id: agentId(), jail: 'sshd', ip: kept.ip }
  const compare = (more: object = {}, { key } = web) =>
    raw(server, 'PUT', '/api/v1/agent/active', {
      token: key,
      body: { as_of: new Date(clock()).toISOString(), bans: [lost, renewed], ...more },
    })
  const unknown = [lost.event_id]
  expect((await compare()).json).toEqual({ unknown, listed_as_ended: [], ended: 0, pending: 1 })
  expect(await compare()).toMatchObject({ status: 429 })
  expect((await listOf('192.0.2.31')).some(({ active }) => active)).toBe(true)
  clock.forward(11)
  expect((await compare()).json).toEqual({ unknown, listed_as_ended: [], ended: 1, pending: 0 })
  expect((await listOf('192.0.2.31')).some(({ active }) => active)).toBe(false)
  for (const ip of ['192.0.2.30', '192.0.2.32', '192.0.2.33'])
    expect(
      (await listOf(ip)).every(({ active }) => active),
      ip,
    ).toBe(true)
  // What ended here is named a minute later, however it ended.
  const [brief, lately] = [{ ...old('192.0.2.36'), ban_duration: 100 }, old('192.0.2.37')]
  const unbans = [{ ip: lately.ip, jail: lately.jail }]
  await web.client.call('POST /bans/batch', { body: { bans: [brief, lately] } as never })
  await web.client.call('POST /bans/batch', { body: { unbans } })
  clock.forward(11)
  const both = { bans: [brief, lately] }
  expect((await compare(both)).json).toMatchObject({ unknown: [], listed_as_ended: [brief.event_id] })
  clock.forward(61)
  const listed_as_ended = [brief.event_id, lately.event_id]
  expect((await compare(both)).json).toMatchObject({ unknown: [], listed_as_ended })
  // Another host learns nothing of these ids, and ends nothing of them.
  const answer = await compare({ bans: [{ ...kept, ip: '192.0.2.35' }] }, other)
  expect(answer.json).toEqual({ unknown: [kept.event_id], listed_as_ended: [], ended: 0, pending: 1 })
  clock.forward(11)
  for (const bad of [{ as_of: 'now' }, { bans: [{ event_id: 'x' }] }, { bans: undefined }])
    expect(await compare(bad)).toMatchObject({ status: 400 })
  expect(await compare({}, { ...web, key: admin.token })).toMatchObject({ status: 403 })
})
test('a host with very many bans compares slice by slice, and a slice ends nothing of another one', async () => {
  const web = await aHost(server, admin.client, 'web-03')
  const agentId = () => `${randomUUID().slice(0, 14)}8${randomUUID().slice(15)}`
  const bans = Array.from({ length: 24 }, (_, i) =>
    held(i % 2 ? `198.51.100.${100 + i}` : `2001:db8:5::${i.toString(16)}`, {
      event_id: agentId(),
      ban_duration: -1,
      banned_at: new Date(clock() - 300_000).toISOString(),
    }),
  )
  await web.client.call('POST /bans/batch', { body: { bans } as never })
  const of = 2
  const inSlice = (slice: number) => bans.filter(({ ip }) => sliceOf(ip, of) === slice)
  expect(Math.min(inSlice(0).length, inSlice(1).length)).toBeGreaterThan(1)
  const compare = (slice: number, sent: readonly object[], query = `?slice=${slice}&of=${of}`) =>
    raw(server, 'PUT', `/api/v1/agent/active${query}`, {
      token: web.key,
      body: { as_of: new Date(clock()).toISOString(), bans: sent },
    })
  // The host lost the first ban of each slice.
  const [lost0, ...kept0] = inSlice(0)
  const [lost1, ...kept1] = inSlice(1)
  const nothing = { unknown: [], listed_as_ended: [], ended: 0 }
  // The look that another test began may be shared for some seconds.
  await eventually(async () => {
    clock.forward(11)
    expect((await compare(0, kept0)).json).toEqual({ ...nothing, pending: 1 })
  })
  expect(await compare(1, kept1)).toMatchObject({ status: 429 })
  clock.forward(1)
  expect((await compare(1, kept1)).json).toEqual({ ...nothing, pending: 1 })
  clock.forward(1)
  expect(await compare(0, kept0)).toMatchObject({ status: 429 })
  expect(await compare(0, [], '')).toMatchObject({ status: 429 })
  clock.forward(9)
  expect((await compare(0, kept0)).json).toEqual({ ...nothing, ended: 1, pending: 0 })
  clock.forward(1)
  // It holds the other one again.
  expect((await compare(1, inSlice(1))).json).toEqual({ ...nothing, pending: 0 })
  const active = async (ip: string) => (await listOf(ip)).some(each => each.active)
  expect(await active(lost0?.ip ?? '')).toBe(false)
  for (const { ip } of [...kept0, ...kept1, lost1 ?? { ip: '' }]) expect(await active(ip), ip).toBe(true)
  // A different number of slices resets the comparison, and addresses in the wrong slice end no ban.
  clock.forward(11)
  expect(await compare(0, kept1)).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining('does not belong to slice 0 of 2') },
  })
  for (const bad of ['?slice=2&of=2', '?slice=1', '?of=65', '?slice=-1&of=2', '?slice=0&of=2&more=1'])
    expect(await compare(0, [], bad), bad).toMatchObject({ status: 400 })
  expect((await compare(0, [], '?slice=0&of=3')).json).toMatchObject({ ended: 0 })
})
test('only for the host itself, and 1,000 a page', async () => {
  const many = Array.from({ length: 1001 }, () => held('192.0.2.7'))
  expect(await adopt(many)).toMatchObject({ status: 400 })
  const body = { bans: [] }
  expect(await raw(server, 'PUT', '/api/v1/agent/adopted', { token: admin.token, body })).toMatchObject({ status: 403 })
})
test('from a host in quarantine nothing is taken over', async () => {
  const stolen = await aHost(server, admin.client, 'stolen')
  const params = { serverId: stolen.id }
  await admin.client.call('POST /servers/{serverId}/quarantine', { params, body: { reason: 'Key leaked.' } })
  const body = { bans: [held('198.51.100.99')] }
  expect(await raw(server, 'PUT', '/api/v1/agent/adopted', { token: stolen.key, body })).toMatchObject({ status: 403 })
  expect((await admin.client.call('GET /bans', { query: { ip: '198.51.100.99' } })).total).toBe(0)
})
