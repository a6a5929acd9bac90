import pg from 'pg'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { system } from '../core/author.ts'
import { conflict } from '../core/problem.ts'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import type { Postgres } from '../db/postgres.ts'
import { aHost, engine, freshDatabase, startServer } from '../testing/index.ts'
import type { Signed, TestServer } from '../testing/index.ts'
import { createEvents } from './events.ts'
import type { Change, Events, StockadeEvent } from './events.ts'

const fail = (error: unknown): never => {
  throw error
}
const raise = (code: string) => sql.raw(`do $$ begin raise exception using errcode = '${code}'; end $$`)

describe.runIf(engine === 'postgres')('a change that PostgreSQL ends in favour of another one', () => {
  let db: Postgres
  let drop: () => Promise<void> = async () => {}
  let events: Events
  let told: StockadeEvent[]
  let before = 0
  beforeAll(async () => {
    const database = await freshDatabase()
    if (!database) throw new Error('this runs on PostgreSQL')
    drop = database.drop
    // Its last connections may still be there when the database is dropped, and are ended by that.
    db = await openPostgres(database.url, () => {})
    await migrate(db)
  })
  afterAll(async () => {
    await db.close()
    await drop()
  })
  beforeEach(async () => {
    before = 0
    before = await recorded()
    told = []
    events = createEvents(db, Date.now, fail, null)
    events.subscribe(heard => told.push(...heard))
  })
  /** How many events this test has stored. */
  const recorded = async () => (await db.read.selectFrom('events').select('id').execute()).length - before
  const note = (change: Change, who: string) =>
    change.record({ name: 'settings.update', author: system, data: { field: who } })

  test('is made anew: two that take rows in opposite order both succeed, and each is told once', async () => {
    for (const key of ['a', 'b'])
      await db.write.insertInto('settings').values({ key, value: '""', updated_at: 0 }).execute()
    let runs = 0
    let holding = 0
    let go = () => {}
    const bothHold = new Promise<void>(resolve => (go = resolve))
    const take = ({ sql }: Change, key: string, who: string) =>
      sql
        .updateTable('settings')
        .set(({ eb, ref }) => ({ value: eb(ref('value'), '||', who) }))
        .where('key', '=', key)
        .execute()
    const both = (who: string, first: string, second: string) =>
      events.change(async change => {
        runs++
        await note(change, who)
        await take(change, first, who)
        if (++holding === 2) go()
        await bothHold
        await take(change, second, who)
        return who
      })
    expect(await Promise.all([both('x', 'a', 'b'), both('y', 'b', 'a')])).toEqual(['x', 'y'])
    expect(runs).toBeGreaterThan(2)
    expect(told.map(({ data }) => data.field).sort()).toEqual(['x', 'y'])
    expect(await recorded()).toBe(2)
    const rows = await db.read.selectFrom('settings').select('value').where('key', 'in', ['a', 'b']).execute()
    expect(rows.map(({ value }) => [...value.slice(2)].sort().join(''))).toEqual(['xy', 'xy'])
  })
  test.each(['40001', '40P01'])('is given up after five times (%s)', async code => {
    let runs = 0
    const change = events.change(async change => {
      runs++
      await note(change, 'x')
      await raise(code).execute(change.sql)
    })
    await expect(change).rejects.toMatchObject({ code })
    expect([runs, told, await recorded()]).toEqual([5, [], 0])
  })
  test('tells what the run that was committed recorded', async () => {
    let runs = 0
    const value = await events.change(async change => {
      const run = ++runs
      await change.recordMany([1, 2].map(n => ({ name: 'settings.update', author: system, data: { run, n } })))
      if (run < 5) await raise('40001').execute(change.sql)
      return run
    })
    expect(value).toBe(5)
    expect(told.map(({ data }) => data)).toEqual([
      { run: 5, n: 1 },
      { run: 5, n: 2 },
    ])
    expect(await recorded()).toBe(2)
  })
  test('a refusal, or any other failure, is one at once', async () => {
    let runs = 0
    const refused = events.change(async () => {
      runs++
      throw conflict('There is one already.')
    })
    await expect(refused).rejects.toMatchObject({ status: 409 })
    const doubled = events.change(async change => {
      runs++
      await raise('23505').execute(change.sql)
    })
    await expect(doubled).rejects.toMatchObject({ code: '23505' })
    expect(runs).toBe(2)
  })
  test('a hot write has the same five', async () => {
    let runs = 0
    const postgres = async (client: pg.PoolClient, succeedsAt: number) => {
      if (++runs < succeedsAt) await client.query(raise('40P01').compile(db.read).sql)
      return runs
    }
    expect(await db.run({ name: 'late', module: '', postgres }, 5)).toBe(5)
    runs = 0
    await expect(db.run({ name: 'never', module: '', postgres }, 6)).rejects.toMatchObject({ code: '40P01' })
    expect(runs).toBe(5)
  })
})

