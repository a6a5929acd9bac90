import { iso, isoOrNull } from '../../core/clock.ts'
import { inSlices } from '../../core/slices.ts'
import type { Database } from '../../db/database.ts'
import { chunk } from './changes.ts'
import { csvHeader, csvLine, csvWithEnds } from './formats.ts'
import type { Written } from './formats.ts'
import { entriesAfter, hasEnds } from './whitelist.store.ts'
import type { EntryRow } from './whitelist.store.ts'

type Row = Pick<EntryRow, 'ip' | 'description' | 'expires_at'>
const written = ({ ip, description, expires_at }: Row): Written => ({
  ip,
  description,
  expires_at: isoOrNull(expires_at),
})
const eachEntry = async (db: Database, work: (row: Row) => void): Promise<void> => {
  let last = 0
  for (;;) {
    const rows = await entriesAfter(db.read, last, chunk)
    await inSlices(rows, work)
    const end = rows.at(-1)
    if (!end || rows.length < chunk) return
    last = end.id
  }
}

export const exportText = async (db: Database, format: 'plain' | 'csv'): Promise<string> => {
  const csv = (await hasEnds(db.read)) ? csvWithEnds : { header: csvHeader, line: csvLine }
  const lines: string[] = format === 'csv' ? [csv.header] : []
  await eachEntry(db, row => lines.push(format === 'csv' ? csv.line(written(row)) : `${row.ip}\n`))
  return lines.join('')
}
export const exportJson = async (db: Database, now: number) => {
  const whitelist: Written[] = []
  await eachEntry(db, row => whitelist.push(written(row)))
  return { whitelist, exported_at: iso(now) }
}
