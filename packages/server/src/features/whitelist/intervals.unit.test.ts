import { lastOf } from '@stockade/contract/spans.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { bytesOf, intervalsOf, openIntervals, packEntries } from './intervals.ts'
import type { Listed } from './intervals.ts'

const range = (text: string): IpRange => {
  const parsed = parseRange(text)
  if (!parsed) throw new Error(`${text} is no range`)
  return parsed
}
const listed = (...texts: string[]): Listed[] => texts.map((text, index) => ({ id: index + 1, range: range(text) }))
const length = (given: IpRange) => given.prefix ?? given.bytes.length * 8
const around = (outer: IpRange, inner: IpRange) =>
  covers(outer, { ...inner, prefix: null }) && length(outer) <= length(inner)

test('the most specific of nested entries', () => {
  const index = intervalsOf(listed('10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '2001:db8::/32', '2001:db8::1'))
  const at = (text: string) => index.covering(range(text))?.text ?? null
  expect(at('10.1.2.3')).toBe('10.1.2.3')
  expect(at('10.1.2.4')).toBe('10.1.0.0/16')
  expect(at('10.1.0.0')).toBe('10.1.0.0/16')
  expect(at('10.2.0.0')).toBe('10.0.0.0/8')
  expect(at('10.255.255.255')).toBe('10.0.0.0/8')
  expect(at('11.0.0.0')).toBe(null)
  expect(at('9.255.255.255')).toBe(null)
  expect(at('2001:db8::1')).toBe('2001:db8::1')
  expect(at('2001:db8::')).toBe('2001:db8::/32')
  expect(at('2001:db9::')).toBe(null)
  expect(index.size).toBe(5)
})
test('entries at the ends of the address space, and entries that touch', () => {
  const index = intervalsOf(listed('255.255.255.255', '0.0.0.0', '255.255.255.254', 'ffff::/16', '128.0.0.0/1'))
  for (const text of ['255.255.255.255', '0.0.0.0', '255.255.255.254'])
    expect(index.covering(range(text))?.text).toBe(text)
  expect(index.covering(range('255.255.255.253'))?.text).toBe('128.0.0.0/1')
  expect(index.covering(range('0.0.0.1'))).toBe(null)
  expect(index.covering(range('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'))?.text).toBe('ffff::/16')
})
test('ranges: covered as a whole, or with an entry in them', () => {
  const index = intervalsOf(listed('10.1.0.0/16', '10.1.2.3', '192.0.2.9'))
  expect(index.covering(range('10.1.2.0/24'))?.text).toBe('10.1.0.0/16')
  expect(index.covering(range('10.0.0.0/8'))).toBe(null)
  expect(index.within(range('10.0.0.0/8'))?.text).toBe('10.1.0.0/16')
  expect(index.within(range('10.1.2.0/24'))?.text).toBe('10.1.2.3')
  expect(index.within(range('10.1.3.0/24'))).toBe(null)
  expect(index.within(range('192.0.2.0/24'))?.text).toBe('192.0.2.9')
})
test('what is gone counts as not there, and what is around it stands in', () => {
  const index = intervalsOf(listed('10.0.0.0/8', '10.1.2.3'))
  expect(index.covering(range('10.1.2.3'), new Set([2]))?.id).toBe(1)
  expect(index.covering(range('10.1.2.3'), new Set([1, 2]))).toBe(null)
  expect(index.within(range('10.1.0.0/16'), new Set([2]))).toBe(null)
})
test('nothing listed', () => {
  const index = intervalsOf([])
  expect(index.covering(range('192.0.2.1')) ?? index.within(range('::/16'))).toBe(null)
})

// Few bits that differ, so that ranges nest, touch and repeat all the time; the ends of the space are among them.
const few = (bytes: number) =>
  fc
    .tuple(
      fc.array(fc.constantFrom(0, 1, 127, 128, 254, 255), { minLength: bytes, maxLength: bytes }),
      fc.integer({ min: 0, max: bytes * 8 }),
    )
    .map(([parts, prefix]) => {
      const view = new DataView(Uint8Array.from(parts).buffer)
      const text =
        bytes === 4
          ? parts.join('.')
          : Array.from({ length: 8 }, (_, group) => view.getUint16(group * 2).toString(16)).join(':')
      return range(`${text}/${prefix}`)
    })
const some = fc.oneof(few(4), few(16))

test('always what a search through all of them finds', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(some, { selector: given => given.text, maxLength: 40 }),
      fc.array(some, { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 10 }),
      (ranges, asked, away) => {
        const entries = ranges.map((given, index) => ({ id: index + 1, range: given }))
        const index = intervalsOf(entries)
        const gone = new Set(away)
        const left = entries.filter(({ id }) => !gone.has(id))
        const edges = ranges.flatMap(given => [
          { ...given, prefix: null },
          { bytes: lastOf(given), prefix: null, text: '' },
        ])
        for (const wanted of [...asked, ...edges]) {
          const best = left
            .filter(entry => around(entry.range, wanted))
            .reduce<Listed | null>((a, b) => (a && length(a.range) >= length(b.range) ? a : b), null)
          expect(index.covering(wanted, gone)?.id ?? null).toBe(best?.id ?? null)
          expect(index.covering(wanted, gone)?.text ?? null).toBe(best?.range.text ?? null)
          const inside = left.filter(entry => around(wanted, entry.range)).map(({ id }) => id)
          const found = index.within(wanted, gone)
          if (found) expect(inside).toContain(found.id)
          else expect(inside).toEqual([])
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('100,000 entries fit in a few megabytes', () => {
  const entries = Array.from({ length: 100_000 }, (_, n) => ({
    id: n + 1,
    range: range(`10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`),
  }))
  const packed = packEntries(entries)
  expect(bytesOf(packed)).toBeLessThan(8_000_000)
  expect(openIntervals(packed).covering(range('10.1.134.159'))?.id).toBe(100_000)
})
