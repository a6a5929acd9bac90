/*
 * What values in replies are. A shape is written as the interface writes it: the names of an object's fields, each with
 * what its value is; a list of one shape for a list of such; a string, number, boolean or null for exactly that value.
 */

/** What a value may be; `T` is what a reader of the reply gets. */
export interface Kind<T = unknown> {
  readonly words: string
  /** Where and how the value is something else, one line each; none when it fits. */
  deviations(value: unknown, at: string): string[]
  /** The field need not be there: only of what is additive. */
  readonly mayBeAbsent?: boolean
  readonly value?: T
}
export type Exact = string | number | boolean | null
export type Shape = Kind | Exact | readonly [Shape] | Fields
export interface Fields {
  readonly [field: string]: Shape
}
/** What a reply of that shape holds. */
export type Read<S> =
  S extends Kind<infer T>
    ? T
    : S extends Exact
      ? S
      : S extends readonly [infer Item]
        ? Read<Item>[]
        : { [Name in keyof S]: Read<S[Name]> }

const shown = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value).slice(0, 120))
const kind = <T>(words: string, fits: (value: unknown) => boolean): Kind<T> => ({
  words,
  deviations: (value, at) => (fits(value) ? [] : [`${at} is ${shown(value)}, not ${words}`]),
})
/** Text of that form. */
export const like = (form: RegExp, words = String(form)): Kind<string> =>
  kind(words, value => typeof value === 'string' && form.test(value))
/** One of those words. */
export const oneOf = (...words: string[]): Kind<string> =>
  kind(words.join(' or '), value => typeof value === 'string' && words.includes(value))

export const text: Kind<string> = kind('text', value => typeof value === 'string')
export const integer: Kind<number> = kind('an integer', Number.isInteger)
export const number: Kind<number> = kind('a number', Number.isFinite)
export const yesNo: Kind<boolean> = kind('true or false', value => typeof value === 'boolean')
export const anyObject: Kind<Record<string, unknown>> = kind(
  'an object',
  value => typeof value === 'object' && value !== null && !Array.isArray(value),
)
/** Numbers by name, whatever the names. */
export const counts: Kind<Record<string, number>> = kind(
  'integers by name',
  value => anyObject.deviations(value, '').length === 0 && Object.values(value as object).every(Number.isInteger),
)

// spec conventions: ids, timestamps
export const id: Kind<number> = kind('an integer from 1', value => Number.isInteger(value) && Number(value) >= 1)
export const uuid = like(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'a version 7 UUID')
export const anyUuid = like(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a UUID')
export const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'a time in UTC with milliseconds')
export const date = like(/^\d{4}-\d\d-\d\d$/, 'a date')

/** That, or null where it is unknown or does not apply (spec conventions: what is absent is null). */
export const orNull = <const S extends Shape>(shape: S): Kind<Read<S> | null> => ({
  words: `${words(shape)} or null`,
  deviations: (value, at) => (value === null ? [] : deviations(value, shape, at)),
})
/** For what is additive and comes only when it applies. */
export const maybe = <const S extends Shape>(shape: S): Kind<Read<S> | undefined> => ({
  words: `${words(shape)}, if any`,
  deviations: (value, at) => deviations(value, shape, at),
  mayBeAbsent: true,
})

const isKind = (shape: Shape): shape is Kind =>
  typeof shape === 'object' && shape !== null && 'deviations' in shape && typeof shape.deviations === 'function'
const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

const fieldDeviations = (value: unknown, fields: Fields, at: string): string[] => {
  if (anyObject.deviations(value, at).length > 0) return anyObject.deviations(value, at)
  const held = value as Record<string, unknown>
  return [
    ...Object.entries(fields).flatMap(([name, shape]) => {
      if (name in held) return deviations(held[name], shape, `${at}.${name}`)
      return typeof shape === 'object' && shape !== null && 'mayBeAbsent' in shape ? [] : [`${at}.${name} is missing`]
    }),
    ...Object.keys(held)
      .filter(name => !(name in fields))
      .map(name => `${at}.${name} is there, and no page has it`),
  ]
}
/** Where and how a value is not of the shape; objects hold exactly the fields that are listed. */
export const deviations = (value: unknown, shape: Shape, at = 'reply'): string[] => {
  if (isKind(shape)) return shape.deviations(value, at)
  if (isList(shape))
    return Array.isArray(value)
      ? value.flatMap((item, index) => deviations(item, shape[0], `${at}[${index}]`))
      : [`${at} is ${shown(value)}, not a list`]
  if (typeof shape === 'object' && shape !== null) return fieldDeviations(value, shape, at)
  return value === shape ? [] : [`${at} is ${shown(value)}, not ${shown(shape)}`]
}

/** A shape as the interface writes it: `{ id, name }`. */
export const words = (shape: Shape): string => {
  if (isKind(shape)) return shape.words
  if (isList(shape)) return `[ ${words(shape[0])} ]`
  return typeof shape === 'object' && shape !== null ? `{ ${Object.keys(shape).join(', ')} }` : shown(shape)
}

/** Fields of the interface, and by page those that go beyond it. `but` makes the same with other values. */
export interface Extended<F extends Fields> extends Kind<Read<F> & Record<string, unknown>> {
  but<const G extends Fields>(values: G): Extended<Omit<F, keyof G> & G>
}
/** What the interface lists, and by page what stands beside it. */
export const extended = <const F extends Fields>(fields: F, additive: Record<string, Fields>): Extended<F> => ({
  words: words(fields),
  deviations: (value, at) => deviations(value, Object.assign({}, ...Object.values(additive), fields) as Fields, at),
  but: <const G extends Fields>(values: G) =>
    extended({ ...fields, ...values } as unknown as Omit<F, keyof G> & G, additive),
})
