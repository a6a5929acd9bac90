import { newer } from '../../api/patch.ts'
import type { Command } from '../../api/queries.ts'

export const mostCommands = 50

/** The last commands after a live message: the command is changed in place, or added, newest first. */
export const withNews = (rows: readonly Command[], news: Command): Command[] => {
  if (rows.some(({ id }) => id === news.id)) return rows.map(row => (row.id === news.id ? newer(row, news) : row))
  return [...rows, news].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at)).slice(0, mostCommands)
}

interface ActivityEntry {
  readonly row: Command
  /** Null for a command that stands by itself. */
  readonly batchId: string | null
}
/** Several commands of one batch are one entry, in place of the newest of them; a single one stays as it is. */
export const groupsOf = (rows: readonly Command[]): readonly ActivityEntry[] => {
  const sizes = new Map<string, number>()
  for (const { batch_id } of rows) if (batch_id !== null) sizes.set(batch_id, (sizes.get(batch_id) ?? 0) + 1)
  const listedIds = new Set<string>()
  return rows.flatMap((row): readonly ActivityEntry[] => {
    const batchId = row.batch_id !== null && (sizes.get(row.batch_id) ?? 0) > 1 ? row.batch_id : null
    if (batchId === null) return [{ row, batchId }]
    if (listedIds.has(batchId)) return []
    listedIds.add(batchId)
    return [{ row, batchId }]
  })
}
