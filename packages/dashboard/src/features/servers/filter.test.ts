import { expect, it } from 'vitest'
import { readServersSearch } from './filter.ts'

it.each([
  [
    { q: ' name:web-* ', page: '3' },
    { q: 'name:web-*', page: 3 },
  ],
  // As links are, and as they were before there was a search.
  [{ status: 'offline' }, { q: 'status:offline' }],
  [{ search: ' web ', status: 'offline' }, { q: 'status:offline web' }],
  [{ search: 'mail "host' }, { q: '"mail  host"' }],
])('reads %j as %j', (raw, read) => expect(readServersSearch(raw)).toEqual(read))
it.each([[{ search: '  ' }], [{ status: 'gone' }], [{ page: '1' }], [{ page: 'x' }], [{ colour: 'red' }], [{ q: 7 }]])(
  'leaves out %j',
  raw => expect(readServersSearch(raw)).toEqual({}),
)
