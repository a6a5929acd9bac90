import { sql as raw } from 'kysely'
import type { RawBuilder } from 'kysely'
import { asnOfQuery, matchesValue, rangeOfQuery } from '@stockade/contract'
import type { QueryTerm, QueryValue } from '@stockade/contract'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Engine } from '../../db/database.ts'
import { allOf, anyOf, textMatches } from '../../db/search.ts'
import type { Condition } from '../../db/search.ts'
import { within } from './bans.store.ts'

/*
 * What a term of a search asks of a ban's numbers, its address or its city. Of these parts SQL makes conditions, and the columns in memory
 * make masks, so both mean the same.
 */

export type NumberColumn = 'server' | 'jail' | 'country' | 'asn'
/** A ban matches where the part holds. */
export type SearchPart =
  | { readonly kind: 'numbers'; readonly column: NumberColumn; readonly numbers: readonly number[] }
  /** The numbers come from a statement of one column, `id`. */
  | { readonly kind: 'named'; readonly column: NumberColumn; readonly ids: RawBuilder<{ readonly id: number }> }
  | { readonly kind: 'range'; readonly range: IpRange }
  | { readonly kind: 'city'; readonly value: QueryValue }

export interface SearchNames {
  readonly engine: Engine
  /** English names of countries by their code. */
  readonly countries: readonly { readonly code: string; readonly name: string }[]
}

/** The range that a value names; null where it names none. */
export const rangeOf = ({ text }: Pick<QueryValue, 'text'>): IpRange | null => {
  const range = rangeOfQuery(text)
  return range === null ? null : parseRange(range)
}

const countriesOf = (codes: readonly string[]): SearchPart[] => [
  ...(codes.includes('ZZ') ? [{ kind: 'numbers', column: 'country', numbers: [0] } as const] : []),
  ...(codes.length > 0
    ? [
        {
          kind: 'named',
          column: 'country',
          ids: raw<{ id: number }>`select id from countries where code in (${raw.join([...codes])})`,
        } as const,
      ]
    : []),
]

/** The parts of which one must hold for the term; null where the term asks for something else. */
export const partsOf = ({ field, values }: QueryTerm, { engine, countries }: SearchNames): SearchPart[] | null => {
  const matches = textMatches(engine)
  const namedPart = (column: NumberColumn, ids: RawBuilder<{ id: number }>): SearchPart => ({
    kind: 'named',
    column,
    ids,
  })
  const jailIs = (value: QueryValue, whole: boolean) =>
    namedPart('jail', raw`select id from jails where ${matches(raw`name`, value, whole)}`)
  const serverIs = (value: QueryValue, whole: boolean) =>
    namedPart('server', raw`select no as id from servers where ${matches(raw`hostname`, value, whole)}`)
  const orgIs = (value: QueryValue) =>
    namedPart('asn', raw`select asn as id from networks where ${matches(raw`org`, value, false)}`)
  const rangeIs = (value: QueryValue): SearchPart[] => {
    const range = rangeOf(value)
    return range ? [{ kind: 'range', range }] : []
  }
  const anything = (value: QueryValue): SearchPart[] => {
    if (rangeOf(value)) return rangeIs(value)
    const codes = countries.filter(({ name }) => matchesValue(value, name, false)).map(({ code }) => code)
    return [jailIs(value, false), serverIs(value, false), orgIs(value), { kind: 'city', value }, ...countriesOf(codes)]
  }
  switch (field) {
    case 'ip':
      return values.flatMap(rangeIs)
    case 'jail':
      return values.map(value => jailIs(value, true))
    case 'server':
      return values.map(value => serverIs(value, true))
    case 'tag':
      return values.map(value =>
        namedPart('server', raw`select server_no as id from server_tags where ${matches(raw`tag`, value, true)}`),
      )
    case 'country':
      return countriesOf(values.map(({ text }) => text.toUpperCase()))
    case 'city':
      return values.map(value => ({ kind: 'city', value }))
    case 'asn':
      return [{ kind: 'numbers', column: 'asn', numbers: values.map(({ text }) => asnOfQuery(text) ?? -1) }]
    case 'org':
      return values.map(orgIs)
    case null:
      return values.flatMap(anything)
    default:
      return null
  }
}

const columnOf = { server: 'server_no', jail: 'jail_id', country: 'country_id', asn: 'asn' } as const
/** Never null: a network that is unknown matches nothing. */
const numberIs = (column: NumberColumn, condition: Condition): Condition =>
  column === 'asn' ? raw`(asn is not null and ${condition})` : condition
const conditionOfPart = (part: SearchPart, engine: Engine): Condition => {
  switch (part.kind) {
    case 'numbers':
      return anyOf(
        part.numbers.map(number => numberIs(part.column, raw`${raw.ref(columnOf[part.column])} = ${number}`)),
      )
    case 'named':
      return numberIs(part.column, raw`${raw.ref(columnOf[part.column])} in (${part.ids})`)
    case 'range':
      return allOf(within(part.range))
    case 'city':
      return textMatches(engine)(raw`city`, part.value, false)
  }
}
/** Whether one of the parts holds, as a condition on `bans`. */
export const conditionOfParts = (parts: readonly SearchPart[], engine: Engine): Condition =>
  anyOf(parts.map(part => conditionOfPart(part, engine)))
