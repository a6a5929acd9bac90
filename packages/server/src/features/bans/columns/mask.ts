import { matchesValue } from '@stockade/contract/query/match.ts'
import type { Columns, ColumnArrays } from './rows.ts'

/* Searches by terms, as one byte for each row: 1 where the row matches. */

/** What a ban's numbers, its address or its city must be. Plain data, so that it crosses to the thread. */
export type ColumnPart =
  | {
      readonly kind: 'numbers'
      readonly column: 'server' | 'jail' | 'country' | 'asn'
      readonly numbers: readonly number[]
    }
  | { readonly kind: 'range'; readonly first: Uint8Array; readonly last: Uint8Array }
  | { readonly kind: 'city'; readonly text: string; readonly quoted: boolean }
export type ColumnTree =
  /** One of the parts must hold. */
  | { readonly kind: 'term'; readonly parts: readonly ColumnPart[] }
  | { readonly kind: 'not'; readonly item: ColumnTree }
  | { readonly kind: 'and' | 'or'; readonly items: readonly ColumnTree[] }

type Mask = Uint8Array<ArrayBuffer>

const addNumbers = (mask: Mask, a: ColumnArrays, size: number, part: ColumnPart & { kind: 'numbers' }) => {
  if (part.column === 'asn') {
    // A network that is unknown is 0, and no search asks for it.
    const numbers = new Set(part.numbers.filter(number => number > 0))
    if (numbers.size > 0) for (let row = 0; row < size; row++) if (numbers.has(a.asn[row] ?? 0)) mask[row] = 1
    return
  }
  const column = a[part.column]
  const isMatch = new Uint8Array(65_536)
  for (const number of part.numbers) isMatch[number] = 1
  // Without a branch that the processor would guess wrong.
  for (let row = 0; row < size; row++) mask[row] = (mask[row] ?? 0) | (isMatch[column[row] ?? 0] ?? 0)
}
const addRange = (mask: Mask, columns: Columns, { first, last }: ColumnPart & { kind: 'range' }) => {
  const { addresses } = columns
  const a = columns.arrays()
  const { from, to } = addresses.settledWithin(first, last)
  mask.fill(1, a.start[from] ?? 0, a.start[to] ?? 0)
  for (let row = a.settled; row < columns.size(); row++)
    if (addresses.isWithin(a.owner[row] ?? 0, first, last)) mask[row] = 1
}
const addCity = (mask: Mask, columns: Columns, part: ColumnPart & { kind: 'city' }) => {
  const { city } = columns.arrays()
  const isMatch = columns.cities().map(name => Number(name !== null && matchesValue(part, name, false)))
  if (!isMatch.includes(1)) return
  for (let row = 0; row < columns.size(); row++) mask[row] = (mask[row] ?? 0) | (isMatch[city[row] ?? 0] ?? 0)
}
const maskOfTerm = (columns: Columns, parts: readonly ColumnPart[]): Mask => {
  const mask = new Uint8Array(columns.size())
  for (const part of parts)
    if (part.kind === 'numbers') addNumbers(mask, columns.arrays(), columns.size(), part)
    else if (part.kind === 'range') addRange(mask, columns, part)
    else addCity(mask, columns, part)
  return mask
}

/** By row: 1 where it matches, also where the ban is gone. */
export const maskOf = (columns: Columns, tree: ColumnTree): Mask => {
  if (tree.kind === 'term') return maskOfTerm(columns, tree.parts)
  if (tree.kind === 'not') {
    const mask = maskOf(columns, tree.item)
    for (let row = 0; row < mask.length; row++) mask[row] = 1 - (mask[row] ?? 0)
    return mask
  }
  const isAnd = tree.kind === 'and'
  const mask = new Uint8Array(columns.size()).fill(Number(isAnd))
  for (const item of tree.items) {
    const other = maskOf(columns, item)
    for (let row = 0; row < mask.length; row++) {
      const [one, two] = [mask[row] ?? 0, other[row] ?? 0]
      mask[row] = isAnd ? one & two : one | two
    }
  }
  return mask
}
