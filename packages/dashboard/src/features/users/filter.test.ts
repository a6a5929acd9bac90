import { expect, it } from 'vitest'
import { readUsersSearch } from './filter.ts'

it('reads what it knows', () =>
  expect(readUsersSearch({ search: ' anna ', role: 'Operator', page: '2' })).toEqual({
    search: 'anna',
    role: 'Operator',
    page: 2,
  }))
it.each([[{ search: ' ' }], [{ role: 'operator' }], [{ role: 'Root' }], [{ page: '0' }], [{ page: '1.5' }]])(
  'leaves out %j',
  raw => expect(readUsersSearch(raw)).toEqual({}),
)
