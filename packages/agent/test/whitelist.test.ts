import { describe, expect, it } from 'vitest'
import { whitelistText, whitelistValues } from '../src/engine/own-files.ts'
import { collapse } from '../src/whitelist/addresses.ts'
import { parseList } from '../src/whitelist/list.ts'

describe('collapsing', () => {
  const shape = (entries: readonly string[]): { singles: string[]; ranges: readonly string[] } => {
    const { singles, ranges } = collapse(entries)
    return { singles: [...singles], ranges }
  }

  it.each([
    [['10.0.0.0/25', '10.0.0.128/25'], [], ['10.0.0.0/24']],
    [['10.0.0.128/25', '10.0.1.0/25'], [], ['10.0.0.128/25', '10.0.1.0/25']],
    [['10.0.0.0/8', '10.1.2.0/24', '10.9.9.9', '11.0.0.1'], ['11.0.0.1'], ['10.0.0.0/8']],
    [['192.0.2.1', '192.0.2.1', '192.0.2.0'], ['192.0.2.1', '192.0.2.0'], []],
    [['2001:db8::/33', '2001:db8:8000::/33', '2001:db8:ffff::1'], [], ['2001:db8::/32']],
    [['255.255.255.0/25', '255.255.255.128/25', '0.0.0.0/8'], [], ['0.0.0.0/8', '255.255.255.0/24']],
    [['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/23', '10.0.4.0/24'], [], ['10.0.0.0/22', '10.0.4.0/24']],
    // The same numbers in the other family are another place.
    [['0.0.0.0/8', '::5'], ['::5'], ['0.0.0.0/8']],
    [[], [], []],
  ])('%j', (entries, singles, ranges) => {
    expect(shape(entries)).toEqual({ singles, ranges })
  })

  it('gives the widest first, since the narrow ones are those left to the agent', () => {
    expect(collapse(['192.0.2.0/30', '10.0.0.0/8', '2001:db8::/64', '2001:db9::/32']).ranges).toEqual([
      '10.0.0.0/8',
      '2001:db9::/32',
      '192.0.2.0/30',
      '2001:db8::/64',
    ])
  })

  it('knows what is in it, and what has something of it', () => {
    const { touches } = collapse(['198.51.100.0/25', '203.0.113.9', '2001:db8:1::/48', '2001:db8:2::7'])
    for (const yes of ['198.51.100.0', '198.51.100.127', '203.0.113.9', '2001:db8:1:ffff::1', '2001:db8:2::7'])
      expect(touches(yes), yes).toBe(true)
    for (const yes of ['198.51.0.0/16', '198.51.100.64/26', '203.0.113.0/24', '2001:db8::/32', '2001:db8:2::/64'])
      expect(touches(yes), yes).toBe(true)
    for (const no of ['198.51.100.128', '203.0.113.8', '203.0.113.10/31', '2001:db8:2::8', '2001:db8:3::/48', '::1'])
      expect(touches(no), no).toBe(false)
  })

  it('agrees with counting address by address', () => {
    let seed = 7
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let round = 0; round < 30; round += 1) {
      const entries = Array.from({ length: 12 }, () => {
        const prefix = 24 + random(9)
        const size = 2 ** (32 - prefix)
        const last = Math.floor(random(256) / size) * size
        return prefix === 32 ? `192.0.2.${last}` : `192.0.2.${last}/${prefix}`
      })
      const inside = (last: number): boolean =>
        entries.some(entry => {
          const [address = '', prefix = '32'] = entry.split('/')
          const first = Number(address.split('.')[3])
          return last >= first && last < first + 2 ** (32 - Number(prefix))
        })
      const { singles, ranges, touches } = collapse(entries)
      const again = collapse([...ranges, ...singles])
      for (let last = 0; last < 256; last += 1) {
        expect(touches(`192.0.2.${last}`)).toBe(inside(last))
        expect(again.touches(`192.0.2.${last}`)).toBe(inside(last))
      }
    }
  })

  it('collapses 100,000 entries', () => {
    const entries = Array.from({ length: 100_000 }, (_, i) =>
      i % 4 === 0
        ? `10.${(i >> 12) & 255}.${(i >> 4) & 255}.0/24`
        : i % 4 === 1
          ? `2001:db8:${(i >> 8).toString(16)}::${(i & 255).toString(16)}`
          : `172.${16 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`,
    )
    const { singles, ranges } = collapse(entries.map(entry => entry.replace(/:0::/, '::')))
    expect(singles.size).toBe(75_000)
    expect(ranges.length).toBeLessThan(100)
  })
})

describe('the text of the list', () => {
  it('has comments and one entry a line', () => {
    expect(parseList('# Stockade whitelist\n# made now\n192.0.2.1\r\n\n2001:DB8::/32\n', 2)).toEqual([
      '192.0.2.1',
      '2001:db8::/32',
    ])
    expect(parseList('# nothing\n', 0)).toEqual([])
  })

  it.each([
    ['192.0.2.1\n', 2, /1 of 2 entries: it is refused as a whole/],
    ['', 1, /0 of 1/],
    ['<html>\n', 0, /line 1 of the whitelist is not an address/],
    ['192.0.2.1\n192.0.2.0/24 # office\n', 2, /line 2/],
    ['128.0.0.0/1\n0.0.0.0/1\n', 2, /wider than \/8/],
    ['2000::/3\n', 1, /wider than \/16/],
    ['192.0.2.1\n%(known/ignoreip)s\n', 2, /line 2/],
    ['45.0.0.0/8\n46.0.0.0/8\n47.0.0.0/8\n48.0.0.0/8\n', 4, /covers 1\.8\d % of the public addresses/],
    [
      Array.from({ length: 200 }, (_, n) => `2${n.toString(16).padStart(3, '0')}::/16\n`).join(''),
      200,
      /public addresses/,
    ],
  ])('%j with %d counted is refused', (text, count, says) => {
    expect(() => parseList(text, count)).toThrow(says)
  })
})

describe('the file for the next start', () => {
  const values = ['192.0.2.1', '2001:db8::7', '198.51.100.0/24']

  it('has sections of jails only, and names the own ignoreip only where there is one', () => {
    const text = whitelistText(values, [
      { name: 'sshd', hasOwn: true },
      { name: 'nginx-http-auth', hasOwn: false },
    ])
    expect(text).toBe(`# stockade: managed, do not edit
[DEFAULT]
stockade_whitelist = 192.0.2.1
    2001:db8::7
    198.51.100.0/24
[sshd]
ignoreip = %(known/ignoreip)s %(stockade_whitelist)s
[nginx-http-auth]
ignoreip = %(stockade_whitelist)s
`)
    expect(whitelistValues(text ?? '')).toEqual(values)
  })

  it('is not there without entries or jails', () => {
    expect(whitelistText([], [{ name: 'sshd', hasOwn: true }])).toBeNull()
    expect(whitelistText(values, [])).toBeNull()
    expect(whitelistValues('')).toEqual([])
  })
})
