import { expect, test } from 'vitest'
import { growthOf, isWider, publicShareOf, reachOf, widest } from './reach.ts'
import { SpanCollector, networkOf, openSpans, packSpans, spansOfNetworks, subtract, touches } from './spans.ts'

const spansOf = (...texts: string[]) => spansOfNetworks(texts.map(networkOf))

test('addresses that several entries name count once', () => {
  expect(reachOf(spansOf('203.0.113.0/24', '203.0.113.7', '203.0.113.128/25', '198.51.100.1'))).toEqual({
    ipv4: 257,
    ipv6: 0,
    widest: { ipv4: 24, ipv6: null },
  })
})

test('neighbours are one wide network, and what is not aligned is none', () => {
  expect(reachOf(spansOf('8.0.0.0/9', '8.128.0.0/9')).widest.ipv4).toBe(8)
  const collector = new SpanCollector()
  collector.add(networkOf('8.0.0.1'), networkOf('8.0.0.254'))
  expect(reachOf(collector.spans())).toMatchObject({ ipv4: 254, widest: { ipv4: 26 } })
})

test('IPv6 is counted in networks of /64, parts included', () => {
  expect(reachOf(spansOf('2001:db8::1', '2001:db8:0:1::/64', '2001:db8:1::/48'))).toEqual({
    ipv4: 0,
    ipv6: 65_538,
    widest: { ipv4: null, ipv6: 48 },
  })
})

test('the whole Internet is the whole share, and private networks are none of it', () => {
  expect(publicShareOf(spansOf('0.0.0.0/0', '::/0'))).toEqual({ ipv4: 1, ipv6: 1 })
  expect(publicShareOf(spansOf('10.0.0.0/8', '203.0.113.0/24', 'fc00::/7'))).toEqual({ ipv4: 0, ipv6: 0 })
  expect(publicShareOf(spansOf('2000::/4', '2001:db8::/32', '3fff::/20')).ipv6).toBeCloseTo(0.5, 4)
})

test('a network is too wide by its prefix, and an address never is', () => {
  expect(isWider(networkOf('198.51.0.0/16'), widest.banned)).toBe(false)
  expect(isWider(networkOf('198.50.0.0/15'), widest.banned)).toBe(true)
  expect(isWider(networkOf('2001:db8::/31'), widest.banned)).toBe(true)
  expect(isWider(networkOf('2001:db8::1'), widest.banned)).toBe(false)
})

test('looks among many spans of IPv6 find the right one', () => {
  const spans = spansOf(...Array.from({ length: 1000 }, (_, place) => `2001:db8:${(place * 2).toString(16)}::/48`))
  expect(touches(spans, networkOf('2001:db8:7ce::1'))).toBe(true)
  expect(touches(spans, networkOf('2001:db8:7cf::1'))).toBe(false)
  expect(touches(spans, networkOf('2001:db8:7cf::/47'))).toBe(false)
  expect(touches(spans, networkOf('2001:db8:7ce::/47'))).toBe(true)
  expect(reachOf(subtract(spans, spansOf('2001:db8::/33')).spans).ipv6).toBe(0)
})

test('a growth is the share of what is new, by family, and a small one is none', () => {
  const singles = Array.from({ length: 1000 }, (_, n) => `9.${n >> 8}.${n & 255}.1`)
  const before = spansOf(...singles)
  expect(growthOf(before, spansOf(...singles, '8.0.0.0/8')).ipv4).toBeGreaterThan(0.99)
  expect(growthOf(before, spansOf('9.0.0.1'))).toEqual({ ipv4: 0, ipv6: 0 })
  expect(growthOf(before, spansOf('198.51.96.0/20'))).toEqual({ ipv4: 0, ipv6: 0 })
  expect(growthOf(spansOf('2001:db8::/32'), spansOf('2001:db8::/31')).ipv6).toBe(0.5)
  expect(growthOf(before, spansOf()).ipv4).toBe(0)
})

test('spans are the same after they were packed', () => {
  const spans = spansOf('203.0.113.0/24', '255.255.255.255', '2001:db8::/32', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff')
  expect(openSpans(packSpans(spans))).toEqual(spans)
  expect(openSpans(packSpans(spansOf()))).toEqual(spansOf())
})

test.each(['203.0.113.1', '2001:db8::1'])(
  'a collector takes 2^20 ranges of a family and drops what comes after: %s',
  text => {
    const collector = new SpanCollector()
    const network = networkOf(text)
    for (let n = 0; n <= 2 ** 20; n++) collector.add(network)
    expect(collector.size).toBe(2 ** 20)
  },
)
