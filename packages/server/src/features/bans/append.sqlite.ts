import type { DatabaseSync } from 'node:sqlite'
import type { PreparedProcedure } from '../../db/database.ts'
import { cellTables, cellsOf, expiryOf, hoursMoved } from './append.ts'
import type { Appended, BanEnd, NewBan } from './append.ts'
import { packResults, unpackBatch } from './packed.ts'
import type { PackedBatch } from './packed.ts'

/** So many bans may wait to be summed: readers look at each of them (a millisecond), and one page of sums serves many. */
const mostUnsummed = 2048

/** Adds the bans since the last time to the sums, and the views read on from there: within the caller's transaction. */
export const prepareSums = (db: DatabaseSync): (() => void) => {
  const cells = cellTables.map(([table, keys, value]) =>
    db.prepare(`insert into ${table} (${keys.join(', ')}, ${value}) values (${keys.map(() => '?').join(', ')}, ?)
      on conflict (${keys.join(', ')}) do update set ${value} = ${table}.${value} + excluded.${value}`),
  )
  const position = db.prepare('select ban_id from rolled_up')
  const advance = db.prepare('update rolled_up set ban_id = ?')
  // Addresses as text and rows as arrays: what SQLite hands over as bytes and objects costs more than the looking up.
  const since = db.prepare(`select id, server_no, jail_id, country_id, banned_at, hex(ip) from bans where id > ?
    order by id limit 10000`)
  since.setReturnArrays(true)
  const lastBefore = db.prepare('select max(banned_at) from bans where ip = unhex(?) and id <= ?')
  lastBefore.setReturnArrays(true)
  const move = db.prepare(`insert into rolled_ip_hours (bucket, n) values (?, ?)
    on conflict (bucket) do update set n = rolled_ip_hours.n + excluded.n`)
  type Row = [id: number, serverNo: number, jailId: number, countryId: number, bannedAt: number, ip: string]
  return () => {
    for (;;) {
      const { ban_id: from } = position.get() as { ban_id: number }
      const rows = since.all(from) as unknown as Row[]
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
      const latest = new Map<string, number>()
      for (const [, , , , bannedAt, ip] of rows) if ((latest.get(ip) ?? -1) < bannedAt) latest.set(ip, bannedAt)
      const addresses = [...latest].map(([ip, at]) => {
        const [before] = lastBefore.get(ip, from) as unknown as [number | null]
        return { before, latest: at }
      })
      for (const [bucket, n] of hoursMoved(addresses)) move.run(bucket, n)
      advance.run(last)
    }
  }
}

/** Runs in the writer thread: prepared statements, ids of jails and countries remembered. */
export const prepare = (db: DatabaseSync): PreparedProcedure<PackedBatch, Float64Array> => {
  const insert = db.prepare(`insert into bans (server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, asn,
    city, latitude, longitude, log_lines, banned_by, event_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (server_no, event_id) do nothing`)
  const findFirst = db.prepare('select id, banned_at from bans where server_no = ? and event_id = ?')
  const activate = db.prepare(`insert into active_bans (ban_id, server_no, jail_id, country_id, ip, prefix, banned_at,
    expires_at) values (?, ?, ?, ?, ?, ?, ?, ?)`)
  // By the address's index of the big table: what is active is clustered by time and has no index of its own for this.
  const findActive = (onJail: string) =>
    db.prepare(`select bans.id, bans.banned_at from bans
      join active_bans on active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id
      where bans.ip = ? and bans.server_no = ? and bans.prefix is ? ${onJail} order by bans.banned_at desc`)
  const findActiveInJail = findActive('and bans.jail_id = ?')
  const findActiveAnywhere = findActive('')
  const deactivate = db.prepare('delete from active_bans where banned_at = ? and ban_id = ?')
  const end = db.prepare('update bans set unbanned_at = max(?, banned_at) where id = ?')
  const record = db.prepare('insert into events (at, name, server_no, ban_id) values (?, ?, ?, ?)')
  const nameNetwork = db.prepare('insert into networks (asn, org) values (?, ?) on conflict do nothing')
  const dimension = (table: 'jails' | 'countries', column: 'name' | 'code') => {
    const find = db.prepare(`select id from ${table} where ${column} = ?`)
    const add = db.prepare(`insert into ${table} (${column}) values (?)`)
    const known = new Map<string, number>()
    // Only committed ids are remembered for good: what a rolled back batch added is not there.
    const fresh: string[] = []
    return {
      id(name: string): number {
        const remembered = known.get(name)
        if (remembered !== undefined) return remembered
        const row = find.get(name) as { id: number } | undefined
        const id = row?.id ?? Number(add.run(name).lastInsertRowid)
        known.set(name, id)
        fresh.push(name)
        return id
      },
      settle(committed: boolean) {
        if (!committed) for (const name of fresh) known.delete(name)
        fresh.length = 0
      },
    }
  }
  const jails = dimension('jails', 'name')
  const countries = dimension('countries', 'code')
  const networks = new Set<number>()

  const addBan = (ban: NewBan, now: number): Appended => {
    const jailId = jails.id(ban.jail)
    const countryId = ban.country === null ? 0 : countries.id(ban.country)
    if (ban.asn !== null && !networks.has(ban.asn)) {
      nameNetwork.run(ban.asn, ban.asnOrg)
      networks.add(ban.asn)
    }
    const done = insert.run(
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
      ban.bannedBy,
      ban.eventId,
    )
    if (Number(done.changes) === 0) {
      const first = findFirst.get(ban.serverNo, ban.eventId) as { id: number; banned_at: number }
      return { id: first.id, changed: false, bannedAt: first.banned_at, eventId: null }
    }
    const id = Number(done.lastInsertRowid)
    const expires = expiryOf(ban)
    // A ban that was over before it arrived is history: it ended when its time was up.
    if (expires !== null && expires <= now) end.run(expires, id)
    else activate.run(id, ban.serverNo, jailId, countryId, ban.ip, ban.prefix, ban.bannedAt, expires)
    const event = record.run(now, 'ban.report', ban.serverNo, id)
    return { id, changed: true, bannedAt: ban.bannedAt, eventId: Number(event.lastInsertRowid) }
  }
  const endBan = (item: BanEnd, now: number): Appended => {
    const rows = (
      item.jail === null
        ? findActiveAnywhere.all(item.ip, item.serverNo, item.prefix)
        : findActiveInJail.all(item.ip, item.serverNo, item.prefix, jails.id(item.jail))
    ) as { id: number; banned_at: number }[]
    let eventId: number | null = null
    for (const { id, banned_at } of rows) {
      deactivate.run(banned_at, id)
      end.run(item.at, id)
      eventId = Number(record.run(now, 'ban.end', item.serverNo, id).lastInsertRowid)
    }
    return { id: rows[0]?.id ?? null, changed: rows.length > 0, bannedAt: item.at, eventId }
  }
  const sumUp = prepareSums(db)
  const unsummed = db.prepare('select coalesce(max(id), 0) - (select ban_id from rolled_up) as n from bans')
  return batch => {
    const { now } = batch
    const items = unpackBatch(batch)
    try {
      const results = items.map(item => (item.kind === 'ban' ? addBan(item, now) : endBan(item, now)))
      if (items.length === 0 || (unsummed.get() as { n: number }).n >= mostUnsummed) sumUp()
      jails.settle(true)
      countries.settle(true)
      return packResults(results)
    } catch (error) {
      jails.settle(false)
      countries.settle(false)
      networks.clear()
      throw error
    }
  }
}
