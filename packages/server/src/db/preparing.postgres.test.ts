import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine, freshDatabase } from '../testing/index.ts'
import { openPostgres } from './postgres.ts'
import type { Postgres } from './postgres.ts'

describe.runIf(engine === 'postgres')('statements that come often', () => {
  let drop = async () => {}
  let db: Postgres
  beforeAll(async () => {
    const database = await freshDatabase()
    if (!database) throw new Error('this runs on PostgreSQL')
    drop = database.drop
    db = await openPostgres(database.url, () => {})
    await sql`create table notes (id integer primary key, size integer not null)`.execute(db.write)
    await sql`insert into notes select n, n * 10 from generate_series(1, 100) as n`.execute(db.write)
  })
  afterAll(async () => {
    await db.close()
    await drop()
  })
  const sizeOf = async (id: number) =>
    (await sql<{ size: number }>`select size from notes where id = ${id}`.execute(db.read)).rows[0]?.size
  const preparedIn = async () =>
    (
      await sql<{
        n: number
      }>`select count(*) as n from pg_prepared_statements where statement like 'select size from notes%'`.execute(
        db.read,
      )
    ).rows[0]?.n
  const readAll = async () => {
    for (let id = 1; id <= 50; id++) expect(Number(await sizeOf(id))).toBe(id * 10)
  }

  test('are prepared, and answer as before', async () => {
    await readAll()
    expect(await preparedIn()).toBe(1)
    await Promise.all(Array.from({ length: 50 }, (_, n) => sizeOf(n + 1)))
    await readAll()
  })
  test('answer after another process added a column, or changed the type of one', async () => {
    await sql`alter table notes add column text text`.execute(db.write)
    await readAll()
    await sql`alter table notes alter column size type bigint`.execute(db.write)
    await readAll()
    await Promise.all(Array.from({ length: 50 }, (_, n) => sizeOf(n + 1)))
  })
  test('fail with the reason within a transaction, and the next one passes', async () => {
    await readAll()
    const readInTransaction = () =>
      db.write.transaction().execute(trx => sql<{ size: number }>`select size from notes where id = ${1}`.execute(trx))
    await readInTransaction()
    await sql`alter table notes alter column size type numeric`.execute(db.write)
    await expect(readInTransaction()).rejects.toThrow('cached plan must not change result type')
    await expect.poll(async () => (await readInTransaction()).rows).toEqual([{ size: 10 }])
  })
})
