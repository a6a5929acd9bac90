import { expect, test } from 'vitest'
import { packBatch, packResults, unpackBatch, unpackResults } from './packed.ts'
import type { Append, Appended } from './ban-input.ts'

const ban: Append = {
  kind: 'ban',
  serverNo: 7,
  jail: 'sshd',
  country: 'NL',
  ip: Uint8Array.of(203, 0, 113, 9),
  prefix: null,
  bannedAt: 1_795_000_000_123,
  duration: 3600,
  asn: 4_294_967_295,
  asnOrg: 'Example Hosting',
  city: 'Zürich',
  latitude: -0,
  longitude: 180,
  logLines: 'first\nsecond — ✓',
  bannedBy: 'anna',
  eventId: Uint8Array.from({ length: 16 }, (_, index) => 255 - index),
}
const bare: Append = {
  ...ban,
  country: null,
  ip: Uint8Array.from({ length: 16 }, (_, index) => index),
  prefix: 64,
  duration: null,
  asn: null,
  asnOrg: null,
  city: null,
  latitude: null,
  longitude: null,
  logLines: '',
  bannedBy: null,
}
const forever: Append = { ...ban, duration: -1, prefix: 0 }
const end: Append = {
  kind: 'end',
  serverNo: 1_000_000,
  jail: 'recidive',
  ip: Uint8Array.of(198, 51, 100, 0),
  prefix: 24,
  at: 5,
}
const everywhere: Append = { ...end, jail: null, prefix: null }

test('a batch is the same after the way to the writer', () => {
  const items = [ban, end, bare, forever, everywhere]
  const arrived = unpackBatch(structuredClone(packBatch({ items, now: 42 })))
  const plain = (item: Append) => ({ ...item, ip: [...item.ip], eventId: 'eventId' in item ? [...item.eventId] : null })
  expect(arrived.map(plain)).toEqual(items.map(plain))
  expect(packBatch({ items: [], now: 42 })).toMatchObject({ now: 42, count: 0 })
})

test('results are the same after the way back', () => {
  const results: Appended[] = [
    { id: 9_007_199_254_740_991, changed: true, bannedAt: 1_795_000_000_123, eventId: 12 },
    { id: 3, changed: false, bannedAt: 0, eventId: null },
    { id: null, changed: false, bannedAt: 8, eventId: null },
  ]
  expect(unpackResults(structuredClone(packResults(results)))).toEqual(results)
})
