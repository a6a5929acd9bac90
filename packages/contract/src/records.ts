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
  Object.fromEntries(entriesOf(object)) as Defined<T>

/** The properties of these names. */
export const pick = <T extends object>(object: T, names: readonly (keyof T)[]): Partial<T> => {
  const picked: Partial<T> = {}
  for (const name of names) picked[name] = object[name]
  return picked
}

/** The value of a table under a name that a stranger chose; undefined where the table has none of its own. */
export const valueAt = <V>(table: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
/** The same keys with other values. */
export const mapValues = <K extends string, V, R>(object: Readonly<Record<K, V>>, of: (value: V) => R): Record<K, R> =>
  Object.fromEntries(Object.entries<V>(object).map(([key, value]) => [key, of(value)])) as Record<K, R>
