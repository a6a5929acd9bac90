import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { freeBytes } from '../src/core/disk.ts'
import { stockade } from '../src/testing/command.ts'
import { aHost, engine, freshDatabase, spawnServer } from '../src/testing/index.ts'
import type { Options } from '../src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-copies-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Takes back what two migrations did: so was the database of an older version. */
const olderSchema = [
  'drop index commands_address',
  'alter table feeds drop column digest',
  'alter table feeds drop column changed_at',
  "delete from kysely_migration where name in ('0063-feed-changes', '0064-address-commands')",
  "update meta set value = '0.0.9' where key = 'schema.version'",
]
const refusalOf = (options: Options): Promise<string> =>
  spawnServer(options).then(
    () => 'It started.',
    (error: Error) => error.message,
  )

describe.runIf(engine === 'sqlite')('before the schema of an SQLite database changes', () => {
  const fileIn = (dataDir: string) => join(dataDir, 'stockade.sqlite3')
  const inDatabase = <T>(dataDir: string, work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(fileIn(dataDir))
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  const makeOlder = (dataDir: string) =>
    inDatabase(dataDir, db => {
      for (const statement of olderSchema) db.exec(statement)
    })
  const copiesIn = (dataDir: string) => readdirSync(dataDir).filter(name => name.includes('.before-upgrade-'))
  const migrationsIn = (dataDir: string) =>
    inDatabase(dataDir, db =>
      db
        .prepare('select name from kysely_migration')
        .all()
        .map(({ name }) => String(name)),
    )
  const anOlder = async (name: string) => {
    const dataDir = join(folder, name)
    const server = await spawnServer({ dataDir })
    const { client } = await server.setUp()
    await aHost(server, client, 'web-01')
    await server.stop()
    makeOlder(dataDir)
    return dataDir
  }

  test('it is copied, two copies stay, and the older version can be had back', async () => {
    const dataDir = await anOlder('copied')
    for (let upgrade = 0; upgrade < 3; upgrade++) {
      const server = await spawnServer({ dataDir })
      await server.stop()
      if (upgrade < 2) makeOlder(dataDir)
    }
    const copies = copiesIn(dataDir)
    expect(copies).toHaveLength(2)
    for (const copy of copies) expect(statSync(join(dataDir, copy)).mode & 0o777).toBe(0o600)
    // What goes on later must not be in it.
    const server = await spawnServer({ dataDir })
    await aHost(server, (await server.signIn()).client, 'web-02')
    await server.stop()

    const run = (...args: string[]) => stockade({ STOCKADE_DATA_DIR: dataDir }, args)
    const copy = join(dataDir, copies.sort().at(-1) ?? '')
    expect(await run('restore', copy)).toMatchObject({ code: 1, err: expect.stringContaining('--replace') })
    expect(await run('restore', copy, '--replace')).toMatchObject({ code: 0, err: '' })
    expect(migrationsIn(dataDir)).not.toContain('0063-feed-changes')
    const back = await spawnServer({ dataDir })
    const { servers } = await (await back.signIn()).client.call('GET /servers', {})
    expect(servers.map(({ hostname }) => hostname)).toEqual(['web-01'])
    await back.close()
  })
  test('a copy that is damaged changes nothing', async () => {
    const dataDir = join(folder, 'copied')
    const bad = join(folder, 'bad')
    writeFileSync(bad, `SQLite format 3\0${'x'.repeat(5000)}`)
    const before = readdirSync(dataDir)
    expect(await stockade({ STOCKADE_DATA_DIR: dataDir }, ['restore', bad, '--replace'])).toMatchObject({
      code: 1,
      err: 'stockade: This copy is damaged. Nothing was changed.\n',
    })
    expect(readdirSync(dataDir)).toEqual(before)
  })
  test('no copy is made where the operator says so', async () => {
    const dataDir = await anOlder('uncopied')
    const server = await spawnServer({ dataDir, env: { STOCKADE_MIGRATE_COPY: 'no' } })
    await server.close()
    expect(copiesIn(dataDir)).toEqual([])
    expect(migrationsIn(dataDir)).toContain('0063-feed-changes')
  })

  const isRoot = process.getuid?.() === 0
  if (!isRoot) process.stderr.write('SKIPPED: only root can mount the small disks of upgrade-copy.long.test.ts\n')
  describe.runIf(isRoot)('on a small disk', () => {
    const disk = join(folder, 'disk')
    const ballast = join(disk, 'ballast')
    const leaveFree = (bytes: number) => {
      rmSync(ballast, { force: true })
      writeFileSync(ballast, Buffer.alloc(freeBytes(disk) - bytes))
    }
    const pieces = 400
    const prepare = async () => {
      const dataDir = await anOlder('large')
      // The index that a pending migration makes of these needs 8 MB.
      inDatabase(dataDir, db => {
        const insert = db.prepare(
          `insert into commands (id, server_no, type, params, status, initiated_by, created_at, expires_at)
            values (?, 1, 'ban-ip', ?, 'completed', 'user', 1, 2)`,
        )
        db.exec('begin')
        for (let n = 0; n < pieces; n++) insert.run(`c${n}`, JSON.stringify({ ip: String(n).repeat(7000) }))
        db.exec('commit; pragma wal_checkpoint(truncate)')
      })
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'tmpfs', disk])
      execFileSync('cp', ['-a', dataDir, join(disk, 'data')])
      return join(disk, 'data')
    }
    afterAll(() => execFileSync('umount', [disk]))

    test('the copy is refused with figures, a disk that runs full leaves the data as it was, and room lets it go on', async () => {
      const dataDir = await prepare()
      const size = statSync(fileIn(dataDir)).size
      // A start that was killed in the middle of its copy.
      writeFileSync(join(dataDir, 'stockade.sqlite3.before-upgrade-2026-01-01.part'), Buffer.alloc(1000))
      leaveFree(size)
      expect(await refusalOf({ dataDir })).toMatch(
        /Stockade can't start: the upgrade copies the database before it changes anything\. That needs [\d.]+ MB in .*, and [\d.]+ MB are free\. Make room; or .*STOCKADE_MIGRATE_COPY=no/,
      )
      expect(copiesIn(dataDir)).toEqual([])

      leaveFree(3_000_000)
      const full = await refusalOf({ dataDir, env: { STOCKADE_MIGRATE_COPY: 'no' } })
      expect(full).toMatch(
        /Stockade can't start: the disk ran full while the schema was brought up to date\. The data is/,
      )
      expect(full).not.toMatch(/^\s+at /m)
      rmSync(ballast)
      inDatabase(dataDir, db => {
        expect(db.prepare('pragma quick_check').get()).toEqual({ quick_check: 'ok' })
        expect(db.prepare('select count(*) as n from commands').get()).toEqual({ n: pieces })
        // The migration before the one that failed is taken back with it.
        expect(db.prepare("select 1 from pragma_table_info('feeds') where name = 'digest'").get()).toBeUndefined()
      })
      expect(migrationsIn(dataDir)).not.toContain('0063-feed-changes')
      const server = await spawnServer({ dataDir })
      expect((await (await server.signIn()).client.call('GET /servers', {})).servers).toHaveLength(1)
      await server.close()
      expect(copiesIn(dataDir)).toHaveLength(1)
    })
  })
})

