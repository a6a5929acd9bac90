import { describe, expect, it } from 'vitest'
import type { CommandRow } from '../fleet/queries.ts'
import { tookOf } from '../fleet/took.ts'
import { grouped, saidTogether, tallyOf, tookTogether } from './rows.ts'

const row = (id: string, given: Partial<CommandRow> = {}): CommandRow => ({
  id,
  type: 'reload-all',
  server: { id: 's', hostname: 'web-01' },
  params: {},
  status: 'completed',
  result: null,
  initiated_by: 'anna',
  retry_of: null,
  batch_id: null,
  cancelled: false,
  created_at: '2026-11-20T13:04:12.000Z',
  started_at: null,
  completed_at: null,
  ...given,
})

describe('the list of commands', () => {
  const rows = [row('1', { batch_id: 'a' }), row('2'), row('3', { batch_id: 'a' }), row('4', { batch_id: 'b' })]
  it('shows a batch as one row where its newest command stands', () => {
    expect(
      grouped(rows, true, true).map(group =>
        group.kind === 'one' ? group.row.id : [group.batchId, group.rows.map(({ id }) => id), group.open],
      ),
    ).toEqual([['a', ['1', '3'], false], '2', ['b', ['4'], false]])
  })
  it('says that a batch at the edge of the page may go on', () => {
    const open = (first: boolean, last: boolean) =>
      grouped(rows, first, last).flatMap(group => (group.kind === 'batch' && group.open ? [group.batchId] : []))
    expect(open(true, false)).toEqual(['b'])
    expect(open(false, true)).toEqual(['a'])
    expect(open(false, false)).toEqual(['a', 'b'])
  })
  it('counts by state; cancelled ones are no failures', () => {
    expect(
      tallyOf([row('1'), row('2', { status: 'failed' }), row('3', { status: 'failed', cancelled: true })]),
    ).toEqual([
      { state: 'completed', count: 1 },
      { state: 'failed', count: 1 },
      { state: 'cancelled', count: 1 },
    ])
  })
  it('knows how long the host took', () => {
    expect(tookOf(row('1'))).toBeNull()
    expect(tookOf(row('1', { started_at: '2026-11-20T13:04:12.000Z', completed_at: '2026-11-20T13:04:13.250Z' }))).toBe(
      1250,
    )
  })
})

it('knows how long a batch took once all of it has ended', () => {
  const first = row('1', { started_at: '2026-11-20T13:04:12.000Z', completed_at: '2026-11-20T13:04:14.000Z' })
  const second = row('2', { started_at: '2026-11-20T13:04:13.000Z', completed_at: '2026-11-20T13:04:19.000Z' })
  expect(tookTogether([first, second])).toBe(7000)
  expect(tookTogether([first, { ...second, completed_at: null }])).toBeNull()
})

it('says of a batch what all of it asks for, or that it asks for several things', () => {
  const said = (of: CommandRow) => `${of.type} ${String(of.params.ip)}`
  const mixed = (newest: CommandRow, different: number) => `${different} × ${newest.type}`
  const one = row('1', { params: { ip: '203.0.113.7' } })
  expect(saidTogether([one, { ...one, id: '2' }], said, mixed)).toBe('reload-all 203.0.113.7')
  expect(saidTogether([one, row('2', { params: { ip: '203.0.113.8' } })], said, mixed)).toBe('2 × reload-all')
  expect(saidTogether([], said, mixed)).toBe('')
})
