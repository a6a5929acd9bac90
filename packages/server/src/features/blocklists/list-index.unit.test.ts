import { expect, test } from 'vitest'
import { networkOf, touches, spansOfNetworks } from '@stockade/contract/spans.ts'
import { allPlaces, entryAt, indexOf, placesOf } from './list-index.ts'

/** In order, as a version holds them. */
const entries = [
  '8.0.0.0/16',
  '8.1.0.0',
  '8.1.0.2/31',
  ...Array.from({ length: 200 }, (_, n) => `9.0.${n}.0/25`),
  '255.255.255.255',
  '2001:db8::/32',
  '2001:db9::1',
  '2001:db9::2/127',
  ...Array.from({ length: 200 }, (_, n) => `2001:dba:${(0x100 + n).toString(16)}::/48`),
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]
const index = indexOf(entries.map(networkOf))
const found = (text: string) => {
  const { from, to } = placesOf(index, networkOf(text))
  return Array.from({ length: to - from }, (_, n) => entryAt(index, from + n))
}

test('all entries are there, in their order', () => {
  const { from, to } = allPlaces(index)
  expect(Array.from({ length: to - from }, (_, n) => entryAt(index, from + n))).toEqual(entries)
})

test.each([
  ...[
    '8.0.0.0',
    '8.0.255.255',
    '8.1.0.0',
    '8.1.0.1',
    '8.1.0.3',
    '9.0.7.127',
    '9.0.7.128',
    '9.0.0.0/16',
    '0.0.0.0/0',
    '0.0.0.0',
  ],
  ...[
    '255.255.255.255',
    '255.255.255.254',
    '::',
    '::/0',
    '2001:db8:1::1',
    '2001:db9::',
    '2001:db9::3',
    '2001:db9::/64',
  ],
  ...['2001:dba:150::1', '2001:dba:1c8::', '2001:dba::/32', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
])('a look finds what a look at each entry finds: %s', text => {
  const touching = entries.filter(
    entry =>
      entry.includes(':') === text.includes(':') && touches(spansOfNetworks([networkOf(entry)]), networkOf(text)),
  )
  expect(found(text)).toEqual(touching)
})

test('an empty version holds nothing', () => {
  const empty = indexOf([])
  expect(allPlaces(empty)).toEqual({ from: 0, to: 0 })
  expect(placesOf(empty, networkOf('8.0.0.1'))).toEqual({ from: 0, to: 0 })
  expect(placesOf(empty, networkOf('2001:db8::1'))).toEqual({ from: 0, to: 0 })
})
