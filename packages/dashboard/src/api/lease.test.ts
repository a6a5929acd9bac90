import { describe, expect, it } from 'vitest'
import { readLease, turnOf } from './lease.ts'

describe('the lease of the leading tab', () => {
  const lease = { tab: 'a', at: 10_000 }
  it.each([
    [lease, 'a', 10_500, true, 'renew'],
    [lease, 'a', 60_000, false, 'renew'],
    [lease, 'b', 13_000, true, 'follow'],
    [lease, 'b', 14_000, true, 'claim'],
    [lease, 'b', 14_000, false, 'follow'],
    [lease, 'b', 1000, true, 'claim'],
    [null, 'b', 0, true, 'claim'],
    [null, 'b', 0, false, 'follow'],
  ] as const)('%j, seen by %s at %i, visible %s: %s', (kept, tab, now, visible, turn) => {
    expect(turnOf(kept, tab, now, visible)).toBe(turn)
  })
  it.each([null, '', '{', '[]', '{"tab":1,"at":2}', '{"tab":"a"}'])('reads %j as none', kept => {
    expect(readLease(kept)).toBe(null)
  })
  it('reads what was written', () => expect(readLease(JSON.stringify(lease))).toEqual(lease))
})
