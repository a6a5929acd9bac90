import { expect, test } from 'vitest'
import { parseBlocklist } from './parse.ts'

/* Each address of IPv6 takes ten times what one of IPv4 takes to read, whose bound is the same count (parse.unit.test.ts). */
test('too many addresses of IPv6 are refused', () => {
  const body = Buffer.from('2001:db8::1\n'.repeat(500_001))
  const reading = { format: 'auto', column: null, allowsWide: false } as const
  expect(() => parseBlocklist(body, reading)).toThrow(/more than 500,000 addresses/)
})
