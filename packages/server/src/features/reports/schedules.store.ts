import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { ReportSchedulesTable } from '../../db/tables/messages.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type ScheduleRow = Selectable<ReportSchedulesTable>

const numbers = (row: ScheduleRow): ScheduleRow => ({
  ...row,
  id: Number(row.id),
  last_at: row.last_at === null ? null : Number(row.last_at),
})
export const allSchedules = async (sql: Sql): Promise<ScheduleRow[]> =>
  (await sql.selectFrom('report_schedules').selectAll().orderBy('name').execute()).map(numbers)
export const findSchedule = async (sql: Sql, id: number): Promise<ScheduleRow | undefined> => {
  const row = await sql.selectFrom('report_schedules').selectAll().where('id', '=', id).executeTakeFirst()
  return row && numbers(row)
}
export const idOfScheduleName = async (sql: Sql, name: string): Promise<number | null> => {
  const row = await sql.selectFrom('report_schedules').select('id').where('name', '=', name).executeTakeFirst()
  return row ? Number(row.id) : null
}
export const insertSchedule = async (sql: Sql, row: Insertable<ReportSchedulesTable>): Promise<ScheduleRow> =>
  numbers(await sql.insertInto('report_schedules').values(row).returningAll().executeTakeFirstOrThrow())
export const updateSchedule = async (sql: Sql, id: number, set: Updateable<ReportSchedulesTable>): Promise<void> => {
  await sql.updateTable('report_schedules').set(set).where('id', '=', id).execute()
}
/** True for the process that wrote the date first. */
export const claimDue = async (sql: Sql, { id, last_due }: ScheduleRow, due: string): Promise<boolean> => {
  const row = await sql
    .updateTable('report_schedules')
    .set({ last_due: due })
    .where('id', '=', id)
    .where('last_due', '=', last_due)
    .where('enabled', '=', 1)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
export const deleteSchedule = async (sql: Sql, id: number): Promise<void> => {
  await sql.deleteFrom('report_schedules').where('id', '=', id).execute()
}
/** The daily summary of chat and e-mail. */
export const findSummary = async (sql: Sql): Promise<ScheduleRow | undefined> => {
  const row = await sql.selectFrom('report_schedules').selectAll().where('builtin', '=', 1).executeTakeFirst()
  return row && numbers(row)
}
