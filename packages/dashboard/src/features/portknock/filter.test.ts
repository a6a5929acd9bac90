import { expect, it } from 'vitest'
import { historyQueryOf, readHistorySearch, readPageSearch, readStatsSearch } from './filter.ts'

const server = '01934f9e-0000-7000-8000-000000000001'

it('reads what the URL says, and leaves out what means nothing', () => {
  expect(readHistorySearch({ server, sequence: '3', status: 'failed', from: 'now-7d', page: '2', more: 'x' })).toEqual({
    server,
    sequence: 3,
    status: 'failed',
    from: 'now-7d',
    page: 2,
  })
  expect(
    readHistorySearch({ server: "' or 1", sequence: '0', status: 'x', from: 'now-1y', to: '2026-13-01', page: '1' }),
  ).toEqual({})
  expect(readHistorySearch({ from: '2026-11-20T09:30:00Z', to: '2026-11-21T09:30:00+01:00' })).toEqual({
    from: '2026-11-20T09:30:00Z',
    to: '2026-11-21T09:30:00+01:00',
  })
  expect(readPageSearch({ page: '1.5' })).toEqual({})
  expect([readStatsSearch({ period: 'month' }), readStatsSearch({ period: 'year' })]).toEqual([{ period: 'month' }, {}])
})

it('asks for a relative range from the moment on, or back from its end', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  expect(historyQueryOf({ from: 'now-24h', status: 'blocked' }, now)).toEqual({
    page: 1,
    limit: 50,
    status: 'blocked',
    from: '2026-11-20T12:00:00.000Z',
  })
  expect(historyQueryOf({ from: 'now-7d', to: '2026-11-10T00:00:00Z', sequence: 4, server, page: 3 }, now)).toEqual({
    page: 3,
    limit: 50,
    server_id: server,
    sequence_id: 4,
    from: '2026-11-03T00:00:00.000Z',
    to: '2026-11-10T00:00:00Z',
  })
})
