import { describe, expect, it } from 'vitest'
import type { Server } from '../../api/queries.ts'
import { progressOf, stallOf } from './progress.ts'

const at = '2026-11-20T13:00:00.000Z'
const start = Date.parse(at)
const fresh = {
  token_expires_at: '2026-11-21T13:00:00.000Z',
  token_used_at: null,
  token_used_from: null,
  script_fetched_at: null,
  first_heartbeat_at: null,
  first_ban_at: null,
}
const sshd = [{ name: 'sshd', enabled: true, current_bans: 0 }]
const aServer = (
  install: Partial<Record<keyof typeof fresh, string | null>> = {},
  jails = [] as typeof sshd,
  level: Server['protection']['level'] = 'unknown',
) => ({
  install: { ...fresh, ...install },
  jails,
  protection: { level } as Server['protection'],
  engine_version: '1.0.2' as string | null,
})

describe('the way of a new server', () => {
  it.each([
    [aServer(), 'waiting next next next next'],
    [aServer({ script_fetched_at: at }), 'waiting next next next next'],
    [aServer({ token_used_at: at }), 'done waiting next next next'],
    [aServer({ token_used_at: at, first_heartbeat_at: at }), 'done done waiting next next'],
    [aServer({ token_used_at: at, first_heartbeat_at: at }, sshd), 'done done done waiting waiting'],
    [aServer({ token_used_at: at, first_heartbeat_at: at, first_ban_at: at }, sshd), 'done done done waiting done'],
    [aServer({ first_heartbeat_at: at }, sshd), 'done done done waiting waiting'],
    [aServer({ token_used_at: at, first_heartbeat_at: at }, sshd, 'degraded'), 'done done done done waiting'],
    [aServer({ first_heartbeat_at: at, first_ban_at: at }), 'done done waiting next done'],
  ])('%#: %s', (server, states) => expect(Object.values(progressOf(server)).join(' ')).toBe(states))
})

describe('what holds it up', () => {
  it.each([
    [aServer(), 59, null],
    [aServer(), 60, 'no call'],
    [aServer({ token_used_at: at }), 29, null],
    [aServer({ token_used_at: at }), 30, 'no heartbeat'],
    [{ ...aServer({ first_heartbeat_at: at }), engine_version: null }, 1, 'no engine'],
    [aServer({ first_heartbeat_at: at }), 5, null],
    [aServer({ first_heartbeat_at: at }), 10, 'no jails'],
    [aServer({ first_heartbeat_at: at }, sshd), 600, null],
  ])('%#: after %d s', (server, seconds, stall) => expect(stallOf(server, start, start + seconds * 1000)).toBe(stall))
})
