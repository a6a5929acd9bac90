import { ApiError, reasonOf } from '../../api/client.ts'

export const isUsername = (text: string): boolean => /^[A-Za-z0-9_]{3,50}$/.test(text)
export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254

/** The refusal of a name or an address that is taken, for the field that it is about. */
export const takenProblem = (error: unknown, field: 'username' | 'email'): string | undefined =>
  error instanceof ApiError && reasonOf(error) === `${field}-taken` ? error.message : undefined
