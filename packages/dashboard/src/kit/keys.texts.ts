import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  title: 'Keys',
  page: 'On this page',
  go: 'Go to',
  off: 'Single-key shortcuts are off in the preferences.',
  toPreferences: 'Go to the preferences',
  then: 'then',
  list: 'Show this list',
  search: 'Search on this page',
  times: 'Exact or relative times',
  undo: 'Undo what was done last',
  find: 'Find anything',
  next: 'Next row',
  previous: 'Previous row',
  select: 'Select the row',
  unban: 'Unban',
  whitelist: 'Whitelist',
  more: 'More about the row',
}
export const keysTexts: Catalogue<typeof en> = { name: 'keys', en }
