import { sql as raw } from 'kysely'
import { expect, test } from 'vitest'
import { withDatabase } from '../testing/scene.ts'
import type { Database } from './database.ts'
import { among, insertMany, upsert } from './given.ts'
import type { Upsert } from './given.ts'

let db: Database
withDatabase(opened => (db = opened))

interface Said {
  readonly server_no: number
  readonly list_id: number
  readonly mode: string | null
  readonly held: number | null
  readonly packets: number
}
const said: Upsert<Said> = {
  table: 'blocklist_hosts',
  columns: { server_no: 'bigint', list_id: 'bigint', mode: 'text', held: 'bigint', packets: 'bigint' },
  key: ['server_no', 'list_id'],
  added: ['packets'],
  kept: ['held'],
}
const rowsOf = async (serverNos: readonly number[]) =>
  db.read
    .selectFrom('blocklist_hosts')
    .select(['server_no', 'list_id', 'mode', 'held', 'packets'])
    .where(among(db.engine, 'server_no', serverNos))
    .orderBy('server_no')
    .execute()

test('more rows than SQLite takes parameters are inserted, found and changed', async () => {
  const count = 40_000
  const nos = Array.from({ length: count }, (_, index) => index + 1)
  const rows = (packets: number, held: number) =>
    nos.map(server_no => ({ server_no, list_id: 1, mode: `m${server_no}`, held, packets }))
  await upsert(db.write, db.engine, said, rows(3, 10))
  await upsert(db.write, db.engine, said, rows(4, 20))
  const found = await rowsOf(nos)
  expect(found).toHaveLength(count)
  expect(found.at(-1)).toEqual({ server_no: count, list_id: 1, mode: `m${count}`, held: 10, packets: 7 })
})

test('texts and absent values arrive as they are', async () => {
  const texts = ["it's", '"quoted"', '\\u0000', 'line\nbreak', 'ü€😀', '', null]
  const rows = texts.map((mode, index) => ({ server_no: 50_000 + index, list_id: 1, mode, held: null, packets: 0 }))
  await insertMany(db.write, db.engine, said, rows)
  expect(await rowsOf(rows.map(row => row.server_no))).toEqual(rows)
})

test('a row is changed only where that is asked for', async () => {
  const onlyMore: Upsert<Said> = { ...said, added: [], where: raw`excluded.packets > blocklist_hosts.packets` }
  const rowOf = (packets: number) => ({ server_no: 60_000, list_id: 1, mode: null, held: null, packets })
  for (const packets of [5, 3, 9, 8]) await upsert(db.write, db.engine, onlyMore, [rowOf(packets)])
  expect(await rowsOf([60_000])).toEqual([rowOf(9)])
  expect(await rowsOf([])).toEqual([])
})
