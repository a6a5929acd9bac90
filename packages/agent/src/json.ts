import { recordOf } from '@stockade/contract/untrusted.ts'

/** Reading values of unknown shape (a server's answer, a file of an older version) without trusting them. */

export type Fields = Readonly<Record<string, unknown>>

export const asFields: (value: unknown) => Fields = recordOf

/** Unlike `Array.isArray`, it keeps the type of the items of a union's read-only list. */
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
export const asList = (value: unknown): readonly unknown[] => (isList(value) ? value : [])

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

export const asInteger = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : otherwise
