import type { DatabaseSync } from 'node:sqlite'
import { selecting, selectingArrays, selectingOne } from '../../../db/selecting.ts'
import { createColumns } from './rows.ts'
import { addRow, checkFit, endedEarly, fields } from './taking-in.ts'
import type { Followed, Row } from './taking-in.ts'

type Heads = { ban: number; event: number; removed: number; oldest: number }
type Address = { id: number; ip: Uint8Array }

/** Reads all bans by the index of time, which holds every column that is asked for; and follows the database from there. */
export const followSqlite = (db: DatabaseSync): Followed & { catchUp(): void } => {
  let columns = createColumns()
  const at = { ban: 0, event: 0, removed: 0 }
  // In pieces: a list of rows costs less than as many single steps, and a piece stays small.
  const all = selectingArrays<Row>(
    db,
    `select ${fields}, hex(ip) from bans indexed by bans_at where (banned_at, id) > (?, ?) and id <= ? order by banned_at, id limit 2000`,
  )
  const since = selectingArrays<[...Row, isOver: number]>(
    db,
    `select ${fields}, hex(ip), case when ${endedEarly} then 1 else 0 end from bans where id > ? order by id`,
  )
  const ended = selecting<Address>(db, `select id, ip from bans where ${endedEarly} and id <= ?`)
  const heads = selectingOne<Heads>(
    db,
    `select coalesce((select max(id) from bans), 0) as ban, coalesce((select max(id) from events), 0) as event,
      coalesce((select max(seq) from removed_bans), 0) as removed, coalesce((select min(seq) from removed_bans), 0) as oldest`,
  )
  const changes = selecting<Address & { duration: number | null; isOver: number }>(
    db,
    `select bans.id, bans.ip, bans.ban_duration as duration, case when ${endedEarly} then 1 else 0 end as isOver
      from events join bans on bans.id = events.ban_id
      where events.id > ? and events.id <= ? and events.name in ('ban.end', 'ban.change') order by events.id`,
  )
  const removals = selecting<{ ban_id: number; ip: Uint8Array }>(
    db,
    'select ban_id, ip from removed_bans where seq > ? order by seq',
  )

  const count = selectingOne<{ n: number }>(db, 'select coalesce(sum(n), 0) as n from ban_fleet')
  const load = (head: Heads) => {
    const { n } = count.get()
    checkFit(n)
    columns = createColumns(n)
    for (let [id, bannedAt] = [-1, -1]; ;) {
      const rows = all.all(bannedAt, id, head.ban)
      for (const row of rows) addRow(columns, row, false)
      const last = rows.at(-1)
      if (!last) break
      ;[id, bannedAt] = last
    }
    for (const { id, ip } of ended.all(head.ban)) columns.end(ip, id)
    columns.settle()
    Object.assign(at, { ban: head.ban, event: head.event, removed: head.removed })
  }
  const follow = () => {
    const head = heads.get()
    // The list of removed bans is trimmed: who missed some of it reads everything again.
    if (at.removed < head.oldest - 1) return load(head)
    if (head.ban > at.ban) for (const row of since.iterate(at.ban)) addRow(columns, row, row[9] === 1)
    if (head.event > at.event)
      for (const { id, ip, duration, isOver } of changes.all(at.event, head.event))
        if (isOver === 1) columns.end(ip, id)
        else columns.setDuration(ip, id, duration)
    if (head.removed > at.removed) for (const { ban_id, ip } of removals.all(at.removed)) columns.remove(ip, ban_id)
    Object.assign(at, { ban: Math.max(at.ban, head.ban), event: Math.max(at.event, head.event), removed: head.removed })
  }
  /** One transaction, so that all parts are of the same moment. */
  const atOneMoment = (work: () => void) => {
    db.exec('begin')
    try {
      work()
    } finally {
      db.exec('commit')
    }
  }
  atOneMoment(() => load(heads.get()))
  return {
    get columns() {
      return columns
    },
    catchUp: () => atOneMoment(follow),
    liftedAmong: ids =>
      ids.length === 0
        ? []
        : selecting<{ id: number }>(
            db,
            `select id from bans where id in (${ids.map(() => '?').join(', ')}) and ${endedEarly}`,
          )
            .all(...ids)
            .map(({ id }) => id),
  }
}
