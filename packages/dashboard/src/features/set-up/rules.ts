/** What a password has to have; the shortest length can be changed in the settings later. */
export const passwordRules = {
  length: (password: string) => [...password].length >= 8,
  lower: (password: string) => /\p{Ll}/u.test(password),
  upper: (password: string) => /\p{Lu}/u.test(password),
  digit: (password: string) => /\d/.test(password),
} as const satisfies Record<string, (password: string) => boolean>

export const keepsRules = (password: string): boolean => Object.values(passwordRules).every(rule => rule(password))