describe.runIf(engine === 'postgres')('a request whose transaction is rolled back', () => {
  let server: TestServer
  let admin: Signed
  let storage: pg.Client
  let drop: () => Promise<void> = async () => {}
  beforeAll(async () => {
    const database = await freshDatabase()
    if (!database) throw new Error('this runs on PostgreSQL')
    drop = database.drop
    // One of these changes fails for good, on purpose.
    server = await startServer({ databaseUrl: database.url, env: { STOCKADE_LOG_LEVEL: 'silent' } })
    admin = await server.setUp()
    storage = new pg.Client({ connectionString: database.url })
    await storage.connect()
  })
  afterAll(async () => {
    await storage.end()
    await server.close()
    await drop()
  })
  /** Has writes of a table fail so many times; sequences count on, whatever is rolled back. Returns how many there were in all. */
  const failing = async (table: string, when: string, times: number, code: string, work: () => Promise<void>) => {
    await storage.query(`create sequence writes;
      create function refuse() returns trigger language plpgsql as $$ begin
        if nextval('writes') <= ${times} then raise exception using errcode = '${code}'; end if;
        return null;
      end $$;
      create trigger refuse after insert or update on ${table} for each row when (${when}) execute function refuse()`)
    try {
      await work()
      const { rows } = await storage.query<{ last_value: number }>('select last_value from writes')
      return rows[0]?.last_value
    } finally {
      await storage.query(`drop trigger refuse on ${table}; drop function refuse; drop sequence writes`)
    }
  }
  const audited = async (action: string) =>
    (await admin.client.call('GET /settings/audit', { query: { action } })).entries.length

  test('many entries of the whitelist are added and answered once', async () => {
    const ips = ['192.0.2.1', '192.0.2.2', '198.51.100.0/24']
    const writes = await failing('whitelist_state', 'new.seq > 0', 1, '40P01', async () => {
      const { added, entries } = await admin.client.call('POST /whitelist/bulk', {
        body: { entries: ips.map(ip => ({ ip })) },
      })
      const { whitelist, total } = await admin.client.call('GET /whitelist')
      expect([added, total]).toEqual([3, 3])
      expect(entries.map(({ ip }) => ip).sort()).toEqual(ips)
      const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
      expect(whitelist.map(({ id, ip }) => ({ id, ip })).sort(byId)).toEqual([...entries].sort(byId))
      expect(await audited('whitelist.add')).toBe(3)
    })
    expect(writes).toBe(2)
  })

  const deployed = async () => {
    const host = await aHost(server, admin.client)
    const { id } = await admin.client.call('POST /templates', {
      body: { name: 'again', jail_config: '[again]\nenabled = true\nfilter = sshd\nlogpath = /var/log/auth.log\n' },
    })
    const { commands } = await admin.client.call('POST /templates/{templateId}/deploy', {
      params: { templateId: String(id) },
      body: { server_ids: [host.id] },
    })
    const heard = await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id } })
    expect(heard.commands.map(({ id }) => id)).toEqual(commands.map(({ command_id }) => command_id))
    return { host, command: commands[0]?.command_id ?? '' }
  }
  test('a result is taken in once, with what it means for the host', async () => {
    const { host, command } = await deployed()
    const params = { commandId: command }
    const writes = await failing('events', `new.name = 'command.finish'`, 1, '40001', async () => {
      await host.client.call('POST /commands/{commandId}/result', { params, body: { success: true } })
    })
    expect(writes).toBe(2)
    expect((await admin.client.call('GET /commands/{commandId}', { params })).status).toBe('completed')
    const { jails } = await admin.client.call('GET /servers/{serverId}/jails', { params: { serverId: host.id } })
    expect(jails).toMatchObject([{ name: 'again', template: 'again' }])
    const { rows } = await storage.query(`select from events where name = 'command.finish'`)
    expect(rows).toHaveLength(1)
  })
  test('of a removal that failed for good nothing is left: the host still gets its commands', async () => {
    const host = await aHost(server, admin.client, 'web-02')
    const params = { serverId: host.id }
    const { id } = await admin.client.call('POST /servers/{serverId}/commands', {
      params,
      body: { type: 'reload-all' },
    })
    const writes = await failing('events', `new.name = 'server.delete'`, 100, '40P01', async () => {
      await expect(admin.client.call('DELETE /servers/{serverId}', { params })).rejects.toMatchObject({ status: 500 })
    })
    expect(writes).toBe(5)
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', { params })
    expect(commands.map(order => order.id)).toEqual([id])
  })
})
