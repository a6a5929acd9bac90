import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { prepare } from '../packages/server/src/features/bans/append.sqlite.ts'
import { packBatch } from '../packages/server/src/features/bans/packed.ts'
import { aRow } from './bans.ts'

/*
 * What SQLite itself can do with the same rows: grouped transactions, synchronous=FULL, no HTTP. `row` writes the ban
 * alone, into the server's table with its indexes and settings; `all` is the server's own write, with event, active ban
 * and roll-ups; `plain` is what one would write first, and what the server's table was measured against when it was
 * designed: a table of texts with the five indexes of the list's filters, SQLite's settings as they come.
 */

export type Mode = 'row' | 'all' | 'plain'
export interface Inserted {
  readonly rows: number
  readonly seconds: number
  readonly cpuSeconds: number
}
const [, , file = '', mode = 'row', group = '64', seconds = '3', servers = '20', before = '0'] = process.argv
const db = new DatabaseSync(file)
db.exec('pragma journal_mode = wal; pragma synchronous = full')
type Row = ReturnType<typeof aRow>

const intoTable = () => {
  const insert = db.prepare(`insert into bans (server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, asn,
    city, latitude, longitude, log_lines, banned_by, event_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  return (rows: readonly Row[]) => {
    for (const row of rows)
      insert.run(
        row.serverNo,
        1 + (row.asn % 8),
        1 + (row.asn % 30),
        row.ip,
        row.prefix,
        row.bannedAt,
        row.duration,
        row.asn,
        row.city,
        row.latitude,
        row.longitude,
        row.logLines,
        row.bannedBy,
        row.eventId,
      )
  }
}
const intoPlainTable = () => {
  db.exec(`create table if not exists plain (id integer primary key, server_id text not null, ip text not null, jail text not null,
      country text, city text, latitude real, longitude real, asn integer, asn_org text, log_lines text not null,
      banned_at integer not null, ban_duration integer, unbanned_at integer, banned_by text, reported integer not null,
      reputation_score integer);
    create index if not exists plain_at on plain (banned_at); create index if not exists plain_server on plain (server_id, banned_at);
    create index if not exists plain_jail on plain (jail, banned_at); create index if not exists plain_country on plain (country, banned_at);
    create index if not exists plain_ip on plain (ip, banned_at)`)
  const insert = db.prepare(`insert into plain (server_id, ip, jail, country, city, latitude, longitude, asn, asn_org,
    log_lines, banned_at, ban_duration, banned_by, reported) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`)
  const ids = Array.from({ length: Number(servers) }, () => randomUUID())
  return (rows: readonly Row[]) => {
    for (const row of rows)
      insert.run(
        ids[row.serverNo - 1] ?? '',
        row.ip.join('.'),
        row.jail,
        row.country,
        row.city,
        row.latitude,
        row.longitude,
        row.asn,
        row.asnOrg,
        row.logLines,
        row.bannedAt,
        row.duration,
        row.bannedBy,
      )
  }
}
const asTheServer = () => {
  const append = prepare(db)
  return (items: readonly Row[]) => void append(packBatch({ items, now: Date.now() }))
}
if (mode !== 'plain')
  db.exec('pragma wal_autocheckpoint = 30000; pragma cache_size = -16384; pragma temp_store = memory')
const insertInto = { row: intoTable, all: asTheServer, plain: intoPlainTable }[mode as Mode]()

const write = (count: number) => {
  const rows = Array.from({ length: count }, (_, index) => aRow(1 + (index % Number(servers)), Date.now()))
  db.exec('begin immediate')
  insertInto(rows)
  db.exec('commit')
}
for (let there = 0; there < Number(before); there += 1000) write(1000)
db.exec('pragma wal_checkpoint(truncate)')
write(Number(group))
const start = performance.now()
const cpu = process.cpuUsage()
let rows = 0
while (performance.now() - start < Number(seconds) * 1000) {
  write(Number(group))
  rows += Number(group)
}
const used = process.cpuUsage(cpu)
const inserted: Inserted = {
  rows,
  seconds: (performance.now() - start) / 1000,
  cpuSeconds: (used.user + used.system) / 1e6,
}
db.close()
process.stdout.write(JSON.stringify(inserted))
