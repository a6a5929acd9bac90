import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { Command } from '../../api/queries.ts'
import { fleetTexts } from './fleet.texts.ts'

/** How long the server worked on it, in milliseconds; null until it has answered. */
export const tookOf = (row: Partial<Pick<Command, 'started_at' | 'completed_at'>>): number | null =>
  row.started_at && row.completed_at ? Math.max(0, Date.parse(row.completed_at) - Date.parse(row.started_at)) : null

export const tookWords = (ms: number | null): string => {
  const t = textsOf(fleetTexts).took
  if (ms === null) return t.none
  return ms < 1000 ? t.ms(number(Math.round(ms))) : t.s((ms / 1000).toFixed(1))
}
