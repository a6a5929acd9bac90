import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { covers, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { openSqlite } from '../../db/sqlite.ts'
import { freshDatabase } from '../../testing/index.ts'
import { createMirror } from './mirror.ts'
import { deleteEntries, holdState, insertEntries, saveState } from './whitelist.store.ts'

let db: Database
let cleanUp: () => Promise<void>
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-mirror-'))
  const database = await freshDatabase()
  db = database ? await openPostgres(database.url, () => {}) : await openSqlite(join(folder, 'stockade.sqlite3'))
  await migrate(db)
  cleanUp = async () => {
    await db.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
})
afterAll(() => cleanUp())

const range = (text: string): IpRange => {
  const parsed = parseRange(text)
  if (!parsed) throw new Error(`${text} is no range`)
  return parsed
}
/** What a service does to the tables, without the rest of it. */
const change = (added: readonly string[], removed: readonly number[]) =>
  db.write.transaction().execute(async sql => {
    const state = await holdState(sql)
    const entries = added.map(ip => ({ ip, description: '', expires_at: null }))
    const made = await insertEntries(sql, db.engine, entries, 'anna', 0)
    if (removed.length > 0) await deleteEntries(sql, removed)
    const seq = state.seq + 1
    await saveState(sql, {
      version: `w${seq}-0`,
      seq,
      entries: state.entries + made.length - removed.length,
      changed_at: 0,
    })
    return made
  })

test('follows whatever is changed, here and elsewhere, heard of or not, while it packs', async () => {
  const failures: unknown[] = []
  const mirror = await createMirror(db, error => failures.push(error))
  let changes = 0
  mirror.onChange(() => changes++)
  const present = new Map<number, string>()
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const fresh = () =>
    random(4) === 0
      ? `10.${random(4)}.${random(8)}.0/${[8, 16, 22, 24, 28][random(5)] ?? 24}`
      : random(3) === 0
        ? `2001:db8::${random(4000).toString(16)}`
        : `10.${random(4)}.${random(8)}.${random(256)}`
  const asked = [
    ...Array.from({ length: 200 }, fresh),
    '10.3.7.255',
    '11.0.0.0',
    '9.255.255.255',
    '2001:db8::',
    '10.0.0.0/8',
    '10.1.0.0/16',
  ].map(range)
  const same = (left: readonly IpRange[]) => {
    const lengthOf = (given: IpRange) => given.prefix ?? given.bytes.length * 8
    const holds = (outer: IpRange, inner: IpRange) =>
      lengthOf(outer) <= lengthOf(inner) && covers(outer, { ...inner, prefix: null })
    for (const wanted of asked) {
      const around = left.filter(entry => holds(entry, wanted)).sort((a, b) => lengthOf(b) - lengthOf(a))
      expect(mirror.covers(wanted)?.text ?? null).toBe(around[0]?.text ?? null)
      const touched = around.length > 0 || left.some(entry => holds(wanted, entry))
      expect(mirror.touches(wanted) !== null).toBe(touched)
    }
  }
  for (let round = 0; round < 25; round++) {
    const sizes = [1, 1, 1, 5, 400, 1500]
    const texts = [...new Set(Array.from({ length: sizes[random(sizes.length)] ?? 1 }, () => range(fresh()).text))]
    const ids = [...present.keys()]
    const removed = [
      ...new Set(Array.from({ length: random(3) * random(40) }, () => ids[random(ids.length || 1)])),
    ].flatMap(id => id ?? [])
    const made = await change(texts, removed)
    for (const { id, ip } of made) present.set(id, ip)
    for (const id of removed) present.delete(id)
    // Now and then nobody says what was removed, or two changes are taken over at once.
    const heard = mirror.catchUp(random(4) === 0 ? [] : removed)
    if (random(4) > 0) {
      await heard
      same([...present.values()].map(range))
      const lines = (await mirror.render()).plain.toString().split('\n').slice(2, -1)
      expect(lines).toEqual([...present.values()])
      expect(mirror.count()).toBe(present.size)
    }
  }
  await mirror.catchUp()
  same([...present.values()].map(range))
  const before = changes
  await mirror.catchUp()
  expect(changes).toBe(before)
  const again = await createMirror(db, () => {})
  expect(again.version()).toBe(mirror.version())
  expect((await again.render()).plain.equals((await mirror.render()).plain)).toBe(true)
  expect(failures).toEqual([])
})
