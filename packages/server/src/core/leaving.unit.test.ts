import { expect, test } from 'vitest'
import type { UserActor } from './actor.ts'
import { admit, creatorOf } from './leaving.ts'

const user: UserActor = {
  kind: 'user',
  userId: 7,
  sessionId: 's',
  role: 'Operator',
  name: 'anna',
  ip: '192.0.2.1',
  permission: 'write',
  servers: new Set([1]),
  accessTags: new Set(),
  mfaMissing: false,
  mustProve: null,
}
const leaves = { what: 'blocklists', most: 50 }

test.each([
  ['the last place', { all: 49, own: 4 }, 1, user, null],
  ['one beyond all', { all: 50, own: 0 }, 1, undefined, /There are 50 blocklists, and there may be at most 50/],
  ['some beyond all', { all: 48 }, 3, undefined, /at most 50/],
  ['one beyond the share', { all: 5, own: 5 }, 1, user, /You have made 5 blocklists that stand: .* at most 5/],
  ['the same by somebody with access to all', { all: 5, own: 5 }, 1, { ...user, servers: 'all' as const }, null],
] as const)('%s', (_, standing, added, actor, refusal) => {
  const ask = () => admit(leaves, standing, actor, added)
  if (refusal === null) expect(ask).not.toThrow()
  else expect(ask).toThrow(refusal)
})

test('a key of a user counts as the user, and a key of nobody as itself', () => {
  const key = { ...user, kind: 'key', keyId: 3, serverNo: null, isBound: true, isOfHost: false, scopes: null } as const
  expect(creatorOf(user)).toBe('user:7')
  expect(creatorOf(key)).toBe('user:7')
  expect(creatorOf({ ...key, userId: null })).toBe('key:3')
})
