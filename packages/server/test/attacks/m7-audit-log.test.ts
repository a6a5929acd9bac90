import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql as raw } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { system } from '../../src/core/author.ts'
import { verifyLog } from '../../src/admin/audit.ts'
import { openStorage } from '../../src/admin/storage.ts'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/db/database.ts'
import { createEvents } from '../../src/events/events.ts'
import { auditKeyIn, auditMemoryIn, createAuditChain } from '../../src/features/audit/chain.ts'
import type { AuditChain } from '../../src/features/audit/chain.ts'
import { engine, eventually, freshDatabase, movableClock, startServer } from '../../src/testing/index.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'

/* Whoever held the database rewrote the audit log with two statements, and nothing told. */

const secret = 'test-secret-of-thirty-two-characters'
let dataDir = ''
let database: Awaited<ReturnType<typeof freshDatabase>> = null
let env: Record<string, string> = {}
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'stockade-audit-'))
  database = await freshDatabase()
  env = {
    STOCKADE_DATA_DIR: dataDir,
    ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: secret } : {}),
  }
})
afterAll(async () => {
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})
const verified = () => verifyLog(readConfig(env))

test('a server links what it records, and says nothing was changed', async () => {
  const server = await startServer({ dataDir, env, ...(database ? { databaseUrl: database.url } : {}) })
  try {
    const admin = await server.setUp()
    for (let n = 0; n < 5; n++) await admin.client.call('POST /keys', { body: { name: `key ${n}` } })
    const { total } = await admin.client.call('GET /settings/audit', {})
    await eventually(async () => {
      const found = await verified()
      expect(found.faults).toEqual([])
      expect(found.entries).toBeGreaterThanOrEqual(total)
    })
    expect(statSync(join(dataDir, 'audit.key')).mode & 0o777).toBe(0o600)
  } finally {
    await server.close()
  }
})

