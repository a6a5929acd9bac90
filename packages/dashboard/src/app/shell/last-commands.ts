import { newer } from '../../api/patch.ts'
import type { Command } from '../../api/queries.ts'

export const mostCommands = 50

/** The last commands with what a message tells of one: changed where it stands, or added, newest first. */
export const withNews = (rows: readonly Command[], news: Command): Command[] => {
  if (rows.some(({ id }) => id === news.id)) return rows.map(row => (row.id === news.id ? newer(row, news) : row))
  return [...rows, news].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at)).slice(0, mostCommands)
}
