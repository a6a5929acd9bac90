import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import { day } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { createReader } from '../../events/reader.ts'
import { stockade } from '../../testing/command.ts'
import { aHost, engine, eventually, freshDatabase, startServer } from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { recount } from './recount.store.ts'
import { createRetention } from './retention.service.ts'

interface Stage {
  readonly server: TestServer
  readonly admin: Client
  readonly hosts: readonly EnrolledHost[]
  /** The server's storage, by a second connection. */
  readonly db: Database
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}
const aStage = async (): Promise<Stage> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-retention-'))
  const database = await freshDatabase()
  const server = await startServer({ dataDir, ...(database ? { databaseUrl: database.url } : {}) })
  const { client: admin } = await server.setUp()
  const hosts = [await aHost(server, admin, 'web-01'), await aHost(server, admin, 'web-02')]
  const env = {
    STOCKADE_DATA_DIR: dataDir,
    ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
  }
  const db = await openStorage(readConfig(env))
  return {
    server,
    admin,
    hosts,
    db,
    env,
    async close() {
      await db.close()
      await server.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
const runRecount = async ({ env }: Stage, ...more: string[]): Promise<{ code: number; out: string }> => {
  const { code, out } = await stockade(env, ['admin', 'recount', ...more])
  return { code, out }
}
const retentionOf = (db: Database, given: { banDays?: number; eventDays?: number; now?: number } = {}) =>
  createRetention({
    db,
    clock: () => given.now ?? Date.now(),
    banDays: given.banDays ?? 40,
    eventDays: given.eventDays ?? 90,
    log: { info: () => {} },
  })
const aBan = (daysAgo: number, n: number, ban_duration = 600) => ({
  ip: `198.51.${100 + (n % 3)}.${n % 50}`,
  jail: ['sshd', 'nginx', 'postfix'][n % 3] ?? '',
  log_lines: '',
  ban_duration,
  banned_at: new Date(Date.now() - daysAgo * day - n * 1000).toISOString(),
  event_id: randomUUID(),
})
const count = async (db: Database, where = sql`1 = 1`): Promise<number> =>
  Number((await sql<{ n: number }>`select count(*) as n from bans where ${where}`.execute(db.read)).rows[0]?.n)

/** Waits until the server has added every ban to the sums, which it does within a second. */
const allSummed = (db: Database) =>
  eventually(async () => {
    const unsummed = engine === 'sqlite' ? sql`bans where id > (select ban_id from rolled_up)` : sql`unsummed_bans`
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${unsummed}`.execute(db.read)
    expect(Number(rows[0]?.n)).toBe(0)
  })

describe('bans', () => {
  let stage: Stage
  let horizon = 0
  beforeAll(async () => {
    stage = await aStage()
    for (const [index, host] of stage.hosts.entries()) {
      const bans = Array.from({ length: 900 }, (_, n) => aBan((n % 90) + 0.01, n + index, n % 100 === 0 ? -1 : 600))
      await host.client.call('POST /bans/batch', { body: { bans } })
    }
    const [host] = stage.hosts
    // This address was last banned long ago; that one both long ago and lately.
    const old = { ...aBan(80, 0), ip: '203.0.113.1' }
    const both = [80, 5].map(days => ({ ...aBan(days, 0), ip: '203.0.113.2' }))
    await host?.client.call('POST /bans/batch', { body: { bans: [old, ...both] } })
  })
  afterAll(() => stage.close())

  test('old ones go unless they are active, and every total is exact after it', async () => {
    const { admin, db, hosts } = stage
    const before = await count(db)
    expect(before).toBe(1803)
    const ever = await Promise.all(
      hosts.map(({ id }) => admin.call('GET /servers/{serverId}', { params: { serverId: id } })),
    )
    const seenBefore = await admin.call('GET /bans/stats', { query: { period: 'month' } })
    horizon = Date.now() - 40 * day
    await retentionOf(db).run()

    expect(await count(db, sql`banned_at < ${horizon - 60_000} and ban_duration <> -1`)).toBe(0)
    const stillActive = await count(db, sql`banned_at < ${horizon} and ban_duration = -1`)
    expect(stillActive).toBeGreaterThan(4)
    const left = await count(db)
    expect(left).toBeLessThan(before)
    expect(await recount(db.read, db.engine)).toEqual([])

    const at = (days: number) => new Date(Date.now() - days * day).toISOString()
    const [first] = hosts
    const spans = [
      {},
      { from: at(300) },
      { from: at(70), to: at(50) },
      { from: at(70), to: at(20) },
      { from: at(40.1) },
      { to: at(41) },
      { to: at(20) },
      { from: at(30), to: at(10) },
    ]
    const others = [
      {},
      { server_id: first?.id ?? '' },
      { jail: 'sshd' },
      { country: 'ZZ' },
      { server_id: first?.id ?? '', jail: 'nginx' },
      { active: true },
      { active: false },
    ]
    for (const span of spans)
      for (const other of others) {
        const query = { ...span, ...other }
        const { total } = await admin.call('GET /bans', { query })
        let listed = 0
        for (let page = 1; ; page++) {
          const { bans } = await admin.call('GET /bans', { query: { ...query, page, limit: 100 } })
          listed += bans.length
          if (bans.length < 100) break
        }
        expect([query, total]).toEqual([query, listed])
      }
    for (const [index, { id }] of hosts.entries()) {
      const now = await admin.call('GET /servers/{serverId}', { params: { serverId: id } })
      expect(now.total_bans).toBe(ever[index]?.total_bans)
    }
    const seen = await admin.call('GET /bans/stats', { query: { period: 'month' } })
    expect({ ...seen, from: '', to: '' }).toEqual({ ...seenBefore, from: '', to: '' })
    const { rows } = await sql<{ n: number }>`select count(distinct ip) as n from bans
      where banned_at >= ${Date.now() - 30 * day}`.execute(db.read)
    expect(seen.unique_ips).toBe(Number(rows[0]?.n))
    expect((await admin.call('GET /bans', { query: { ip: '203.0.113.1' } })).total).toBe(0)
    expect((await admin.call('GET /bans', { query: { ip: '203.0.113.2' } })).total).toBe(1)

    // A host that was away for long reports what is older than the horizon: it counts until it goes.
    await first?.client.call('POST /bans/batch', { body: { bans: [aBan(60, 1), aBan(60, 2)] } })
    expect((await admin.call('GET /bans')).total).toBe(left + 2)
    expect((await admin.call('GET /bans', { query: { to: at(50) } })).total).toBe(
      await count(db, sql`banned_at < ${Date.now() - 50 * day}`),
    )
    const numbers = () => sql<{ id: number }>`select max(id) as id from bans`.execute(db.read)
    const given = Number((await numbers()).rows[0]?.id)
    await retentionOf(db).run()
    expect((await admin.call('GET /bans')).total).toBe(left)
    expect(await recount(db.read, db.engine)).toEqual([])
    // Their numbers, the highest so far, are not given again.
    expect(Number((await numbers()).rows[0]?.id)).toBeLessThan(given)
    const next = await first?.client.call('POST /bans', { body: aBan(1, 3) })
    expect(next?.id).toBeGreaterThan(given)
    expect((await admin.call('GET /bans')).total).toBe(left + 1)
  })

  test('a recount finds what is wrong, and repairs it', async () => {
    const { admin, db } = stage
    const { total } = await admin.call('GET /bans')
    const month = await admin.call('GET /bans/stats', { query: { period: 'month' } })
    await allSummed(db)
    await sql`update rolled_ban_cube set n = n + 7 where jail_id = 1`.execute(db.write)
    await sql`delete from rolled_ban_hours_jail where bucket >= ${Date.now() - 20 * day}`.execute(db.write)
    await sql`update rolled_last_bans set n = n + 1`.execute(db.write)
    await sql`update rolled_server_totals set total_bans = 1`.execute(db.write)
    const lists = db.engine === 'sqlite' ? ['country_bans', 'jail_bans', 'server_bans'] : []
    for (const name of lists)
      await sql`delete from ${sql.table(`rolled_${name}`)} where id in (select id from bans limit 3)`.execute(db.write)
    expect(await runRecount(stage)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/ban_cube: \d+ cells? holds? \d+ in all, and should hold \d+\n/) as string,
    })
    const found = await recount(db.read, db.engine)
    expect(found.map(({ table }) => table).sort()).toEqual(
      ['ban_cube', 'ban_hours_jail', 'last_bans', 'server_totals', ...lists].sort(),
    )
    for (const name of lists)
      expect(found.find(({ table }) => table === name)).toMatchObject({ cells: 3, counted: 3, held: 0 })
    expect(found.find(({ table }) => table === 'ban_hours_jail')?.held).toBe(0)
    expect((await runRecount(stage, '--repair')).code).toBe(0)
    expect(await runRecount(stage)).toEqual({ code: 0, out: 'All sums are as the bans say.\n' })
    expect((await admin.call('GET /bans')).total).toBe(total)
    const again = await admin.call('GET /bans/stats', { query: { period: 'month' } })
    expect(again).toMatchObject({ total_bans: month.total_bans, unique_ips: month.unique_ips })
  })

  test.skipIf(engine !== 'sqlite')('sums that begin again too early are told of, and stop no report', async () => {
    const { admin, db, hosts } = stage
    const { total } = await admin.call('GET /bans')
    await sql`update rolled_up set ban_id = ban_id - 3`.execute(db.write)
    await hosts[0]?.client.call('POST /bans', { body: aBan(1, 4) })
    await allSummed(db)
    const found = (await recount(db.read, db.engine)).map(({ table }) => table)
    expect(found).toContain('ban_cube')
    expect(found).not.toContain('server_bans')
    expect((await runRecount(stage, '--repair')).code).toBe(0)
    expect(await recount(db.read, db.engine)).toEqual([])
    expect((await admin.call('GET /bans')).total).toBe(total + 1)
  })

  test('eight writers against a retention that does not stop: nothing is miscounted, nobody is refused', async () => {
    const { admin, db, hosts } = stage
    let [sent, runs] = [0, 0]
    const isDone = () => sent >= 2000 && runs >= 3
    const writer = async (n: number) => {
      const host = hosts[n % 2]
      for (let round = 0; !isDone(); round++) {
        const bans = Array.from({ length: 20 }, (_, k) =>
          aBan(k % 2 === 0 ? 45 : 1, n * 1000 + round * 20 + k, k % 7 === 0 ? -1 : 600),
        )
        await host?.client.call('POST /bans/batch', { body: { bans } })
        sent += bans.length
      }
    }
    const sweeper = async () => {
      while (!isDone()) {
        await retentionOf(db).run()
        runs++
      }
    }
    await Promise.all([...Array.from({ length: 8 }, (_, n) => writer(n)), sweeper()])
    await retentionOf(db).run()
    expect(await recount(db.read, db.engine)).toEqual([])
    expect((await admin.call('GET /bans')).total).toBe(await count(db))
    expect(await count(db, sql`banned_at < ${Date.now() - 41 * day} and ban_duration <> -1`)).toBe(0)
    expect(
      await count(db, sql`not exists (select 1 from active_bans a where a.ban_id = bans.id) and ban_duration = -1`),
    ).toBe(0)
    const orphans =
      await sql`select 1 from active_bans a where not exists (select 1 from bans where id = a.ban_id)`.execute(db.read)
    expect(orphans.rows).toEqual([])
  })
})

test('events and the audit log end with their time, readers go on, and storage is closed again', async () => {
  const { admin, db, close } = await aStage()
  try {
    await admin.call('POST /whitelist/bulk', {
      body: { entries: Array.from({ length: 700 }, (_, n) => ({ ip: `203.0.${n % 7}.${Math.floor(n / 7)}` })) },
    })
    const reader = createReader(db, 'test')
    const { position } = await reader.read(10)
    await db.write.transaction().execute(change => reader.keep({ sql: change }, { ...position, id: 1, xid: '1' }))
    const ahead = Date.now() + 100 * day
    await retentionOf(db, { eventDays: 101, now: ahead }).run()
    expect((await admin.call('GET /settings/audit')).total).toBeGreaterThan(700)
    const done = await admin.call('POST /whitelist', { body: { ip: '192.0.2.1' } })
    // Everything is old by then, whatever the reader has seen of it.
    await retentionOf(db, { eventDays: 90, now: ahead }).run()
    const { rows } = await sql<{
      n: number
    }>`select (select count(*) from events) + (select count(*) from audit) as n`.execute(db.read)
    expect(Number(rows[0]?.n)).toBe(0)
    expect((await admin.call('GET /settings/audit')).total).toBe(0)
    await admin.call('DELETE /whitelist/{id}', { params: { id: done.id } })
    expect((await admin.call('GET /settings/audit')).entries.map(({ action }) => action)).toEqual(['whitelist.remove'])
    await eventually(async () =>
      expect((await reader.read(10)).events.map(({ name }) => name)).toEqual(['whitelist.remove']),
    )
    await expect(sql`delete from events`.execute(db.write)).rejects.toThrow(/append-only/)
    await expect(sql`delete from audit`.execute(db.write)).rejects.toThrow(/append-only/)
  } finally {
    await close()
  }
})

test('commands that ended long ago go; what waits, runs or was deployed stays', async () => {
  const { admin, db, hosts, close } = await aStage()
  try {
    const serverId = hosts[0]?.id ?? ''
    const queue = async () =>
      (
        await admin.call('POST /servers/{serverId}/commands', {
          params: { serverId },
          body: { type: 'reload-all', params: {} },
        })
      ).id
    const ended = await queue()
    await admin.call('DELETE /commands/{commandId}', { params: { commandId: ended } })
    const waiting = await queue()
    await retentionOf(db, { now: Date.now() + 89 * day }).run()
    expect((await admin.call('GET /commands')).total).toBe(2)
    await retentionOf(db, { now: Date.now() + 91 * day }).run()
    const { commands } = await admin.call('GET /commands')
    expect(commands.map(({ id }) => id)).toEqual([waiting])
  } finally {
    await close()
  }
})
