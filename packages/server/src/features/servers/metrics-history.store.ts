import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
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

/** Adds these hours to the stored ones. Sorted and locked, so that two processes neither lose a part nor block each other. */
export const saveHours = async (sql: Sql, engine: Engine, rows: readonly HourRow[]): Promise<void> => {
  const sorted = rows.toSorted((a, b) => a.server_no - b.server_no || a.hour - b.hour)
  for (let start = 0; start < sorted.length; start += chunk) {
    const part = sorted.slice(start, start + chunk)
    // On PostgreSQL an empty row is made first: what does not exist can't be locked.
    if (engine === 'postgres')
      await sql
        .insertInto('metrics_hours')
        .values(part.map(({ server_no, hour }) => ({ server_no, hour, steps: new Uint8Array() })))
        .onConflict(on => on.columns(['server_no', 'hour']).doNothing())
        .execute()
    const stored = sql
      .selectFrom('metrics_hours')
      .selectAll()
      .where('server_no', 'in', [...new Set(part.map(({ server_no }) => server_no))])
      .where('hour', 'in', [...new Set(part.map(({ hour }) => hour))])
      .orderBy('server_no')
      .orderBy('hour')
    const known = new Map(
      (await (engine === 'postgres' ? stored.forUpdate() : stored).execute()).map(row => [
        `${row.server_no} ${row.hour}`,
        row.steps,
      ]),
    )
    await sql
      .insertInto('metrics_hours')
      .values(
        part.map(({ server_no, hour, steps }) => {
          const merged = Uint8Array.from(steps)
          addHour(merged, known.get(`${server_no} ${hour}`) ?? new Uint8Array())
          return { server_no, hour, steps: merged }
        }),
      )
      .onConflict(on => on.columns(['server_no', 'hour']).doUpdateSet(({ ref }) => ({ steps: ref('excluded.steps') })))
      .execute()
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
