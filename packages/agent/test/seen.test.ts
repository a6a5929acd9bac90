import { expect, it } from 'vitest'
import { createSeen } from '../src/bans/seen.ts'

const keyOf = (index: number) =>
  [`jail-${index % 7}`, `2001:db8::${index.toString(16)}`, 1_700_000_000 + index] as const

it('knows 100,000 bans and no others, also after a part was forgotten', () => {
  const seen = createSeen()
  const count = 100_000
  for (let index = 0; index < count; index += 1) seen.add(keyOf(index))
  seen.add(keyOf(5))
  expect(seen.size()).toBe(count)
  let misses = 0
  for (let index = 0; index < count; index += 1) if (!seen.has(keyOf(index))) misses += 1
  for (let index = count; index < 2 * count; index += 1) if (seen.has(keyOf(index))) misses += 1
  expect(misses).toBe(0)
  seen.forget(1_700_000_000 + count / 2)
  expect(seen.size()).toBe(count / 2)
  expect([seen.has(keyOf(count / 2 - 1)), seen.has(keyOf(count / 2)), seen.has(keyOf(count - 1))]).toEqual([
    false,
    true,
    true,
  ])
})
