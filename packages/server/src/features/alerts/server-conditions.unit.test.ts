import { expect, test } from 'vitest'
import type { ReportedProtection } from '../../db/tables/stored.ts'
import type { Server } from '../servers/registry.ts'
import { findOnServers } from './server-conditions.ts'

type Checks = ReportedProtection['checks']

const kindsThatHold = (checks: Checks): string[] => {
  const server = {
    row: { id: 'a', no: 1, hostname: 'a-1', status: 'online', clone: null, quarantined_at: null },
    lastHeartbeat: 1,
    protection: {
      level: 'protected',
      since: 1,
      summary: '',
      checks,
      counted: { ok: 1, not_ok: 0, unknown: 0 },
      reportedAt: 1,
    },
  }
  const found = findOnServers([server as unknown as Server], -Infinity)
  return [...found].filter(([, findings]) => findings.length > 0).map(([kind]) => kind)
}
const check = (id: string, state: string) =>
  ({ id, subject: 'web', state, since: 1, detail: 'in words' }) as Checks[number]

test('what a server cannot look at raises no alert, whichever check says so', () => {
  for (const id of ['engine', 'ignore', 'enforced', 'shield', 'keep', 'published'])
    expect(kindsThatHold([check(id, 'unknown')]), id).toEqual([])
})

test('a fault behind something that cannot be looked at raises its alert', () => {
  expect(kindsThatHold([check('published', 'unknown'), check('enforced', 'bad')])).toEqual(['shield-drift'])
  expect(kindsThatHold([check('ignore', 'unknown'), check('ignore', 'bad')])).toEqual(['whitelist-drift'])
  expect(kindsThatHold([check('published', 'warning')])).toEqual(['shield-drift'])
})
