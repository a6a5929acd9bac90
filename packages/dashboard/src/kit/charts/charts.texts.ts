import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const bans = (count: string, n: number) => plural(n, { one: '1 ban', other: `${count} bans` })

const en = {
  empty: 'No bans in this range.',
  bans,
  sentence: (title: string, total: string, most: string, at: string) =>
    `${title}. ${total}, at most ${most} in one bar: ${at}.`,
  nothing: (title: string) => `${title}. No bans in this range.`,
  read: (range: string, count: string) => `${range}: ${count}`,
  soFar: (text: string) => `${text}, so far`,
  between: (from: string, to: string) => `${from} to ${to}`,
  bars: (title: string) => `Bars of: ${title}`,
  keys: 'Left and right read a bar, Shift takes more of them, Enter opens their bans.',
  tap: 'Tap a bar to read it, again to see its bans.',
  table: 'Show as table',
  at: 'When',
  count: 'Bans',
  other: 'Other',
  all: 'All jails',
  notLoaded: 'This part of the page could not be loaded.',
  map: {
    sentence: (total: string, places: string, most: string) => `${total} from ${places}. Most from ${most}.`,
    places: (count: string, n: number) => plural(n, { one: '1 country', other: `${count} countries` }),
    unknown: (count: string) => `${count} of an unknown place are not on the map.`,
    caption: 'Bans by country',
    country: 'Country',
    step: (from: string, to: string) => (from === to ? from : `${from} to ${to}`),
    title: (name: string, count: string) => `${name}: ${count}`,
  },
}
export const chartsTexts: Catalogue<typeof en> = { name: 'charts', en }