describe('what somebody with the database does is found', () => {
  let db: Database
  let chain: AuditChain
  const clock = movableClock()
  beforeAll(async () => {
    db = await openStorage(readConfig(env))
    const memory = auditMemoryIn(join(dataDir, 'audit.last'))
    const events = createEvents(db, clock, () => {}, null)
    chain = createAuditChain({ db, clock, events, key: auditKeyIn(join(dataDir, 'audit.key')), memory })
    for (let n = 0; n < 20; n++)
      await events.change(change => change.record({ name: 'key.create', author: system, data: { name: `made ${n}` } }))
    await chain.link()
    clock.forward(86_400)
    await chain.checkpoint()
    await chain.link()
    expect(existsSync(join(dataDir, 'audit.key'))).toBe(true)
  })
  afterAll(() => db.close())
  beforeEach(async () => expect((await verified()).faults).toEqual([]))

  /** Does it past the triggers, as the owner of the database can, looks, and undoes it. */
  const after = async (...statements: (string | (() => Promise<void>))[]): Promise<readonly string[]> => {
    const open = engine === 'sqlite' ? 'update retention_gate set is_open = 1' : 'select 1'
    const tables = ['events', 'audit', 'audit_chain', 'audit_checkpoints']
    for (const table of tables) {
      await raw.raw(`create table saved_${table} as select * from ${table}`).execute(db.write)
    }
    const guard = async (on: boolean) => {
      if (engine === 'sqlite') {
        await raw.raw(`update retention_gate set is_open = ${on ? 0 : 1}`).execute(db.write)
        if (on)
          await raw
            .raw(
              "create trigger events_unchanged before update on events begin select raise(abort, 'events is append-only'); end",
            )
            .execute(db.write)
        else await raw.raw('drop trigger events_unchanged').execute(db.write)
      } else
        for (const table of ['events', 'audit'])
          await raw.raw(`alter table ${table} ${on ? 'enable' : 'disable'} trigger user`).execute(db.write)
    }
    await raw.raw(open).execute(db.write)
    await guard(false)
    try {
      for (const statement of statements)
        await (typeof statement === 'string' ? raw.raw(statement).execute(db.write) : statement())
      return (await verified()).faults
    } finally {
      for (const table of tables) {
        await raw.raw(`delete from ${table}`).execute(db.write)
        const columns = engine === 'postgres' && table === 'events' ? ' overriding system value' : ''
        await raw.raw(`insert into ${table}${columns} select * from saved_${table}`).execute(db.write)
        await raw.raw(`drop table saved_${table}`).execute(db.write)
      }
      await guard(true)
    }
  }
  const tenth = 'select event_id from audit_chain where seq = 10'

  test('an entry that was changed', async () => {
    expect(await after(`update events set actor = 'somebody' where id = (${tenth})`)).toEqual([
      expect.stringMatching(/^Entry 10 .*was changed/),
    ])
  })
  test('an entry that was removed, from the log alone and with its link', async () => {
    expect(await after(`delete from audit where event_id = (${tenth})`)).toEqual([
      expect.stringMatching(/^Entry 10 .*was removed/),
    ])
    expect(await after(`delete from events where id = (${tenth})`)).toEqual([
      expect.stringMatching(/^Entry 10 .*was removed/),
    ])
    expect(
      await after(`delete from audit where event_id = (${tenth})`, 'delete from audit_chain where seq = 10'),
    ).toEqual([expect.stringMatching(/^Entries 10 to 10 were removed/)])
  })
  test('an end that was cut off', async () => {
    const cut = (
      await after(
        'delete from audit where event_id in (select event_id from audit_chain where seq > 12)',
        'delete from audit_chain where seq > 12',
      )
    )[0]
    expect(cut).toMatch(/ends with entry 12, and a checkpoint was signed at \d+/)
  })
  test('a checkpoint that was changed or removed', async () => {
    expect(await after('update audit_checkpoints set seq = 3')).toEqual(
      expect.arrayContaining([expect.stringMatching(/signature does not fit/)]),
    )
  })
  test('all of it written anew, under a key of the thief or with no checkpoint at all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-thief-'))
    try {
      const foreign = createAuditChain({
        db,
        clock,
        events: createEvents(db, clock, () => {}, null),
        key: auditKeyIn(join(folder, 'audit.key')),
        memory: auditMemoryIn(join(folder, 'audit.last')),
      })
      const forget = [
        'delete from audit_chain',
        'delete from audit_checkpoints',
        `delete from audit where name = 'key.create'`,
      ]
      const missing = [expect.stringMatching(/^Checkpoint 1, which was signed here last, is not in the database/)]
      expect(await after(...forget, foreign.link)).toEqual(missing)
      clock.forward(86_400)
      expect(await after(...forget, foreign.link, foreign.checkpoint)).toEqual(missing)
      // The server's own next checkpoint does not hide it.
      expect(await after(...forget, foreign.link, chain.checkpoint)).toEqual(missing)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
  test('an entry that was put in later under an old number, once the server has linked it', async () => {
    const value = engine === 'postgres' ? ' overriding system value' : ''
    const found = await after(
      `insert into events (id, at, name, actor, data)${value} values (0, ${clock() - 5 * 86_400_000}, 'key.create', 'anna', '{}')`,
      `insert into audit (event_id, at, name) values (0, ${clock() - 5 * 86_400_000}, 'key.create')`,
      async () => {
        clock.forward(3601)
        await chain.link()
      },
    )
    expect(found).toEqual([expect.stringMatching(/was put in later/)])
  })
  test('a chain that was written anew', async () => {
    expect(
      (await after("update audit_chain set hash = 'x' where seq = (select max(seq) from audit_chain)")).length,
    ).toBe(1)
  })
  test('what is older than it is kept goes, and the rest is verified from there', async () => {
    const before = await verified()
    await chain.cut(clock() - 3600 * 1000)
    const left = await verified()
    expect(left.faults).toEqual([])
    expect(left.entries).toBeLessThan(before.entries)
    expect(left.checkpoints).toBe(before.checkpoints + 1)
  })
})
