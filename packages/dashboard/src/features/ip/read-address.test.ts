import { describe, expect, it } from 'vitest'
import { findAddress, kindOf, tooLarge } from './read-address.ts'

describe('what is pasted into the look-up', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 \n', '203.0.113.7'],
    ['203.0.113.7:22', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[fe80::1%eth0]:22', 'fe80::1'],
  ])('%j is one address', (pasted, ip) => expect(findAddress(pasted)).toEqual({ ip, part: false }))

  it.each([
    ['Failed password for root from 203.0.113.7 port 4242 ssh2', '203.0.113.7'],
    ['2026-11-20 13:04:12 sshd[812]: Invalid user x from 2001:db8::7 port 1', '2001:db8::7'],
    ['203.0.113.7 - - [20/Nov/2026:13:04:12 +0000] "GET / HTTP/1.1"', '203.0.113.7'],
    ['client=unknown[203.0.113.7], std::string 198.51.100.1', '203.0.113.7'],
    ['connect to [2001:db8::1]:443 refused', '2001:db8::1'],
    ['by 203.0.113.7.', '203.0.113.7'],
  ])('%j holds one', (pasted, ip) => expect(findAddress(pasted)).toEqual({ ip, part: true }))

  it.each(['', 'web-01', '203.0.113.300', '203.0.113.0/24', '13:04:12', 'std::string', '1.2.3', '1.2.3.4.5'])(
    '%j holds none',
    pasted => expect(findAddress(pasted)).toBeNull(),
  )

  it('names the part that is too large', () => {
    expect(tooLarge('203.0.113.300')).toEqual({ part: '300', place: 4 })
    expect(tooLarge('999.0.113.3')).toEqual({ part: '999', place: 1 })
    expect(tooLarge('203.0.113.7')).toBeNull()
    expect(tooLarge('web-01')).toBeNull()
  })

  it('knows special ranges', () => {
    expect(kindOf('192.168.1.1')).toBe('private')
    expect(kindOf('::1')).toBe('loopback')
    expect(kindOf('203.0.113.7')).toBe('documentation')
    expect(kindOf('8.8.8.8')).toBeNull()
  })
})
