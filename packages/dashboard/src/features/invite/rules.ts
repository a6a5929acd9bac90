/** What a password must have, as the service says it of an invitation. */
export interface Wanted {
  readonly min_length: number
  readonly max_length: number
  readonly upper: boolean
  readonly lower: boolean
  readonly digit: boolean
}
export type Rule = 'length' | 'lower' | 'upper' | 'digit'

/** Each rule that holds here, and whether the password keeps it. */
export const ruleStates = (
  password: string,
  wanted: Wanted,
): readonly { readonly rule: Rule; readonly met: boolean }[] => {
  const length = [...password].length
  return [
    { rule: 'length' as const, holds: true, met: length >= wanted.min_length && length <= wanted.max_length },
    { rule: 'lower' as const, holds: wanted.lower, met: /\p{Ll}/u.test(password) },
    { rule: 'upper' as const, holds: wanted.upper, met: /\p{Lu}/u.test(password) },
    { rule: 'digit' as const, holds: wanted.digit, met: /\d/.test(password) },
  ]
    .filter(({ holds }) => holds)
    .map(({ rule, met }) => ({ rule, met }))
}
