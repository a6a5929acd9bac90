import { expect, it } from 'vitest'
import { readCommandsSearch } from './filter.ts'

const server = '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'
it.each([
  [
    { q: ' status:failed  web ', page: '2' },
    { q: 'status:failed  web', page: 2 },
  ],
  // As links were before there was a search.
  [
    { status: 'failed', type: 'ban-ip', server },
    { q: 'status:failed type:ban-ip', server },
  ],
  [{ status: 'failed', q: 'web' }, { q: 'status:failed web' }],
  [{ status: 'odd', type: 'x', server: 'web-01', page: '0', q: 7 }, {}],
])('%j: %j', (raw, read) => expect(readCommandsSearch(raw)).toEqual(read))
