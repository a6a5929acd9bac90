import { expect, it } from 'vitest'
import { otherIdsOf } from '../src/bans/other-ids.ts'

const all = () => true
const of = (...ids: string[]) => otherIdsOf(new Map([['users', new Set(ids)]]), all).get('users')

it.each([
  ['joe', 'joe'],
  ['joe@mail.example', 'joe@mail.example'],
  ['host.example', 'host.example'],
  ['198.51.100.300', '198.51.100.300'],
  ['198.51.100.07', '198.51.100.07'],
  ['a\u0000b\u001b[31m\nc\td', 'ab[31m c d'],
  ['\u0007', '\ufffd'],
  ['', '\ufffd'],
  ['x'.repeat(10_240), `${'x'.repeat(63)}…`],
  ['😀'.repeat(200), expect.stringMatching(/^😀{31}.?…$/u)],
])('%j is told as %j', (id, text) => expect(of(id)).toEqual({ count: 1, ids: [text] }))

it.each(['198.51.100.7', '2001:db8::7', '::ffff:198.51.100.7', '198.51.100.0/24'])('%s is an address', ip =>
  expect(of(ip)).toBeUndefined(),
)

it('is bounded for each jail and for the host', () => {
  const ids = new Set(Array.from({ length: 1000 }, (_, n) => `user${n}`))
  const found = otherIdsOf(new Map(['a', 'b', 'c', 'd', 'e'].map(jail => [jail, ids])), all)
  expect([...found.values()].map(other => [other.count, other.ids.length])).toEqual([
    [1000, 50],
    [1000, 50],
    [1000, 50],
    [1000, 50],
    [1000, 0],
  ])
})
