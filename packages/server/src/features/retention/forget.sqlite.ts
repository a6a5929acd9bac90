import type { DatabaseSync } from 'node:sqlite'
import type { PreparedProcedure } from '../../db/database.ts'
import { selecting, selectingOne } from '../../db/selecting.ts'
import { prepareSums } from '../bans/append.sqlite.ts'
import { cellTables, cellsOf, listingTables } from '../bans/sums.ts'
import { lastBansLeft, keyOfIp } from './retire-chunk.ts'
import { countedOf } from './forget-chunk.ts'
import type { ForgetInput, Forgotten } from './forget-chunk.ts'

/** Runs in the writer thread. */
export const prepare = (db: DatabaseSync): PreparedProcedure<ForgetInput, number> => {
  const sumUp = prepareSums(db)
  const find = selecting<Forgotten>(
    db,
    `select id, server_no, jail_id, country_id, ip, banned_at from bans
      where server_no = ? and id >= ? order by id limit ?`,
  )
  const lastOf = selectingOne<{ at: number | null }>(db, 'select max(banned_at) as at from bans where ip = ?')
  const deactivate = db.prepare('delete from active_bans where banned_at = ? and ban_id = ?')
  const remove = db.prepare('delete from bans where id = ?')
  const unlist = listingTables.map(
    ({ name, column }) =>
      [column, db.prepare(`delete from ${name} where ${column} = ? and banned_at = ? and id = ?`)] as const,
  )
  const sums = cellTables.map(([table, keys, value]) => {
    const cell = keys.map(key => `${key} = ?`).join(' and ')
    return {
      shrink: db.prepare(`update ${table} set ${value} = ${value} - ? where ${cell}`),
      clear: db.prepare(`delete from ${table} where ${cell} and ${value} = 0`),
    }
  })
  const move = db.prepare(`insert into rolled_last_bans (bucket, n) values (?, ?)
    on conflict (bucket) do update set n = rolled_last_bans.n + excluded.n`)
  const empty = db.prepare('delete from rolled_last_bans where bucket = ? and n = 0')
  const last = (ip: Uint8Array) => lastOf.get(ip).at

  return ({ serverNo, from, most }) => {
    // Deleting bans requires up-to-date sums.
    sumUp()
    const gone = find.all(serverNo, from, most)
    const addresses = new Map(gone.map(({ ip }) => [keyOfIp(ip), ip]))
    const latest = [...addresses.values()].map(ip => ({ ip, before: last(ip) }))
    for (const ban of gone) {
      deactivate.run(ban.banned_at, ban.id)
      remove.run(ban.id)
      for (const [column, list] of unlist) list.run(ban[column], ban.banned_at, ban.id)
    }
    cellsOf(gone.map(countedOf)).forEach((cells, table) => {
      for (const cell of cells) {
        const key = cell.slice(0, -1)
        sums[table]?.shrink.run(cell.at(-1) ?? 0, ...key)
        sums[table]?.clear.run(...key)
      }
    })
    for (const [bucket, n] of lastBansLeft(latest.map(({ ip, before }) => ({ before, after: last(ip) })))) {
      move.run(bucket, n)
      empty.run(bucket)
    }
    return gone.length
  }
}
