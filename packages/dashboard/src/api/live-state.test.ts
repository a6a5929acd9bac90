import { describe, expect, it } from 'vitest'
import { backOff, next, starting } from './live-state.ts'
import type { Happening } from './live-state.ts'

const after = (...happenings: Happening[]) =>
  happenings.reduce((state, what, index) => next(state, what, index + 1), starting(0))

describe('the state of the connection', () => {
  it.each<[Happening[], string]>([
    [[], 'starting'],
    [['opened'], 'catching-up'],
    [['opened', 'caught up'], 'live'],
    [['resumed'], 'live'],
    [['resumed', 'fell behind'], 'catching-up'],
    [['no answer', 'resumed'], 'live'],
    [['opened', 'caught up', 'fell behind'], 'catching-up'],
    [['opened', 'caught up', 'closed'], 'polling'],
    [['opened', 'caught up', 'closed', 'no answer'], 'offline'],
    [['opened', 'caught up', 'closed', 'no answer', 'answered'], 'polling'],
    [['opened', 'caught up', 'closed', 'no answer', 'opened'], 'catching-up'],
    [['no answer'], 'offline'],
    [['answered'], 'polling'],
    [['opened', 'caught up', 'answered'], 'live'],
    [['closed'], 'starting'],
    [['opened', 'caught up', 'no answer', 'caught up'], 'offline'],
  ])('%j: %s', (happenings, phase) => expect(after(...happenings).phase).toBe(phase))

  it('keeps since when it is so', () => {
    expect(after('opened', 'caught up', 'no answer', 'no answer', 'closed')).toMatchObject({
      phase: 'offline',
      since: 3,
    })
  })
  it('knows whether something may have been missed', () => {
    expect(after('answered').before).toBe(false)
    expect(after('opened', 'closed').before).toBe(true)
  })
})

describe('the wait before the next try', () => {
  it('doubles up to half a minute', () => {
    expect([0, 1, 2, 3, 10].map(attempt => backOff(attempt, 1))).toEqual([1000, 2000, 4000, 8000, 30_000])
  })
  it('is spread over half of that', () => expect([backOff(2, 0), backOff(2, 1)]).toEqual([2000, 4000]))
})
