import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder, SqlBool } from 'kysely'
import type { Engine } from './database.ts'
import type { Schema } from './schema.ts'

/*
 * Many values as one parameter. With a parameter for each value every number of values would be another statement: each of them is
 * compiled, and SQLite's are kept with all that was bound to them. SQLite also takes 32,766 parameters at most.
 */

/** Whether a column has one of these values. */
export const among = (
  engine: Engine,
  column: string,
  values: readonly number[] | readonly string[],
  type: 'bigint' | 'text' = 'bigint',
): RawBuilder<SqlBool> =>
  engine === 'sqlite'
    ? raw<SqlBool>`${raw.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`
    : raw<SqlBool>`${raw.ref(column)} = any(${values}::${raw.raw(type)}[])`

type Columns<Row> = { readonly [Name in keyof Row & string]: 'bigint' | 'text' }

/** Many rows as a table named `given`. `columns` names each with its type. */
export const valuesTable = <Row extends object>(
  engine: Engine,
  rows: readonly Row[],
  columns: Columns<Row>,
): RawBuilder<unknown> => {
  const json = JSON.stringify(rows)
  const names = Object.entries<string>(columns)
  return engine === 'sqlite'
    ? raw`(select ${raw.join(names.map(([name]) => raw`value ->> ${raw.lit(name)} as ${raw.ref(name)}`))}
        from json_each(${json}) order by key) as given`
    : raw`jsonb_to_recordset(${json}::jsonb)
        as given (${raw.join(names.map(([name, type]) => raw`${raw.ref(name)} ${raw.raw(type)}`))})`
}

/** A table, and the columns of its rows that are written. */
export interface Target<Row> {
  readonly table: string
  readonly columns: Columns<Row>
}
const rowsAtOnce = 500
const insert = async <Row extends object>(
  sql: Kysely<Schema>,
  engine: Engine,
  { table, columns }: Target<Row>,
  rows: readonly Row[],
  onConflict: RawBuilder<unknown>,
): Promise<void> => {
  const names = raw.join(Object.keys(columns).map(name => raw.ref(name)))
  for (let start = 0; start < rows.length; start += rowsAtOnce)
    await raw`insert into ${raw.table(table)} (${names})
      select ${names} from ${valuesTable(engine, rows.slice(start, start + rowsAtOnce), columns)} where 1 = 1 ${onConflict}`.execute(
      sql,
    )
}
/** Inserts rows in their order. */
export const insertMany = <Row extends object>(
  sql: Kysely<Schema>,
  engine: Engine,
  target: Target<Row>,
  rows: readonly Row[],
): Promise<void> => insert(sql, engine, target, rows, raw``)

/** What becomes of a row that is there already. */
export interface Upsert<Row> extends Target<Row> {
  readonly key: readonly (keyof Row & string)[]
  /** Columns of which a row that is there keeps its values. */
  readonly kept?: readonly (keyof Row & string)[]
  /** Columns of which a row that is there gets the sum. */
  readonly added?: readonly (keyof Row & string)[]
  /** Rows that are there change only where this holds; what comes is `excluded`. */
  readonly where?: RawBuilder<unknown>
}
/** Inserts rows in their order, or changes those that are there. No two may have the same key. */
export const upsert = <Row extends object>(
  sql: Kysely<Schema>,
  engine: Engine,
  target: Upsert<Row>,
  rows: readonly Row[],
): Promise<void> => {
  const { table, columns, key, kept = [], added = [], where } = target
  const fixed = new Set<string>([...key, ...kept])
  const sums = new Set<string>(added)
  const changes = Object.keys(columns)
    .filter(name => !fixed.has(name))
    .map(name => {
      const before = sums.has(name) ? raw`${raw.ref(`${table}.${name}`)} + ` : raw``
      return raw`${raw.ref(name)} = ${before}${raw.ref(`excluded.${name}`)}`
    })
  const onConflict = raw`on conflict (${raw.join(key.map(name => raw.ref(name)))}) do update set ${raw.join(changes)}
    ${where ? raw`where ${where}` : raw``}`
  return insert(sql, engine, target, rows, onConflict)
}
