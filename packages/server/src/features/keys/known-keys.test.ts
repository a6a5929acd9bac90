import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sql } from 'kysely'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { engine, eventually, freshDatabase } from '../../testing/index.ts'
import { insertUser } from '../users/users.store.ts'
import { createKnownKeys } from './known-keys.ts'
import { expireKey, insertKey, keyChangesPlace, removeKey, removeOldKeyChanges, touchKeys } from './keys.store.ts'

/** Storage of its own, with a way to open it a second time. */
const aStorage = async (): Promise<{ db: Database; again: () => Promise<Database> }> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-known-keys-'))
  const database = await freshDatabase()
  const opened: Database[] = []
  onTestFinished(async () => {
    for (const db of opened) await db.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const open = async () => {
    const db = await openStorage(
      readConfig({
        STOCKADE_DATA_DIR: dataDir,
        ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
      }),
    )
    opened.push(db)
    return db
  }
  const db = await open()
  await migrate(db)
  return { db, again: open }
}
/**
 * Transactions of other databases of the same PostgreSQL hold back the place that changes are read from; while one runs that
 * is older than a change, the change is read again.
 */
const untilChangesAreOld = (db: Database) =>
  eventually(async () => {
    const place = BigInt(await keyChangesPlace(db.read, db.engine))
    const { rows } = await sql<{
      last: string
    }>`select cast(place as text) as last from key_changes order by place desc limit 1`.execute(db.read)
    // SQLite counts its changes, and reads the last one again.
    expect(place - BigInt(rows[0]?.last ?? 0)).toBeGreaterThanOrEqual(db.engine === 'sqlite' ? 0n : 1n)
  })
const aKey = (name: string) => ({
  ...({ name, hash: `hash of ${name}`, prefix: 'svc_', permissions: 'write', kind: 'user' } as const),
  created_at: 1,
})

test('only the keys that changed are read again: those that came, those that end and those that are gone', async () => {
  const { db } = await aStorage()
  const known = createKnownKeys(db)
  const [kept, ended, gone] = await Promise.all(['kept', 'ended', 'gone'].map(name => insertKey(db.write, aKey(name))))
  await untilChangesAreOld(db)
  await known.readAll()
  if (!kept || !ended || !gone) throw new Error('three keys were made')
  const before = known.get(kept.hash)
  expect(before).toMatchObject({ name: 'kept', expires_at: null })

  await expireKey(db.write, ended.id, 1000)
  await removeKey(db.write, gone.id)
  const fresh = await insertKey(db.write, aKey('fresh'))
  await touchKeys(db.write, db.engine, new Map([[kept.id, { at: 5, from: '192.0.2.1' }]]))
  await known.readChanges()
  expect(known.get(ended.hash)).toMatchObject({ expires_at: 1000 })
  expect(known.get(gone.hash)).toBeUndefined()
  expect(known.get(fresh.hash)).toMatchObject({ name: 'fresh' })
  // A use changes nothing of what a key may do, so its row was not read.
  expect(known.get(kept.hash)).toBe(before)

  await removeOldKeyChanges(db.write, db.engine, 24)
  const { rows } = await sql<{ n: number }>`select count(*) as n from key_changes`.execute(db.read)
  expect(Number(rows[0]?.n)).toBeGreaterThanOrEqual(6)
  await removeOldKeyChanges(db.write, db.engine, -24)
  expect((await sql<{ n: number }>`select count(*) as n from key_changes`.execute(db.read)).rows[0]?.n).toBe(0)
  // What is removed was read: new changes are found all the same.
  await removeKey(db.write, fresh.id)
  await known.readChanges()
  expect(known.get(fresh.hash)).toBeUndefined()
  expect(known.get(ended.hash)).toMatchObject({ expires_at: 1000 })
})

test('the keys of a user who is deleted are gone too', async () => {
  const { db } = await aStorage()
  const known = createKnownKeys(db)
  const [name, email] = ['leaver', 'leaver@stockade.example']
  const { id } = await insertUser(db.write, {
    ...{ username: name, username_key: name, email, email_key: email, role: 'Viewer', server_access: 'all' },
    ...{ mfa_enabled: 0, created_at: 1, updated_at: 1 },
  })
  const key = await insertKey(db.write, { ...aKey('of the leaver'), user_id: id })
  await known.readAll()
  expect(known.get(key.hash)).toBeDefined()
  await db.write.deleteFrom('users').where('id', '=', id).execute()
  await known.readChanges()
  expect(known.get(key.hash)).toBeUndefined()
})

test.runIf(engine === 'postgres')('a change that began early and was committed late is not missed', async () => {
  const { db, again } = await aStorage()
  const other = await again()
  const known = createKnownKeys(db)
  const [replaced, next] = await Promise.all(['replaced', 'next'].map(name => insertKey(db.write, aKey(name))))
  if (!replaced || !next) throw new Error('two keys were made')
  await known.readAll()
  const late = await other.write.transaction().execute(async slow => {
    await expireKey(slow, replaced.id, 1000)
    const made = await insertKey(slow, aKey('late'))
    // Others change keys, and are read, while this transaction runs.
    for (const at of [2000, 1999]) {
      await expireKey(db.write, next.id, at)
      await known.readChanges()
      expect(known.get(next.hash)).toMatchObject({ expires_at: at })
    }
    expect(known.get(replaced.hash)).toMatchObject({ expires_at: null })
    return made
  })
  await known.readChanges()
  expect(known.get(replaced.hash)).toMatchObject({ expires_at: 1000 })
  expect(known.get(late.hash)).toMatchObject({ name: 'late' })
})
