import { sql as raw } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { Engine } from './database.ts'

/**
 * Many rows as a table named `given`, from one text: thousands of parameters cost more than the rows. `columns` names each
 * with its type.
 */
export const given = <Row extends object>(
  engine: Engine,
  rows: readonly Row[],
  columns: { readonly [Name in keyof Row & string]: 'bigint' | 'text' },
): RawBuilder<unknown> => {
  const json = JSON.stringify(rows)
  const names = Object.entries<string>(columns)
  return engine === 'sqlite'
    ? raw`(select ${raw.join(names.map(([name]) => raw`value ->> ${raw.lit(name)} as ${raw.ref(name)}`))}
        from json_each(${json}) order by key) as given`
    : raw`jsonb_to_recordset(${json}::jsonb)
        as given (${raw.join(names.map(([name, type]) => raw`${raw.ref(name)} ${raw.raw(type)}`))})`
}
