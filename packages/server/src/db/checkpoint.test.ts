import { describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompiledQuery } from 'kysely'
import { openSqlite } from './sqlite.ts'

describe.skipIf(process.env.STOCKADE_TEST_ENGINE === 'postgres')('the write-ahead log of SQLite', () => {
  test('is copied into the file beside the writer, and begins anew', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-log-'))
    const file = join(folder, 'db')
    const db = await openSqlite(file)
    const look = new DatabaseSync(file)
    const run = (sql: string) => db.write.executeQuery(CompiledQuery.raw(sql))
    /** Pages in the log, without touching it. */
    const logged = () => Number((look.prepare('pragma wal_checkpoint(noop)').get() as { log: number }).log)
    let rows = 0
    /** A page of 2 KiB each. */
    const write = async (count: number) => {
      await run(`insert into filler (data) with recursive up(n) as (select 1 union all select n + 1 from up where n < ${count})
        select randomblob(1900) from up`)
      rows += count
    }
    try {
      await run('create table filler (id integer primary key, data blob not null)')
      let most = 0
      // In small changes, as it goes; more of them than a log may hold before it is copied.
      for (const until = Date.now() + 30_000; Date.now() < until && logged() >= most;) {
        most = logged()
        await write(200)
      }
      expect(most).toBeGreaterThan(15_000)
      // Before SQLite would have done it by itself, in the writer.
      expect(most).toBeLessThan(110_000)
      expect(logged()).toBeLessThan(most)
      expect(look.prepare('select count(*) as n from filler').get()).toEqual({ n: rows })
      expect(look.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
      look.close()
      await db.close()
      // What is closed leaves one file behind, and everything in it.
      const again = new DatabaseSync(file, { readOnly: true })
      expect(again.prepare('select count(*) as n from filler').get()).toEqual({ n: rows })
      again.close()
    } finally {
      await db.close().catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
