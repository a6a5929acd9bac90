import { bounds } from '@stockade/contract/limits.ts'

/** The rule that a password breaks, as the end of a sentence that begins with it; null when it is good. `minimum` in characters. */
export const brokenRule = (password: string, minimum: number): string | null => {
  const rules: readonly (readonly [boolean, string])[] = [
    [password.length >= minimum, `must have at least ${minimum} characters`],
    [password.length <= bounds.password.maximum, `must have at most ${bounds.password.maximum} characters`],
    [/[A-Z]/.test(password), 'must have an upper-case letter'],
    [/[a-z]/.test(password), 'must have a lower-case letter'],
    [/\d/.test(password), 'must have a digit'],
  ]
  return rules.find(([kept]) => !kept)?.[1] ?? null
}
