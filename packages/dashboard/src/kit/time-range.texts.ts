import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  range: 'Time',
  anyTime: 'Any time',
  ranges: { 'now-24h': 'Last 24 hours', 'now-7d': 'Last 7 days', 'now-30d': 'Last 30 days' },
  between: 'Between…',
  from: 'From',
  to: 'Until',
}
export const timeRangeTexts: Catalogue<typeof en> = { name: 'time-range', en }
