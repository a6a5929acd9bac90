import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { stockade } from '../testing/command.ts'
import { engine, startPostgres } from '../testing/index.ts'
import type { TestPostgres } from '../testing/index.ts'
import { openPostgres } from './postgres.ts'
import type { Postgres } from './postgres.ts'
import type { ReplicaState } from './replica.ts'

describe.runIf(engine === 'postgres')('a replica for long reads', () => {
  let primary: Awaited<ReturnType<typeof startPostgres>>
  let standby: TestPostgres
  let db: Postgres
  let dataDir: string
  const states: ReplicaState[] = []
  const open = (url: string, replicaUrl: string, heard = states) =>
    openPostgres(url, () => {}, { replica: { url: replicaUrl, hear: state => void heard.push(state) } })
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stockade-replica-'))
    primary = await startPostgres()
    standby = await primary.standby()
    db = await open(primary.url, standby.url)
    await sql`create table notes (text text)`.execute(db.write)
  })
  afterAll(async () => {
    await db?.close()
    await standby?.stop()
    await primary?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const isAtReplica = async () => {
    const { rows } = await sql<{ is_standby: boolean }>`select pg_is_in_recovery() as is_standby`.execute(db.scan)
    return rows[0]?.is_standby
  }
  const note = (text: string) => sql`insert into notes values (${text})`.execute(db.write)
  const notes = async () =>
    (await sql<{ text: string }>`select text from notes order by text`.execute(db.scan)).rows.map(({ text }) => text)
  const lastState = () => states.at(-1)

  test('answers them, and nothing else', async () => {
    await expect.poll(lastState).toEqual({ isUsed: true, reason: null })
    await expect.poll(isAtReplica).toBe(true)
    const { rows } = await sql<{ here: boolean }>`select pg_is_in_recovery() as here`.execute(db.read)
    expect(rows).toEqual([{ here: false }])
    await note('a')
    await expect.poll(notes).toEqual(['a'])
  })
  test('is among what doctor looks at', async () => {
    const doctor = async (readUrl: string) => {
      const env = {
        STOCKADE_DATA_DIR: dataDir,
        STOCKADE_SECRET_KEY: 'test-secret-of-thirty-two-characters',
        STOCKADE_DATABASE_URL: primary.url,
        STOCKADE_DATABASE_READ_URL: readUrl,
      }
      return (await stockade(env, ['doctor'])).out
    }
    expect(await doctor(standby.url)).toContain('the standby for long reads answers')
    expect(await doctor(primary.url)).toMatch(/the standby for long reads is not used, .*: It is not a standby\./)
    expect(await doctor('postgres://127.0.0.1:1/nothing')).toMatch(
      /the standby for long reads is not used, .*ECONNREFUSED/,
    )
  })
  test('is left out while it is behind, and used again when it has caught up', async () => {
    const control = await openPostgres(standby.url, () => {})
    try {
      await sql`select pg_wal_replay_pause()`.execute(control.read)
      await note('b')
      await expect.poll(lastState).toEqual({ isUsed: false, reason: 'It is more than 2 seconds behind.' })
      expect(await notes()).toEqual(['a', 'b'])
      expect(await isAtReplica()).toBe(false)
      await sql`select pg_wal_replay_resume()`.execute(control.read)
      await expect.poll(lastState).toEqual({ isUsed: true, reason: null })
      await expect.poll(isAtReplica).toBe(true)
    } finally {
      await control.close()
    }
  })
  test('that goes away costs no answer', async () => {
    await expect.poll(isAtReplica).toBe(true)
    await standby.down()
    expect(await notes()).toEqual(['a', 'b'])
    await expect.poll(lastState).toMatchObject({ isUsed: false })
    await standby.up()
    await expect.poll(lastState).toEqual({ isUsed: true, reason: null })
    await expect.poll(isAtReplica).toBe(true)
  })
  test('that was promoted is not read any more', async () => {
    const control = await openPostgres(standby.url, () => {})
    try {
      await sql`select pg_promote()`.execute(control.read)
      await expect.poll(lastState).toEqual({ isUsed: false, reason: 'It is not a standby.' })
      await sql`insert into notes values ('of another history')`.execute(control.write)
      expect(await notes()).toEqual(['a', 'b'])
    } finally {
      await control.close()
    }
  })
})
