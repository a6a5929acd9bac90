/** Reading values of unknown shape (a server's answer, a file of an older version) without trusting them. */

export type Fields = Readonly<Record<string, unknown>>

export const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []

export const asText = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise)

export const asInteger = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : otherwise
