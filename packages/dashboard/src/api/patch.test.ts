import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { QueryClient } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import type { LiveMessage } from '@stockade/contract'
import { patch } from './patch.ts'
import type { Ban, Command, ServerRow } from './queries.ts'
import { pacedReads } from './read-again.ts'
import { aBan } from './testing/ban.ts'

const at = '2026-11-20T13:04:12.000Z'
const server = { id: '01934f9e-0000-7000-8000-000000000001', hostname: 'web-01' }
const serverBan = (given: Partial<Ban> = {}): Ban =>
  aBan({ server, country: null, country_name: null, banned_at: at, expires_at: '2026-11-20T13:14:12.000Z', ...given })
const aCommand = (given: Partial<Command> = {}): Command => ({
  id: '01934f9e-0000-7000-8000-00000000000a',
  type: 'unban-ip',
  server,
  params: {},
  status: 'pending',
  result: null,
  initiated_by: 'anna',
  retry_of: null,
  batch_id: null,
  cancelled: false,
  created_at: at,
  started_at: null,
  completed_at: null,
  ...given,
})
const aServer = (given: Partial<ServerRow> = {}): ServerRow => ({
  ...server,
  reported_hostname: null,
  tags: [],
  ip_address: null,
  description: '',
  status: 'online',
  protection: {
    level: 'unknown',
    since: null,
    summary: null,
    reported_level: null,
    reported_at: null,
    problem: null,
    marks: { engine: 'none', jails: 'none', logs: 'none', firewall: 'none', containers: 'none', whitelist: 'none' },
  },
  os: null,
  engine_version: null,
  agent_version: null,
  total_bans: 0,
  active_jails: 0,
  current_bans: 0,
  metrics: null,
  policy: null,
  sealed: null,
  last_heartbeat: at,
  quarantined: null,
  last_self_test: null,
  clone: null,
  created_at: at,
  updated_at: at,
  ...given,
})
const serverMessage = (given: Partial<Extract<LiveMessage, { type: 'server' }>['data']> = {}): LiveMessage => ({
  type: 'server',
  at,
  data: { ...server, status: 'offline', protection: 'unknown', last_heartbeat: at, tags: [], deleted: false, ...given },
})
const bansOf = (queries: QueryClient) => queries.getQueryData<Reply<'GET /bans'>>(['bans', {}])?.bans

describe('a ban', () => {
  it('changes where it stands in every list, and in its own page', () => {
    const queries = new QueryClient()
    queries.setQueryData(['bans', {}], { bans: [serverBan({ id: 2 }), serverBan()], total: 2, page: 1, limit: 50 })
    queries.setQueryData(['ban', 1], { ...serverBan(), reputation_score: 40 })
    patch(queries, { type: 'unban', at, data: serverBan({ active: false, unbanned_at: at }) })
    expect(bansOf(queries)?.map(({ id, active }) => [id, active])).toEqual([
      [2, true],
      [1, false],
    ])
    expect(queries.getQueryData(['ban', 1])).toMatchObject({ active: false, reputation_score: 40 })
  })
  it('that is new is not put under the pointer', () => {
    const queries = new QueryClient()
    const list = { bans: [serverBan()], total: 1, page: 1, limit: 50 }
    queries.setQueryData(['bans', {}], list)
    patch(queries, { type: 'ban', at, data: serverBan({ id: 9 }) })
    expect(queries.getQueryData(['bans', {}])).toBe(list)
  })
  it("of one of the user's own addresses makes the account be read again, and no other ban does", () => {
    const queries = new QueryClient()
    queries.setQueryData(['me'], { addresses: [{ ip: '198.51.100.4' }, { ip: '203.0.113.7' }] })
    patch(queries, { type: 'ban', at, data: serverBan({ ip: '203.0.113.8' }) })
    expect(queries.getQueryState(['me'])?.isInvalidated).toBe(false)
    patch(queries, { type: 'ban', at, data: serverBan({ ip: '203.0.113.7' }) })
    expect(queries.getQueryState(['me'])?.isInvalidated).toBe(true)
  })
})

/** What a page asks for in the last of ten minutes in which a ban is reported, or one ends, every three seconds. */
const readsInAMinute = (kind: 'ban' | 'unban'): readonly string[] => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const start = Date.now()
  const reads: string[] = []
  const readAgain = pacedReads(key => {
    if (Date.now() - start >= 9 * 60_000) reads.push(key.join(' '))
  })
  const queries = new QueryClient()
  for (let second = 0; second < 600; second += 3)
    setTimeout(() => patch(queries, { type: kind, at, data: serverBan({ id: second }) }, readAgain), second * 1000)
  vi.advanceTimersByTime(599_999)
  return reads
}
const timesOf = (reads: readonly string[], key: string) => reads.filter(read => read === key).length

describe('many bans', () => {
  it('that end make the overview ask for nothing: the message says it', () => {
    const reads = readsInAMinute('unban')
    expect(timesOf(reads, 'stats')).toBe(0)
    expect(timesOf(reads, 'attackers now')).toBe(0)
    expect(timesOf(reads, 'attackers listed')).toBe(3)
  })
  it('that are reported make it ask for two kinds of statistics twice, and three times who attacks', () => {
    const reads = readsInAMinute('ban')
    expect(timesOf(reads, 'stats')).toBe(2)
    expect(timesOf(reads, 'attackers now')).toBe(3)
  })
})

describe('a server', () => {
  it('changes where it stands', () => {
    const queries = new QueryClient()
    queries.setQueryData(['servers', { page: 1 }], { servers: [aServer()], total: 1, page: 1, limit: 100 })
    patch(queries, serverMessage())
    expect(queries.getQueryData(['servers', { page: 1 }])).toMatchObject({
      servers: [{ status: 'offline', total_bans: 0 }],
    })
    expect(queries.getQueryState(['servers', { page: 1 }])?.isInvalidated).toBe(false)
  })
  it('makes the lists be read again with its first sign of life', () => {
    const queries = new QueryClient()
    const key = ['servers', { page: 1 }]
    queries.setQueryData(key, { servers: [aServer({ status: 'pending' })], total: 1, page: 1, limit: 100 })
    patch(queries, serverMessage({ status: 'online' }))
    expect(queries.getQueryState(key)?.isInvalidated).toBe(true)
  })
  it.each([
    ['that is not known yet', { id: '01934f9e-0000-7000-8000-000000000002' }],
    ['that was deleted', { deleted: true }],
  ])('%s makes the lists be read again', (_, given) => {
    const queries = new QueryClient()
    queries.setQueryData(['servers', { page: 1 }], { servers: [aServer()], total: 1, page: 1, limit: 100 })
    patch(queries, serverMessage(given))
    expect(queries.getQueryState(['servers', { page: 1 }])?.isInvalidated).toBe(true)
  })
})

describe('a command', () => {
  it('goes on', () => {
    const queries = new QueryClient()
    patch(queries, { type: 'command', at, data: aCommand() })
    patch(queries, { type: 'command', at, data: aCommand({ status: 'running' }) })
    expect(queries.getQueryData(['command', aCommand().id])).toMatchObject({ status: 'running' })
  })
  it('never goes back when an answer and a message cross', () => {
    const queries = new QueryClient()
    queries.setQueryData(['command', aCommand().id], aCommand({ status: 'completed' }))
    patch(queries, { type: 'command', at, data: aCommand({ status: 'running' }) })
    expect(queries.getQueryData(['command', aCommand().id])).toMatchObject({ status: 'completed' })
  })
})
