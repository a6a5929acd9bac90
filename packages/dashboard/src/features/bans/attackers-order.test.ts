import { expect, it } from 'vitest'
import { inOrder } from './attackers-order.ts'
import { groupsOf } from './bulk-rows.ts'

const row = (ip: string, bans: number) => ({ ip, bans })

it('rows stay where they were, and say what is so now', () => {
  const known = [row('192.0.2.1', 1), row('192.0.2.2', 1), row('192.0.2.3', 1)]
  const fresh = [row('192.0.2.9', 1), row('192.0.2.3', 2), row('192.0.2.1', 1)]
  expect(inOrder(known, fresh).map(({ ip, bans }) => [ip, bans])).toEqual([
    ['192.0.2.1', 1],
    ['192.0.2.2', 1],
    ['192.0.2.3', 2],
  ])
})

it('a search names as many addresses as it has room for, each of them once', () => {
  const ips = Array.from({ length: 200 }, (_, index) => `2001:db8::${index.toString(16)}`)
  const groups = groupsOf(ips)
  expect(groups.flat()).toEqual(ips)
  expect(groups.length).toBeGreaterThan(1)
  for (const group of groups) expect(`state:active ip:${group.join(',')}`.length).toBeLessThanOrEqual(1000)
})
