/*
 * `Object.keys` and `Object.entries` with the type of the keys. Only for objects that have no further keys, such as tables of our own; what a
 * stranger sent may have more.
 */

export const keysOf = <T extends object>(object: T): (keyof T & string)[] => Object.keys(object) as (keyof T & string)[]

type Entry<T> = { [K in keyof T & string]-?: [name: K, value: Exclude<T[K], undefined>] }[keyof T & string]
/** Without the properties that are undefined. */
export const entriesOf = <T extends object>(object: T): Entry<T>[] =>
  Object.entries(object).filter(([, value]) => value !== undefined) as Entry<T>[]

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }
/** The same object without the properties that are undefined. */
export const withoutUndefined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>

/** What a stranger sent, field by field: any object but a list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** The fields of such a value; none of any other value. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})
