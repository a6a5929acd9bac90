import type { DatabaseSync } from 'node:sqlite'
import { createColumns } from './rows.ts'
import type { Columns } from './rows.ts'

/** The columns of a database, and how far they follow it. */
export interface Followed {
  readonly columns: Columns
  /** Takes in what was committed since the last time. */
  catchUp(): void
}

type Row = [
  id: number,
  at: number,
  server: number,
  jail: number,
  country: number,
  asn: number | null,
  duration: number | null,
  ip: Uint8Array,
]
const endOf = (at: number, duration: number | null): number =>
  duration === null || duration < 0 ? Infinity : at + duration * 1000
const endedEarly = `unbanned_at is not null
  and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000)`

/** Reads all bans by the index of time, which holds every column that is asked for; and follows the database from there. */
export const followBans = (db: DatabaseSync): Followed => {
  let columns = createColumns()
  const at = { ban: 0, event: 0, removed: 0 }
  const fields = 'id, banned_at, server_no, jail_id, country_id, asn, ban_duration, ip'
  const all = db.prepare(`select ${fields} from bans indexed by bans_at where id <= ?`)
  all.setReturnArrays(true)
  const since = db.prepare(
    `select ${fields}, case when ${endedEarly} then 1 else 0 end from bans where id > ? order by id`,
  )
  since.setReturnArrays(true)
  const ended = db.prepare(`select id, ip from bans where ${endedEarly} and id <= ?`)
  const heads =
    db.prepare(`select coalesce((select max(id) from bans), 0) as ban, coalesce((select max(id) from events), 0) as event,
    coalesce((select max(seq) from removed_bans), 0) as removed, coalesce((select min(seq) from removed_bans), 0) as oldest`)
  const ends = db.prepare(`select bans.id, bans.ip from events join bans on bans.id = events.ban_id
    where events.id > ? and events.id <= ? and events.name = 'ban.end'`)
  const removals = db.prepare('select ban_id, ip from removed_bans where seq > ? order by seq')

  const add = (row: readonly unknown[], isOver: boolean) => {
    const [id, bannedAt, server, jail, country, asn, duration, ip] = row as unknown as Row
    columns.add({
      id,
      server,
      jail,
      country,
      asn,
      ip,
      at: bannedAt,
      end: isOver ? 0 : endOf(bannedAt, duration),
      permanent: duration === -1,
    })
  }
  type Heads = { ban: number; event: number; removed: number; oldest: number }
  const load = (head: Heads) => {
    columns = createColumns()
    for (const row of all.iterate(head.ban)) add(row as unknown as unknown[], false)
    for (const { id, ip } of ended.all(head.ban) as unknown as { id: number; ip: Uint8Array }[]) columns.end(ip, id)
    columns.settle()
    Object.assign(at, { ban: head.ban, event: head.event, removed: head.removed })
  }
  const follow = () => {
    const head = heads.get() as unknown as Heads
    // The list of removed bans is trimmed: who missed some of it reads everything again.
    if (at.removed < head.oldest - 1) return load(head)
    if (head.ban > at.ban)
      for (const row of since.iterate(at.ban)) {
        const values = row as unknown as unknown[]
        add(values, values[8] === 1)
      }
    if (head.event > at.event)
      for (const { id, ip } of ends.all(at.event, head.event) as unknown as { id: number; ip: Uint8Array }[])
        columns.end(ip, id)
    if (head.removed > at.removed)
      for (const { ban_id, ip } of removals.all(at.removed) as unknown as { ban_id: number; ip: Uint8Array }[])
        columns.remove(ip, ban_id)
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
  atOneMoment(() => load(heads.get() as unknown as Heads))
  return {
    get columns() {
      return columns
    },
    catchUp: () => atOneMoment(follow),
  }
}
