import { expect, it } from 'vitest'
import { readServersSearch } from './filter.ts'

it('reads what it knows', () =>
  expect(readServersSearch({ search: ' web ', status: 'offline', page: '3' })).toEqual({
    search: 'web',
    status: 'offline',
    page: 3,
  }))
it.each([[{ search: '  ' }], [{ status: 'gone' }], [{ page: '1' }], [{ page: 'x' }], [{ colour: 'red' }]])(
  'leaves out %j',
  raw => expect(readServersSearch(raw)).toEqual({}),
)
