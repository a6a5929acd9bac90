import type { BanField, BanSort, BansSearch } from './filter.ts'

export const allColumns = [
  'server',
  'jail',
  'why',
  'network',
  'banned',
  'state',
  'ends',
  'times',
  'country',
  'city',
  'asn',
  'duration',
  'reported',
  'score',
  'log',
  'id',
] as const
export type Column = (typeof allColumns)[number]
/** Beside the address, which is always there. */
export const usualColumns: readonly Column[] = allColumns.slice(0, 8)

/** The columns that a text names, in their own order; null where it names none. */
export const columnsOf = (named: string | undefined): readonly Column[] | null => {
  const names = named?.split(',') ?? []
  const columnsInOrder = allColumns.filter(column => names.includes(column))
  return columnsInOrder.length > 0 ? columnsInOrder : null
}

const fields: Partial<Record<Column | 'ip', BanField>> = {
  ip: 'ip',
  country: 'country',
  jail: 'jail',
  server: 'server',
  banned: 'banned_at',
  ends: 'expires_at',
  times: 'occurrences',
}
/** What the head of a column sorts by when it is pressed; null where the service does not sort by it. */
export const nextSort = (column: Column | 'ip', sort: BansSearch['sort'] = '-banned_at'): BanSort | null => {
  const field = fields[column]
  if (field === undefined) return null
  // Numbers and times begin with the most.
  const down = column === 'banned' || column === 'times'
  const backwards: BanSort = `-${field}`
  const [first, other] = down ? [backwards, field] : [field, backwards]
  return sort === first ? other : first
}
/** For `aria-sort`; undefined where the service does not sort by the column. */
export const sortedBy = (
  column: Column | 'ip',
  sort: BansSearch['sort'] = '-banned_at',
): 'ascending' | 'descending' | 'none' | undefined => {
  const field = fields[column]
  if (field === undefined) return undefined
  return sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : 'none'
}
