import { expect, it } from 'vitest'
import { stateOf } from './ban-state.ts'

const ban = {
  active: false,
  banned_at: '2026-11-20T13:00:00.000Z',
  ban_duration: 600,
  expires_at: '2026-11-20T13:10:00.000Z',
  unbanned_at: null,
} as const

it.each([
  [{ active: true }, 'banned'],
  [{}, 'expired'],
  [{ unbanned_at: '2026-11-20T13:10:02.000Z' }, 'expired'],
  [{ unbanned_at: '2026-11-20T13:09:58.000Z' }, 'expired'],
  [{ unbanned_at: '2026-11-20T13:05:00.000Z' }, 'unbanned'],
  [{ expires_at: null, ban_duration: -1, unbanned_at: '2026-11-20T13:05:00.000Z' }, 'unbanned'],
])('%j: %s', (given, state) => expect(stateOf({ ...ban, ...given })).toBe(state))
