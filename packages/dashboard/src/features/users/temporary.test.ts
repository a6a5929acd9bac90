import { expect, it } from 'vitest'
import { keepsRules } from '../set-up/rules.ts'
import { temporaryPassword } from './temporary.ts'

it.each([8, 20, 64, 128])('meets a policy of %i characters, each time anew', minimum => {
  const made = Array.from({ length: 50 }, () => temporaryPassword(minimum))
  for (const password of made) {
    expect(password).toHaveLength(Math.max(20, minimum))
    expect(keepsRules(password)).toBe(true)
    expect(password).not.toMatch(/[0O1lIo]/)
  }
  expect(new Set(made).size).toBe(50)
})
it('does not always begin alike', () =>
  expect(new Set(Array.from({ length: 60 }, () => temporaryPassword(20).charAt(0))).size).toBeGreaterThan(10))
