import { expect, test } from 'vitest'
import { widest } from '@stockade/contract/reach.ts'
import { SpanCollector } from '@stockade/contract/spans.ts'
import { entriesOf } from './entries.ts'
import { parseIp } from './ip.ts'

const spansFrom = (...ranges: readonly (readonly [string, string])[]) => {
  const collector = new SpanCollector()
  for (const [first, last] of ranges) {
    const [from, to] = [parseIp(first), parseIp(last)]
    if (from && to) collector.add(from, to)
  }
  return collector.spans()
}

test.each([
  ['IPv4', '8.0.0.1', '247.255.255.254'],
  ['IPv6', '::2', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe'],
])('of few spans that hide many entries of %s no more are made than may be', (_, first, last) => {
  expect([...entriesOf(spansFrom([first, last]), { most: 25 })]).toHaveLength(25)
  expect([...entriesOf(spansFrom([first, last]), { most: 0 })]).toEqual([])
})

test('no entry is wider than it may be', () => {
  const spans = spansFrom(['8.0.0.0', '8.2.255.255'], ['2001:db8::', '2001:db9:ffff:ffff:ffff:ffff:ffff:ffff'])
  expect([...entriesOf(spans)]).toEqual(['8.0.0.0/15', '8.2.0.0/16', '2001:db8::/31'])
  expect([...entriesOf(spans, { widest: widest.banned })]).toEqual([
    '8.0.0.0/16',
    '8.1.0.0/16',
    '8.2.0.0/16',
    '2001:db8::/32',
    '2001:db9::/32',
  ])
})

test('the whole of both families becomes the widest entries that there are', () => {
  const entries = [
    ...entriesOf(spansFrom(['0.0.0.0', '255.255.255.255'], ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']), {
      most: 300,
    }),
  ]
  expect(entries.slice(0, 2)).toEqual(['0.0.0.0/8', '1.0.0.0/8'])
  expect(entries.slice(255, 258)).toEqual(['255.0.0.0/8', '::/19', '0:2000::/19'])
})
