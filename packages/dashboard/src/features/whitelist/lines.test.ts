import { describe, expect, it } from 'vitest'
import { isWide, readLines, sizeOf } from './lines.ts'

describe('what is typed into the whitelist', () => {
  it('is one entry a line, with a description after #', () => {
    const { entries, wrong } = readLines(
      '# offices\n192.0.2.0/24 # Office # north\r\n\n 2001:db8::1\nweb-01\n192.0.2.300',
    )
    expect(entries).toEqual([
      { ip: '192.0.2.0/24', description: 'Office # north' },
      { ip: '2001:db8::1', description: '' },
    ])
    expect(wrong).toEqual([
      { line: 5, text: 'web-01' },
      { line: 6, text: '192.0.2.300' },
    ])
  })
  it.each([
    ['192.0.2.1', 1],
    ['192.0.2.0/24', 256],
    ['0.0.0.0/0', 4_294_967_296],
    ['2001:db8::/96', 4_294_967_296],
    ['2001:db8::/64', null],
  ])('%s holds %s addresses', (ip, size) => expect(sizeOf(ip)).toBe(size))
  it.each([
    ['10.0.0.0/15', true],
    ['10.0.0.0/16', false],
    ['2001::/31', true],
    ['2001:db8::/32', false],
    ['192.0.2.1', false],
  ])('%s: too wide for a slip is %s', (ip, wide) => expect(isWide(ip)).toBe(wide))
})
