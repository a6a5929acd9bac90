import type { DatabaseSync } from 'node:sqlite'
import type { PreparedProcedure } from '../../db/database.ts'
import { selecting, selectingOne } from '../../db/selecting.ts'
import { prepareSums } from '../bans/append.sqlite.ts'
import { keptFromKey } from '../bans/bans.store.ts'
import { listingTables } from '../bans/sums.ts'
import { lastBansLeft, keyOfIp, leavingCells, shrinking } from './retire-chunk.ts'
import type { OldBan, RetireInput, Retired } from './retire-chunk.ts'

/** Runs in the writer thread. */
export const prepare = (db: DatabaseSync): PreparedProcedure<RetireInput, Retired> => {
  const sumUp = prepareSums(db)
  const oldest = selecting<OldBan>(
    db,
    `select id, server_no, jail_id, country_id, ip, banned_at, exists (select 1 from active_bans
        where active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id) as active
      from bans where banned_at < ? and (banned_at, id) > (?, ?) order by banned_at, id limit ?`,
  )
  const lastOf = selectingOne<{ at: number | null }>(db, 'select max(banned_at) as at from bans where ip = ?')
  const remove = db.prepare('delete from bans where id = ?')
  const unlist = listingTables.map(
    ({ name, column }) =>
      [column, db.prepare(`delete from ${name} where ${column} = ? and banned_at = ? and id = ?`)] as const,
  )
  const sums = shrinking.map(([table, keys]) => {
    const cell = keys.map(key => `${key} = ?`).join(' and ')
    return {
      keys,
      shrink: db.prepare(`update ${table} set n = n - ? where ${cell}`),
      clear: db.prepare(`delete from ${table} where ${cell} and n = 0`),
    }
  })
  const move = db.prepare(`insert into rolled_last_bans (bucket, n) values (?, ?)
    on conflict (bucket) do update set n = rolled_last_bans.n + excluded.n`)
  const empty = db.prepare('delete from rolled_last_bans where bucket = ? and n = 0')
  const keep = db.prepare(`insert into meta (key, value) values ('${keptFromKey}', ?) on conflict (key) do update
    set value = excluded.value where cast(meta.value as integer) < cast(excluded.value as integer)`)
  const last = (ip: Uint8Array) => lastOf.get(ip).at

  return ({ before, after, most }) => {
    const rows = oldest.all(before, after.at, after.id, most)
    const end = rows.at(-1)
    const next = end && rows.length === most ? { at: end.banned_at, id: end.id } : null
    const gone = rows.filter(({ active }) => !active)
    const newest = gone.at(-1)
    if (!newest) return { removed: 0, next }
    // Deleting bans requires up-to-date sums.
    sumUp()
    const addresses = new Map(gone.map(({ ip }) => [keyOfIp(ip), ip]))
    const latest = [...addresses.values()].map(ip => ({ ip, before: last(ip) }))
    for (const ban of gone) {
      remove.run(ban.id)
      for (const [column, list] of unlist) list.run(ban[column], ban.banned_at, ban.id)
    }
    for (const { keys, shrink, clear } of sums)
      for (const cell of leavingCells(gone, keys)) {
        const key = cell.slice(0, -1)
        shrink.run(cell.at(-1) ?? 0, ...key)
        clear.run(...key)
      }
    for (const [bucket, n] of lastBansLeft(latest.map(({ ip, before }) => ({ before, after: last(ip) })))) {
      move.run(bucket, n)
      empty.run(bucket)
    }
    keep.run(String(newest.banned_at + 1))
    return { removed: gone.length, next }
  }
}