test.runIf(engine === 'postgres')('a large PostgreSQL database changes only when somebody says so', async () => {
  const database = await freshDatabase()
  const dataDir = join(folder, 'postgres')
  const options: Options = { dataDir, databaseUrl: database?.url ?? '' }
  const client = new pg.Client({ connectionString: options.databaseUrl })
  await client.connect()
  try {
    for (const statement of olderSchema) await client.query(statement)
    await client.query(`insert into bans (server_no, ip, jail_id, banned_at, ban_duration, country_id, log_lines, event_id)
      select 1, '\\x00', 1, n, 1, 1, '', int4send(n) from generate_series(1, 100001) n`)
    expect(await refusalOf(options)).toMatch(
      /Stockade can't start: the schema is of an older version, and PostgreSQL holds more than 100,000 bans\. Save it with pg_dump, then set STOCKADE_MIGRATE=yes/,
    )
    await client.query('delete from bans where banned_at = 1')
    const few = await spawnServer(options)
    await few.stop()
    await client.query(
      "insert into bans (server_no, ip, jail_id, banned_at, ban_duration, country_id, log_lines, event_id) values (1, '\\x00', 1, 1, 1, 1, '', '\\x00')",
    )
    for (const statement of olderSchema) await client.query(statement)
    const confirmed = await spawnServer({ ...options, env: { STOCKADE_MIGRATE: 'yes' } })
    await confirmed.stop()
    expect((await client.query("select 1 from kysely_migration where name = '0063-feed-changes'")).rowCount).toBe(1)
  } finally {
    await client.end()
    await database?.drop()
  }
})
