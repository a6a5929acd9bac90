import type { DatabaseSync } from 'node:sqlite'
import type { PreparedProcedure } from '../../db/database.ts'
import { selecting, selectingArrays, selectingOne } from '../../db/selecting.ts'
import { packResults, unpackBatch } from './packed.ts'
import type { PackedBatch } from './packed.ts'
import { expiryOf, lateAfter } from './ban-input.ts'
import type { Appended, BanEnd, NewBan } from './ban-input.ts'
import { cellTables, cellsOf, lastBansMoved, listingTables } from './sums.ts'

/** So many bans may wait to be summed: readers look at each of them (a millisecond), and one page of sums serves many. */
const mostUnsummed = 2048

type Row = [id: number, serverNo: number, jailId: number, countryId: number, bannedAt: number]
/** Adds the bans since the last time to the sums, and the views read on from there: within the caller's transaction. */
export const prepareSums = (db: DatabaseSync): (() => void) => {
  const cells = cellTables.map(([table, keys, value]) =>
    db.prepare(`insert into ${table} (${keys.join(', ')}, ${value}) values (${keys.map(() => '?').join(', ')}, ?)
      on conflict (${keys.join(', ')}) do update set ${value} = ${table}.${value} + excluded.${value}`),
  )
  const position = selectingOne<{ ban_id: number }>(db, 'select ban_id from rolled_up')
  const advance = db.prepare('update rolled_up set ban_id = ?')
  // Rows as arrays: objects cost more than the looking up.
  const since = selectingArrays<Row>(
    db,
    'select id, server_no, jail_id, country_id, banned_at from bans where id > ? order by id limit 10000',
  )
  const addressesOf = selectingArrays<[before: number | null, latest: number]>(
    db,
    `select (select max(banned_at) from bans where bans.ip = new.ip and id <= ?1), latest
      from (select ip, max(banned_at) as latest from bans where id > ?1 and id <= ?2 group by ip) as new`,
  )
  const addActive = db.prepare(`insert into rolled_active_totals (server_no, n)
    select server_no, count(*) from bans where id > ? and id <= ? and unbanned_at is null group by server_no
    on conflict (server_no) do update set n = rolled_active_totals.n + excluded.n`)
  // In the order of the key, so that pages come in turn.
  const listings = listingTables.map(({ insert, select }) =>
    db.prepare(`${insert} ${select} and id > ? order by 1, 2, 3`),
  )
  const move = db.prepare(`insert into rolled_last_bans (bucket, n) values (?, ?)
    on conflict (bucket) do update set n = rolled_last_bans.n + excluded.n`)
  return () => {
    for (;;) {
      const { ban_id: from } = position.get()
      const rows = since.all(from)
      const last = rows.at(-1)?.[0]
      if (last === undefined) return
      const counted = rows.map(([, serverNo, jailId, countryId, bannedAt]) => ({
        serverNo,
        jailId,
        countryId,
        bannedAt,
      }))
      cellsOf(counted).forEach((sums, table) => {
        for (const sum of sums) cells[table]?.run(...sum)
      })
      const addresses = addressesOf.all(from, last).map(([before, latest]) => ({ before, latest }))
      for (const [bucket, n] of lastBansMoved(addresses)) move.run(bucket, n)
      addActive.run(from, last)
      advance.run(last)
      for (const list of listings) list.run(from)
    }
  }
}

