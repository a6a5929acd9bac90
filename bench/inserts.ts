import { DatabaseSync } from 'node:sqlite'
import { prepare } from '../packages/server/src/features/bans/append.sqlite.ts'
import { packBatch } from '../packages/server/src/features/bans/packed.ts'
import { aRow } from './bans.ts'

/*
 * What SQLite itself can do with the same rows: grouped transactions, synchronous=FULL, no HTTP. `row` writes the ban
 * alone, into the table with its indexes; `all` is the server's own write, with event, active ban and roll-ups.
 */

export interface Inserted {
  readonly rows: number
  readonly seconds: number
  readonly cpuSeconds: number
}
const [, , file = '', mode = 'row', group = '64', seconds = '3', servers = '20'] = process.argv
const db = new DatabaseSync(file)
db.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 30000;
  pragma cache_size = -16384; pragma temp_store = memory`)

const insert = db.prepare(`insert into bans (server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, asn,
  city, latitude, longitude, log_lines, banned_by, event_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
const append = prepare(db)
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => aRow(1 + (index % Number(servers)), Date.now()))

const write = (count: number) => {
  const items = rowsOf(count)
  db.exec('begin immediate')
  if (mode === 'all') append(packBatch({ items, now: Date.now() }))
  else
    for (const row of items)
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
  db.exec('commit')
}
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
