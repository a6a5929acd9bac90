import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { among, valuesTable } from '../../db/given.ts'
import type { Schema } from '../../db/schema.ts'
import { addHour } from './metrics-steps.ts'

type Sql = Kysely<Schema>

export interface HourRow {
  readonly server_no: number
  /** Start of the hour. */
  readonly hour: number
  readonly steps: Uint8Array
}
const chunk = 200
/** Steps as hexadecimal text. */
const givenHours = (engine: Engine, rows: readonly HourRow[]) =>
  valuesTable(
    engine,
    rows.map(row => ({ ...row, steps: Buffer.from(row.steps).toString('hex') })),
    { server_no: 'bigint', hour: 'bigint', steps: 'text' },
  )

/** Adds these hours to the stored ones. Sorted and locked, so that two processes neither lose a part nor block each other. */
export const saveHours = async (sql: Sql, engine: Engine, rows: readonly HourRow[]): Promise<void> => {
  const sorted = rows.toSorted((a, b) => a.server_no - b.server_no || a.hour - b.hour)
  for (let start = 0; start < sorted.length; start += chunk) {
    const part = sorted.slice(start, start + chunk)
    // On PostgreSQL an empty row is made first: what does not exist can't be locked.
    if (engine === 'postgres')
      await raw`insert into metrics_hours (server_no, hour, steps) select server_no, hour, ''::bytea
        from ${givenHours(engine, part)} on conflict (server_no, hour) do nothing`.execute(sql)
    const stored = sql
      .selectFrom('metrics_hours')
      .selectAll()
      .where(
        among(
          engine,
          'server_no',
          part.map(row => row.server_no),
        ),
      )
      .where(
        among(
          engine,
          'hour',
          part.map(row => row.hour),
        ),
      )
      .orderBy('server_no')
      .orderBy('hour')
    const storedSteps = new Map(
      (await (engine === 'postgres' ? stored.forUpdate() : stored).execute()).map(row => [
        `${row.server_no} ${row.hour}`,
        row.steps,
      ]),
    )
    const merged = part.map(({ server_no, hour, steps }) => {
      const sum = Uint8Array.from(steps)
      addHour(sum, storedSteps.get(`${server_no} ${hour}`) ?? new Uint8Array())
      return { server_no, hour, steps: sum }
    })
    const bytes = engine === 'sqlite' ? raw`unhex(steps)` : raw`decode(steps, 'hex')`
    await raw`insert into metrics_hours (server_no, hour, steps) select server_no, hour, ${bytes}
      from ${givenHours(engine, merged)} where 1 = 1
      on conflict (server_no, hour) do update set steps = excluded.steps`.execute(sql)
  }
}
export const findHours = (sql: Sql, serverNo: number, from: number): Promise<HourRow[]> =>
  sql.selectFrom('metrics_hours').selectAll().where('server_no', '=', serverNo).where('hour', '>=', from).execute()
export const removeHoursBefore = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('metrics_hours').where('hour', '<', before).execute()
}
export const removeHoursOf = async (sql: Sql, serverNo: number): Promise<void> => {
  await sql.deleteFrom('metrics_hours').where('server_no', '=', serverNo).execute()
}