type BanRow = { id: number; banned_at: number }
type FirstRow = BanRow & { ban_duration: number | null; unbanned_at: number | null }
/** Runs in the writer thread: prepared statements, ids of jails and countries remembered. */
export const prepare = (db: DatabaseSync): PreparedProcedure<PackedBatch, Float64Array> => {
  const insert =
    db.prepare(`insert into bans (id, server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, asn,
    city, latitude, longitude, log_lines, unbanned_at, banned_by, event_id)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (server_no, event_id) do nothing`)
  const findFirst = selectingOne<FirstRow>(
    db,
    'select id, banned_at, ban_duration, unbanned_at from bans where server_no = ? and event_id = ?',
  )
  const setLength = db.prepare('update bans set ban_duration = ? where id = ?')
  const moveEnd = db.prepare('update active_bans set expires_at = ? where banned_at = ? and ban_id = ?')
  const recordChange = db.prepare(`insert into events (at, name, server_no, ban_id) values (?, 'ban.change', ?, ?)`)
  // What follows from new rows is written from the rows: SQLite reads one again in a fraction of what it costs to hand
  // over its values a second and a third time.
  const activate = db.prepare(`insert into active_bans (ban_id, server_no, jail_id, country_id, ip, prefix, banned_at,
    expires_at) select id, server_no, jail_id, country_id, ip, prefix, banned_at,
    case when ban_duration >= 0 then banned_at + ban_duration * 1000 end
    from bans where id between ? and ? and unbanned_at is null order by id`)
  const recordReports = db.prepare(`insert into events (at, name, server_no, ban_id)
    select ?, 'ban.report', server_no, id from bans where id between ? and ? order by id`)
  const noteLate = db.prepare('insert into late_bans (ban_id, arrived_at) values (?, ?)')
  const adopt = db.prepare(`update bans set origin = 'adopted' where id between ? and ?`)
  // By the address's index of the big table: what is active is clustered by time and has no index of its own for this.
  const findActive = (onJail: string) =>
    selecting<BanRow>(
      db,
      `select bans.id, bans.banned_at from bans
        join active_bans on active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id
        where bans.ip = ? and bans.server_no = ? and bans.prefix is ? ${onJail} order by bans.banned_at desc`,
    )
  const findActiveInJail = findActive('and bans.jail_id = ?')
  const findActiveAnywhere = findActive('')
  const deactivate = db.prepare('delete from active_bans where banned_at = ? and ban_id = ?')
  const end = db.prepare('update bans set unbanned_at = max(?, banned_at) where id = ?')
  const recordEnd = db.prepare(`insert into events (at, name, server_no, ban_id) values (?, 'ban.end', ?, ?)`)
  const nameNetwork = db.prepare('insert into networks (asn, org) values (?, ?) on conflict do nothing')
  const dimension = (table: 'jails' | 'countries', column: 'name' | 'code') => {
    const find = selecting<{ id: number }>(db, `select id from ${table} where ${column} = ?`)
    const add = db.prepare(`insert into ${table} (${column}) values (?)`)
    const idByName = new Map<string, number>()
    // Only committed ids are remembered for good: what a rolled back batch added is not there.
    const fresh: string[] = []
    return {
      id(name: string): number {
        const remembered = idByName.get(name)
        if (remembered !== undefined) return remembered
        const row = find.get(name)
        const id = row?.id ?? Number(add.run(name).lastInsertRowid)
        idByName.set(name, id)
        fresh.push(name)
        return id
      },
      settle(committed: boolean) {
        if (!committed) for (const name of fresh) idByName.delete(name)
        fresh.length = 0
      },
    }
  }
  const jails = dimension('jails', 'name')
  const countries = dimension('countries', 'code')
  const networks = new Set<number>()

  // Ids are never reused. Bans are summed before they are deleted, so the last summed id is a lower bound.
  const numbers = selectingOne<{ last: number; summed: number }>(
    db,
    'select coalesce((select max(id) from bans), 0) as last, ban_id as summed from rolled_up',
  )
  let nextId = 1
  /** The new rows, one after the other, whose active bans and events are not written yet. */
  let fresh: {
    readonly results: { -readonly [K in keyof Appended]: Appended[K] }[]
    readonly first: number
    last: number
    readonly isAdopted: boolean
  } | null = null
  const settleFresh = (now: number) => {
    if (!fresh) return
    const { results, first, last, isAdopted } = fresh
    fresh = null
    activate.run(first, last)
    if (isAdopted) {
      adopt.run(first, last)
      return
    }
    const event = Number(recordReports.run(now, first, last).lastInsertRowid) - results.length + 1
    results.forEach((result, index) => (result.eventId = event + index))
  }
  /** A host that tells a ban again as one that it holds says how long it lasts now. Answers whether that is news. */
  const isLengthTaken = (ban: NewBan, { id, banned_at, ban_duration, unbanned_at }: FirstRow, now: number): boolean => {
    if (!ban.isAdopted || unbanned_at !== null || ban_duration === ban.duration) return false
    settleFresh(now)
    setLength.run(ban.duration, id)
    moveEnd.run(expiryOf({ bannedAt: banned_at, duration: ban.duration }), banned_at, id)
    recordChange.run(now, ban.serverNo, id)
    return true
  }
  const addBan = (ban: NewBan, now: number): Appended => {
    const jailId = jails.id(ban.jail)
    const countryId = ban.country === null ? 0 : countries.id(ban.country)
    if (ban.asn !== null && !networks.has(ban.asn)) {
      nameNetwork.run(ban.asn, ban.asnOrg)
      networks.add(ban.asn)
    }
    const expires = expiryOf(ban)
    const done = insert.run(
      nextId,
      ban.serverNo,
      jailId,
      countryId,
      ban.ip,
      ban.prefix,
      ban.bannedAt,
      ban.duration,
      ban.asn,
      ban.city,
      ban.latitude,
      ban.longitude,
      ban.logLines,
      // A ban that was over before it arrived is history: it ended when its time was up.
      expires !== null && expires <= now ? expires : null,
      ban.bannedBy,
      ban.eventId,
    )
    if (Number(done.changes) === 0) {
      const first = findFirst.get(ban.serverNo, ban.eventId)
      const changed = isLengthTaken(ban, first, now)
      return { id: first.id, changed, bannedAt: first.banned_at, eventId: null }
    }
    const id = nextId++
    const { isAdopted = false } = ban
    if (!isAdopted && ban.bannedAt < now - lateAfter) noteLate.run(id, now)
    const result = { id, changed: true, bannedAt: ban.bannedAt, eventId: null }
    if (fresh && fresh.isAdopted !== isAdopted) settleFresh(now)
    if (fresh) {
      fresh.results.push(result)
      fresh.last = id
    } else fresh = { results: [result], first: id, last: id, isAdopted }
    return result
  }
  const endBan = (item: BanEnd, now: number): Appended => {
    // It may end what came just before it, and events stand in the order of what they tell.
    settleFresh(now)
    const rows =
      item.jail === null
        ? findActiveAnywhere.all(item.ip, item.serverNo, item.prefix)
        : findActiveInJail.all(item.ip, item.serverNo, item.prefix, jails.id(item.jail))
    let eventId: number | null = null
    for (const { id, banned_at } of rows) {
      deactivate.run(banned_at, id)
      end.run(item.at, id)
      eventId = Number(recordEnd.run(now, item.serverNo, id).lastInsertRowid)
    }
    return { id: rows[0]?.id ?? null, changed: rows.length > 0, bannedAt: item.at, eventId }
  }
  const sumUp = prepareSums(db)
  return batch => {
    const { now } = batch
    const items = unpackBatch(batch)
    const { last, summed } = numbers.get()
    nextId = Math.max(last, summed) + 1
    try {
      const results = items.map(item => (item.kind === 'ban' ? addBan(item, now) : endBan(item, now)))
      settleFresh(now)
      if (items.length === 0 || nextId - summed > mostUnsummed) sumUp()
      jails.settle(true)
      countries.settle(true)
      return packResults(results)
    } catch (error) {
      jails.settle(false)
      countries.settle(false)
      networks.clear()
      fresh = null
      throw error
    }
  }
}
