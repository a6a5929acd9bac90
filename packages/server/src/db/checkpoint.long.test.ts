import { describe, expect, test } from 'vitest'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CompiledQuery } from 'kysely'
import { within } from '../testing/waiting.ts'
import { openSqlite } from './sqlite.ts'

/** Whether a process can be given limits here. */
const hasLimits = spawnSync('prlimit', ['--version']).status === 0

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
      // Before SQLite would do it by itself, in the writer.
      while (logged() >= most && most < 110_000) {
        most = logged()
        await write(200)
      }
      expect(most).toBeGreaterThan(15_000)
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

  test('holds no more from round to round', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-log-'))
    const file = join(folder, 'db')
    const mostLogged = 300
    const db = await openSqlite(file, { mostLogged })
    const look = new DatabaseSync(file)
    const run = (sql: string) => db.write.executeQuery(CompiledQuery.raw(sql))
    try {
      await run('create table filler (data blob not null)')
      /** How many pages the log held each time before it began anew. */
      const held: number[] = []
      let most = 0
      for (let changes = 0; changes < 100_000 && held.length < 14; changes++) {
        await run('insert into filler values (randomblob(20000))')
        const { log } = look.prepare('pragma wal_checkpoint(noop)').get() as { log: number }
        if (log < most) held.push(most)
        most = log < most ? 0 : log
      }
      expect(held).toHaveLength(14)
      // How far the writer gets while the log is copied depends on the machine: the best of some rounds says it.
      expect(Math.min(...held.slice(-5))).toBeLessThan(5 * mostLogged)
    } finally {
      look.close()
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
  test.skipIf(!hasLimits)(
    'that can not be copied is told of once, keeps nobody from writing, and once when it can again',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'stockade-log-'))
      const file = join(folder, 'db')
      const program = fileURLToPath(new URL('../testing/keep-writing.ts', import.meta.url))
      const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'inherit'] })
      const limit = (size: string) => execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${size}`])
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const next = async () => String((await lines.next()).value)
      try {
        // Then no file of that process may grow beyond a size, which is a disk that is full for the larger one of them.
        const size = 12_000_000
        await expect.poll(() => (existsSync(file) ? statSync(file).size : 0), { interval: 5 }).toBeGreaterThan(size / 2)
        limit(`${size}:unlimited`)
        expect(JSON.parse(await next())).toEqual({ news: 'copying fails', reason: expect.stringMatching(/full|I\/O/) })
        limit('unlimited')
        expect(JSON.parse(await next())).toEqual({ news: 'copying works again' })
        child.stdin.end()
        const { written, failed } = JSON.parse(await next()) as { written: number; failed: number }
        expect(failed).toBe(0)
        await within(once(child, 'exit'), 'the end of the writer')
        const again = new DatabaseSync(file, { readOnly: true })
        expect(again.prepare('select count(*) as n from filler').get()).toEqual({ n: written })
        expect(again.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
        again.close()
      } finally {
        child.kill('SIGKILL')
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})
