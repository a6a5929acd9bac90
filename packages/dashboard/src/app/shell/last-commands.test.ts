import { describe, expect, it } from 'vitest'
import type { Command } from '../../api/queries.ts'
import { withNews } from './last-commands.ts'

const command = (id: string, second: number, status: Command['status'] = 'pending'): Command => ({
  id,
  type: 'reload-all',
  server: { id: '01934f9e-0000-7000-8000-000000000001', hostname: 'web-01' },
  params: {},
  status,
  result: null,
  initiated_by: 'anna',
  retry_of: null,
  batch_id: null,
  cancelled: false,
  created_at: new Date(second * 1000).toISOString(),
  started_at: null,
  completed_at: null,
})
const ids = (rows: readonly Command[]) => rows.map(({ id }) => id)

describe('the last commands', () => {
  const rows = [command('c', 3), command('a', 1, 'completed')]
  it('take a new one where it belongs, and drop the oldest beyond fifty', () => {
    expect(ids(withNews(rows, command('d', 4)))).toEqual(['d', 'c', 'a'])
    expect(ids(withNews(rows, command('b', 2)))).toEqual(['c', 'b', 'a'])
    const many = Array.from({ length: 50 }, (_, index) => command(`m${index}`, 100 - index))
    const more = withNews(many, command('new', 200))
    expect([more.length, more[0]?.id, more.at(-1)?.id]).toEqual([50, 'new', 'm48'])
  })
  it('go on where they stand, never back', () => {
    expect(withNews(rows, command('c', 3, 'running'))[0]?.status).toBe('running')
    expect(withNews(rows, command('a', 1, 'running'))[1]?.status).toBe('completed')
  })
})
