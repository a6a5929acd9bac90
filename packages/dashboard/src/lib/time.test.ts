import { describe, expect, it } from 'vitest'
import { ago, daysBetween, duration, ending, exactTime, shortDay, withLocalTimes } from './time.ts'

const at = Date.parse('2026-11-20T13:04:12.000Z')
const after = (seconds: number) => at + seconds * 1000

describe('ago', () => {
  it.each([
    [0, 'just now'],
    [-30, 'just now'],
    [12, '12 s ago'],
    [59.9, '59 s ago'],
    [60, '1 min ago'],
    [3599, '59 min ago'],
    [3600, '1 h ago'],
    [86_399, '23 h ago'],
    [86_400, '20 Nov 14:04'],
    [400 * 86_400, '20 Nov 2026 14:04'],
  ])('%d s later: %s', (seconds, said) => {
    expect(ago(at, after(seconds), 'Europe/Berlin').replaceAll('\u202f', ' ')).toBe(said)
  })
})

describe('a short day', () => {
  it.each([
    [0, '14:04'],
    [9 * 3600, '14:04'],
    [10 * 3600, '20 Nov'],
    [400 * 86_400, '20 Nov 2026'],
  ])('%d s later: %s', (seconds, said) => expect(shortDay(at, after(seconds), 'Europe/Berlin')).toBe(said))
})

describe('days of a calendar', () => {
  it.each([
    ['2026-11-22', '2026-11-22', '22 Nov 2026'],
    ['2026-11-16', '2026-11-22', '16–22 Nov 2026'],
    ['2026-11-30', '2026-12-06', '30 Nov–6 Dec 2026'],
  ])('%s to %s', (first, last, said) => expect(daysBetween(first, last).replace(/\s?–\s?/, '–')).toBe(said))
})

describe('a text of the service', () => {
  it.each([
    ['Last seen 2026-11-20T13:04:12.000Z. Bans stay.', 'Last seen 14:04. Bans stay.'],
    ['From 2026-11-20T13:04:12Z to 2026-11-21T10:00:00Z', 'From 14:04 to tomorrow 11:00'],
    ['Not 2026-99-99T13:04:12Z, and not 2026-11-20', 'Not 2026-99-99T13:04:12Z, and not 2026-11-20'],
  ])('%s', (text, said) => expect(withLocalTimes(text, at, 'Europe/Berlin')).toBe(said))
})

describe('exact time', () => {
  it('names the zone, and UTC beside it', () => {
    expect(exactTime(at, 'Europe/Berlin')).toBe('2026-11-20 14:04:12 Europe/Berlin · 13:04:12 UTC')
    expect(exactTime(at, 'UTC')).toBe('2026-11-20 13:04:12 UTC')
  })
  it('gives both dates where they differ', () => {
    expect(exactTime(at, 'Pacific/Auckland')).toBe('2026-11-21 02:04:12 Pacific/Auckland · 2026-11-20 13:04:12 UTC')
  })
})

describe('duration', () => {
  it.each([
    [-1, 'Permanent'],
    [0, '0 s'],
    [59, '59 s'],
    [600, '10 min'],
    [5400, '1 h 30 min'],
    [86_400, '1 d'],
    [31_536_000, '365 d'],
  ])('%d: %s', (seconds, said) => expect(duration(seconds)).toBe(said))
})

describe('ending', () => {
  const ban = {
    active: true,
    banned_at: '2026-11-20T13:04:12.000Z',
    ban_duration: 3600,
    expires_at: '2026-11-20T14:04:12.000Z',
    unbanned_at: null,
  }
  it.each([
    [60, '59 min left'],
    [3590, '10 s left'],
    [3600, 'Ending now'],
    [9999, 'Ending now'],
  ])('an active ban after %d s: %s', (seconds, said) => expect(ending(ban, after(seconds), 'UTC')).toBe(said))
  it('is never negative, and says how it ended', () => {
    expect(ending({ ...ban, active: false, unbanned_at: '2026-11-20T13:10:00.000Z' }, after(900), 'UTC')).toBe(
      'Ended 13:10',
    )
    expect(ending({ ...ban, ban_duration: -1, expires_at: null }, after(900), 'UTC')).toBe('Permanent')
    expect(ending({ ...ban, ban_duration: null, expires_at: null }, after(900), 'UTC')).toBe('Unknown')
    expect(ending({ ...ban, active: false, expires_at: null }, after(900), 'UTC')).toBe('Ended')
  })
})
