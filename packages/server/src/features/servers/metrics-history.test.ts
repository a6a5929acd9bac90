import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, freshDatabase, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

const minute = 60_000
/** At the start of an hour, so that steps are where the test says. */
let now = Math.floor(Date.now() / (60 * minute)) * 60 * minute
const clock = () => now
const dataDir = mkdtempSync(join(tmpdir(), 'stockade-metrics-'))
let database: Awaited<ReturnType<typeof freshDatabase>>
let server: TestServer
let admin: Signed
let host: Awaited<ReturnType<typeof aHost>>
/** The last hour before the restart. */
let before: Awaited<ReturnType<typeof history>>

const start = async () => {
  server = await startServer({ clock, dataDir, ...(database ? { databaseUrl: database.url } : {}) })
}
beforeAll(async () => {
  database = await freshDatabase()
  await start()
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'web-01')
})
afterAll(async () => {
  await server?.close()
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const beat = (metrics: object | null, current_bans = 0) =>
  raw(server, 'POST', '/api/v1/servers/heartbeat', {
    token: host.key,
    body: {
      hostname: 'web-01',
      agent_id: host.agentId,
      metrics,
      jails: [{ name: 'sshd', enabled: true, current_bans }],
    },
  })
const history = (hours = 24) =>
  admin.client.call('GET /servers/{serverId}/metrics', { params: { serverId: host.id }, query: { hours } })
const load = (cpu_percent: number) => ({ cpu_percent, memory_percent: 40, disk_percent: null, uptime: 1 })

test('means of each step, peaks, and null where nothing was reported', async () => {
  const nothing = await history()
  expect(nothing.step_seconds).toBe(300)
  expect(nothing.points.cpu).toEqual(Array.from({ length: 288 }, () => null))
  expect(nothing.peaks).toEqual({ cpu: null, memory: null, disk: null, banned: null })
  await beat(load(10), 5)
  now += minute
  await beat(load(20.5), 7)
  now += minute
  await beat(null, 3)
  now += 8 * minute
  await beat(load(90), 4)
  // Each of two processes hears a part of the reports, and shows the other's after its next flush.
  before = await eventually(async () => {
    const found = await history(1)
    expect(found.points.cpu.slice(-3)).toEqual([15.3, null, 90])
    expect(found.peaks.banned).toBe(7)
    return found
  })
  const { points, peaks, from } = before
  expect(points.memory.slice(-3)).toEqual([40, null, 40])
  expect(points.disk.slice(-3)).toEqual([null, null, null])
  expect(points.banned.slice(-3)).toEqual([3, null, 4])
  expect(points.cpu).toHaveLength(12)
  expect(peaks).toEqual({ cpu: 90, memory: 40, disk: null, banned: 7 })
  expect(Date.parse(from)).toBe(Math.floor(now / (5 * minute)) * 5 * minute - 55 * minute)
})

test('survives a restart, and a step goes on where it was', async () => {
  await server.close()
  await start()
  admin = await server.signIn()
  expect(await history(1)).toEqual(before)
  await beat(load(70), 6)
  await eventually(async () => {
    const { points } = await history(1)
    expect(points.cpu.at(-1)).toBe(80)
    expect(points.banned.at(-1)).toBe(6)
  })
})

test('reaches back a day, and ends with the server', async () => {
  now += 23 * 60 * minute
  admin = await server.signIn()
  expect((await history()).peaks.cpu).toBe(90)
  now += 61 * minute
  admin = await server.signIn()
  expect((await history()).peaks.cpu).toBeNull()
  await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })
  await expect(history()).rejects.toMatchObject({ status: 404 })
})
