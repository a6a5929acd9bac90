import { totalmem } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { selecting, selectingArrays, selectingOne } from '../../../db/selecting.ts'
import { createColumns, UnfitForColumns } from './rows.ts'
import type { Columns } from './rows.ts'

/** The columns of a database, and how far they follow it. */
export interface Followed {
  readonly columns: Columns
  /** Takes in what was committed since the last time. */
  catchUp(): void
}

/** What a ban takes in the columns at most: it may be the only one of its address. */
const bytesOfBan = 56
/** Bans that fit on every machine: up to 225 MB. */
const leastBans = 4_000_000
/** Above this number SQL answers instead, which takes seconds: an eighth of the memory that this process may have. */
const mostBansOf = (memory: number): number => Math.max(leastBans, Math.floor(memory / 8 / bytesOfBan))
const ownMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity)

type Row = [
  id: number,
  at: number,
  server: number,
  jail: number,
  country: number,
  asn: number | null,
  duration: number | null,
  city: string | null,
  ip: string,
]
type Heads = { ban: number; event: number; removed: number; oldest: number }
type Address = { id: number; ip: Uint8Array }
/** Address bytes of `hex(ip)`, in one of two buffers that the next call uses again. */
const buffers = [new Uint8Array(4), new Uint8Array(16)] as const
const bytesOfHex = (text: string): Uint8Array => {
  const bytes = buffers[text.length === 8 ? 0 : 1]
  for (let at = 0; at < bytes.length; at++) bytes[at] = digitOf(text, at * 2) * 16 + digitOf(text, at * 2 + 1)
  return bytes
}
const digitOf = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code < 58 ? code - 48 : code - 55
}
const endedEarly = `unbanned_at is not null
  and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000)`

/** Reads all bans by the index of time, which holds every column that is asked for; and follows the database from there. */
export const followBans = (db: DatabaseSync): Followed => {
  let columns = createColumns()
  const at = { ban: 0, event: 0, removed: 0 }
  // Text costs a third of a blob here, which becomes an object with a buffer of its own.
  const fields = 'id, banned_at, server_no, jail_id, country_id, asn, ban_duration, city, hex(ip)'
  // In pieces: a list of rows costs less than as many single steps, and a piece stays small.
  const all = selectingArrays<Row>(
    db,
    `select ${fields} from bans indexed by bans_at where (banned_at, id) > (?, ?) and id <= ? order by banned_at, id limit 2000`,
  )
  const since = selectingArrays<[...Row, isOver: number]>(
    db,
    `select ${fields}, case when ${endedEarly} then 1 else 0 end from bans where id > ? order by id`,
  )
  const ended = selecting<Address>(db, `select id, ip from bans where ${endedEarly} and id <= ?`)
  const heads = selectingOne<Heads>(
    db,
    `select coalesce((select max(id) from bans), 0) as ban, coalesce((select max(id) from events), 0) as event,
      coalesce((select max(seq) from removed_bans), 0) as removed, coalesce((select min(seq) from removed_bans), 0) as oldest`,
  )
  const ends = selecting<Address>(
    db,
    `select bans.id, bans.ip from events join bans on bans.id = events.ban_id
      where events.id > ? and events.id <= ? and events.name = 'ban.end'`,
  )
  const removals = selecting<{ ban_id: number; ip: Uint8Array }>(
    db,
    'select ban_id, ip from removed_bans where seq > ? order by seq',
  )

  const count = selectingOne<{ n: number }>(db, 'select coalesce(sum(n), 0) as n from ban_fleet')
  const add = (
    [id, bannedAt, server, jail, country, asn, duration, city, ip]: readonly [...Row, ...number[]],
    isOver: boolean,
  ) => {
    columns.add({
      id,
      server,
      jail,
      country,
      asn,
      city,
      ip: bytesOfHex(ip),
      at: bannedAt,
      duration,
      isOver,
    })
  }
  const load = (head: Heads) => {
    const { n } = count.get()
    const mostBans = mostBansOf(ownMemory())
    if (n > mostBans) throw new UnfitForColumns(`More than ${mostBans} bans do not go into the columns.`)
    columns = createColumns(n)
    for (let [id, bannedAt] = [-1, -1]; ;) {
      const rows = all.all(bannedAt, id, head.ban)
      for (const row of rows) add(row, false)
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
    if (head.ban > at.ban) for (const row of since.iterate(at.ban)) add(row, row[9] === 1)
    if (head.event > at.event) for (const { id, ip } of ends.all(at.event, head.event)) columns.end(ip, id)
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
  }
}
