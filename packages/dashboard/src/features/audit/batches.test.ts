import { expect, it } from 'vitest'
import type { Entry } from './audit-list.ts'
import { batchesOf } from './batches.ts'

const entry = (id: number, change: Partial<Entry> = {}): Entry => ({
  id,
  user: 'anna',
  action: 'command.create',
  details: { id: String(id), type: 'ban-ip', params: { ip: '203.0.113.7' } },
  ip_address: null,
  timestamp: '2026-11-20T13:00:00.000Z',
  ...change,
})
const sizes = (rows: readonly Entry[]) => batchesOf(rows).map(({ entries }) => entries.length)

it('puts the commands of one request together', () => expect(sizes([entry(3), entry(2), entry(1)])).toEqual([3]))
it.each<[string, Partial<Entry>]>([
  ['another user', { user: 'ben' }],
  ['another moment', { timestamp: '2026-11-20T13:00:00.001Z' }],
  ['another action', { action: 'command.cancel' }],
  ['other parameters', { details: { id: '2', type: 'ban-ip', params: { ip: '203.0.113.8' } } }],
])('keeps %s apart', (_, change) => expect(sizes([entry(3), entry(2, change), entry(1)])).toEqual([1, 1, 1]))
