import { networkOf, SpanCollector, spansOfNetworks, subtract } from '@stockade/contract/spans.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRange } from '../../core/ip.ts'
import { collect, idOf, packRange, textsOf, unpack } from './packed.ts'
import type { PackedEntry } from './packed.ts'

/** Addresses and ranges that lie close together, so that they touch and hold each other. */
const entry = fc
  .record({ isLong: fc.boolean(), low: fc.nat(63), prefix: fc.integer({ min: 26, max: 32 }) })
  .map(({ isLong, low, prefix }) =>
    isLong ? `2001:db8::${low.toString(16)}/${96 + prefix}` : `198.51.100.${low}/${prefix}`,
  )
const canonical = (text: string): string => parseRange(text)?.text ?? ''
const asPacked = (text: string): PackedEntry => {
  const range = parseRange(text)
  if (!range) throw new Error(text)
  return packRange(range)
}
const spansOf = (texts: readonly string[]) => spansOfNetworks(texts.map(text => networkOf(canonical(text))))

test('the texts of a feed are what was banned without what must not be in it, in order and each address once', () =>
  fc.assert(
    fc.asyncProperty(fc.uniqueArray(entry.map(canonical)), fc.array(entry), async (banned, cuts) => {
      const packed = banned.map(asPacked)
      const collector = new SpanCollector()
      for (const one of packed) collect(collector, one)
      expect(collector.spans(), 'what they hold').toEqual(spansOf(banned))
      const left = subtract(collector.spans(), spansOf(cuts)).spans
      const { ipv4, ipv6 } = await textsOf(packed, left, Infinity)
      expect(spansOf([...ipv4, ...ipv6])).toEqual(left)
      for (const texts of [ipv4, ipv6]) {
        const sizes = texts.map(text => spansOf([text]))
        const together = sizes.reduce((sum, { v4, v6 }) => sum + addressesIn(v4, v6), 0)
        expect(together, 'none overlaps another').toBe(addressesIn(...ownOf(left, texts === ipv4)))
        expect(texts, 'in order').toEqual([...texts].sort(byFirst))
      }
      const uncut = packed.map(idOf)
      expect(new Set(uncut).size).toBe(uncut.length)
      expect(await textsOf(packed, left, 3).then(few => [...few.ipv4, ...few.ipv6])).toEqual(
        [...ipv4, ...ipv6].slice(0, 3),
      )
    }),
    { numRuns: 300 },
  ))

type Numbers = readonly [Float64Array, readonly (readonly [bigint, bigint])[]]
const ownOf = ({ v4, v6 }: ReturnType<typeof spansOf>, isShort: boolean): Numbers =>
  isShort ? [v4, []] : [new Float64Array(), v6]
const addressesIn = (...[v4, v6]: Numbers): number => {
  let sum = v6.reduce((all, [first, last]) => all + Number(last - first) + 1, 0)
  for (let place = 0; place < v4.length; place += 2) sum += (v4[place + 1] ?? 0) - (v4[place] ?? 0) + 1
  return sum
}
const byFirst = (a: string, b: string): number => Buffer.compare(networkOf(a).bytes, networkOf(b).bytes)

test.each([
  ['C6336404', '198.51.100.4'],
  ['c6336404', '198.51.100.4'],
  ['FFFFFFFF', '255.255.255.255'],
  ['C6336400/24', '198.51.100.0/24'],
  ['20010DB8000000000000000000000005', '2001:db8::5'],
  ['20010db8000000000000000000000000/48', '2001:db8::/48'],
])('the database writes %s, which is %s', (text, expected) => {
  expect(idOf(unpack(text))).toEqual(idOf(asPacked(expected)))
})
