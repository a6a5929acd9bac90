import { queryTerm } from '@stockade/contract/query/index.ts'
import type { QueryField, QueryLanguage } from '@stockade/contract/query/index.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { completionAt } from './completion-at.ts'
import { queryTexts } from './query.texts.ts'

/** A value that a field has somewhere, with what it stands for where that says more. */
export interface Suggested {
  readonly value: string
  readonly label?: string
}
/** The values of a field that the page knows of. */
export type ValuesOf = (field: string) => readonly Suggested[]

export interface Offer {
  /** What stands in the query when it is chosen. */
  readonly text: string
  readonly meaning: string
  /** Nothing more belongs to this word. */
  readonly whole: boolean
}
export interface Offers {
  /** What of the query is replaced. */
  readonly at: number
  readonly length: number
  readonly list: readonly Offer[]
}

/** What a field of a list means, in words. */
export const meaningOf = ({ listing }: QueryLanguage, field: string): string => {
  const meanings: Readonly<Record<string, string>> = textsOf(queryTexts).meanings[listing]
  return meanings[field] ?? ''
}

const most = 8
/** Words that a person would begin with where a field has no values of its own. */
const beginnings: Partial<Record<QueryField['kind'], readonly string[]>> = { time: ['>now-24h', '>now-7d', '>now-30d'] }

const valueText = (field: string, value: string) => queryTerm(field, value).slice(field.length + 1)
/** Those that begin with what was typed come before those that hold it. */
const fitting = (values: readonly Suggested[], typed: string): readonly Suggested[] => {
  const searchText = typed.toLowerCase()
  const begins = ({ value, label }: Suggested) =>
    value.toLowerCase().startsWith(searchText) || (label?.toLowerCase().startsWith(searchText) ?? false)
  const holds = ({ value, label }: Suggested) =>
    value.toLowerCase().includes(searchText) || (label?.toLowerCase().includes(searchText) ?? false)
  return [...values.filter(begins), ...values.filter(one => !begins(one) && holds(one))]
}

const valueOffers = (field: QueryField, typed: string, valuesOf: ValuesOf): readonly Offer[] => {
  const written = beginnings[field.kind]
  if (written) return written.filter(text => text.includes(typed)).map(text => ({ text, meaning: '', whole: true }))
  const choices = field.choices?.map(value => ({ value })) ?? valuesOf(field.name)
  return fitting(choices, typed).map(({ value, label = '' }) => ({
    text: valueText(field.name, value),
    meaning: label,
    whole: true,
  }))
}
/** For a word without a field: the fields that begin so, and the values that do. */
const fieldOffers = (language: QueryLanguage, typed: string, valuesOf: ValuesOf): readonly Offer[] => {
  const searchText = typed.toLowerCase()
  const fields = language.fields
    .filter(({ name }) => `${name}:`.startsWith(searchText))
    .map(({ name }) => ({ text: `${name}:`, meaning: meaningOf(language, name), whole: false }))
  if (searchText.length < 2) return fields
  const values = language.fields.flatMap(({ name, choices }) =>
    fitting(choices?.map(value => ({ value })) ?? valuesOf(name), searchText)
      .filter(({ value, label = '' }) => [value, label].some(text => text.toLowerCase().startsWith(searchText)))
      .slice(0, 3)
      .map(({ value, label = '' }) => ({ text: queryTerm(name, value), meaning: label, whole: true })),
  )
  return [...fields, ...values]
}

/**
 * What a person may want to write at the caret; null where that is nothing. At the beginning of a word it is every field,
 * but only when it is asked for.
 */
export const offersAt = (
  text: string,
  caret: number,
  language: QueryLanguage,
  valuesOf: ValuesOf,
  asked = false,
): Offers | null => {
  const place = completionAt(text, caret, language)
  if (!place || (place.kind === 'field' && place.typed === '' && !asked)) return null
  const { at, length, typed, field } = place
  const all = field ? valueOffers(field, typed, valuesOf) : fieldOffers(language, typed, valuesOf)
  const there = text.slice(at, at + length)
  const list = all.slice(0, asked && typed === '' ? all.length : most)
  return list.length === 0 || (list.length === 1 && list[0]?.text === there) ? null : { at, length, list }
}

/** The query with what was chosen in place, and where the caret then stands. */
export const choose = (text: string, { at, length }: Offers, offer: Offer): { text: string; caret: number } => {
  const after = text.slice(at + length)
  const space = offer.whole && !/^[\s),]/.test(after) ? ' ' : ''
  const before = text.slice(0, at) + offer.text + space
  return { text: before + after, caret: before.length }
}
