import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Kysely } from 'kysely'
import type { Database } from '../src/db/database.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { freshDatabase, spawnServer } from '../src/testing/index.ts'
import type { Options } from '../src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a schema that is newer than the program', () => {
  let options: Options
  let drop: (() => Promise<void>) | undefined
  const dataDir = join(folder, 'newer')
  type Migrations = Kysely<{ kysely_migration: { name: string; timestamp: string } }>
  const change = async (work: (db: Database, migrations: Migrations) => Promise<unknown>) => {
    const { databaseUrl } = options
    const db = databaseUrl
      ? await openPostgres(databaseUrl, () => {})
      : await openSqlite(join(dataDir, 'stockade.sqlite3'))
    await work(db, db.write as unknown as Migrations).finally(() => db.close())
  }
  const say = (key: string, value: string) =>
    change(db => db.write.updateTable('meta').set({ value }).where('key', '=', key).execute())
  beforeAll(async () => {
    const database = await freshDatabase()
    drop = database?.drop
    options = { dataDir, ...(database ? { databaseUrl: database.url } : {}) }
    const server = await spawnServer(options)
    await server.setUp()
    await server.stop()
    await change((_, migrations) =>
      migrations
        .insertInto('kysely_migration')
        .values({ name: '9999-future', timestamp: new Date().toISOString() })
        .execute(),
    )
    await say('schema.version', '9.8.7')
  })
  afterAll(() => drop?.())

  test('stops the start with a sentence that names the version, and changes nothing', async () => {
    await say('schema.min_reader', '9999-future')
    const refused = await spawnServer(options).catch((error: Error) => error.message)
    expect(refused).toMatch(
      /Stockade can't start: the data is from Stockade 9\.8\.7 \(schema 9999-future\), and this is the older version .* Run that version, or go back to the state before the upgrade: /,
    )
    expect(refused).not.toMatch(/^\s+at /m)
  })
  test('is opened where that version says that this one can read it', async () => {
    await say('schema.min_reader', '0045-fleet-bans')
    const server = await spawnServer(options)
    expect((await server.signIn()).token).not.toBe('')
    await server.close()
    // The newer version finds its schema as it left it.
    await change(async (db, migrations) => {
      const rows = await migrations.selectFrom('kysely_migration').select('name').execute()
      expect(rows.map(({ name }) => name)).toContain('9999-future')
      expect(
        await db.read.selectFrom('meta').select('value').where('key', '=', 'schema.version').executeTakeFirst(),
      ).toEqual({ value: '9.8.7' })
    })
  })
})
