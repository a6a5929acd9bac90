import { describe, expect, it } from 'vitest'
import { countHealths, groupsOf, healthOf, needingAttention, roleOf, worstHealth } from './health.ts'
import type { SummaryRow } from './health.ts'

const server = (hostname: string, status: SummaryRow['status'], protection: SummaryRow['protection']): SummaryRow => ({
  id: hostname,
  hostname,
  tags: [],
  status,
  protection,
  since: null,
  problem: null,
})
const fleet = [
  server('web-02', 'online', 'degraded'),
  server('web-01', 'online', 'protected'),
  server('db-1.example.com', 'offline', 'unknown'),
  server('new', 'pending', 'unknown'),
  server('app_3', 'online', 'unprotected'),
]

describe('the health of a fleet', () => {
  it('is the level of protection only while a server is online', () => {
    expect(fleet.map(healthOf)).toEqual(['degraded', 'protected', 'offline', 'pending', 'unprotected'])
    expect(countHealths(fleet)).toMatchObject({ protected: 1, offline: 1, pending: 1, unknown: 0 })
  })
  it('names the most urgent servers first', () =>
    expect(needingAttention(fleet).map(({ hostname }) => hostname)).toEqual(['app_3', 'web-02', 'db-1.example.com']))
  it.each([
    ['web-01', 'web'],
    ['web-01.example.com', 'web'],
    ['db1', 'db'],
    ['mail', 'mail'],
    ['42', '42'],
  ])('takes the role from the name: %s', (name, role) => expect(roleOf(name)).toBe(role))
  it('groups by role, the largest first', () => {
    expect(groupsOf(fleet).map(({ name, servers }) => [name, servers.length])).toEqual([
      ['web', 2],
      ['app', 1],
      ['db', 1],
      ['new', 1],
    ])
    expect(worstHealth(fleet)).toBe('unprotected')
    expect(worstHealth([])).toBe('protected')
  })
})
