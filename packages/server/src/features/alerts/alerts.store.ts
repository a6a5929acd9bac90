import type { Insertable, Kysely, Selectable } from 'kysely'
import type { AlertRulesTable, AlertSilencesTable, AlertStatesTable } from '../../db/tables/messages.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type StateRow = Selectable<AlertStatesTable>
export type RuleRow = Selectable<AlertRulesTable>
export type SilenceRow = Selectable<AlertSilencesTable>
type State = Omit<StateRow, 'id'>

const numbers = (row: StateRow): StateRow => ({ ...row, id: Number(row.id) })
/** Alerts that are not over, and those that ended after a time. */
export const recentStates = async (sql: Sql, endedAfter: number): Promise<StateRow[]> =>
  (
    await sql
      .selectFrom('alert_states')
      .selectAll()
      .where(({ or, eb }) => or([eb('state', '!=', 'resolved'), eb('resolved_at', '>', endedAfter)]))
      .execute()
  ).map(numbers)
export const findState = async (sql: Sql, id: number): Promise<StateRow | undefined> => {
  const row = await sql.selectFrom('alert_states').selectAll().where('id', '=', id).executeTakeFirst()
  return row && numbers(row)
}

/** What the evaluation writes; acknowledgements are written by people, meanwhile. */
const evaluated = [
  'server_no',
  'severity',
  'state',
  'title',
  'detail',
  'since',
  'absent_since',
  'fired_at',
  'resolved_at',
  'onsets',
  'flapping',
  'told_at',
  'told_key',
  'told_channels',
  'recovered_on',
] as const satisfies readonly (keyof State)[]
const acked = ['acked_by', 'acked_at', 'ack_note'] as const

/** @param areNew alerts that begin: nobody acknowledged them yet */
export const saveStates = async (sql: Sql, rows: readonly State[], areNew: boolean): Promise<void> => {
  const columns = areNew ? [...evaluated, ...acked] : evaluated
  for (let start = 0; start < rows.length; start += 100)
    await sql
      .insertInto('alert_states')
      .values(rows.slice(start, start + 100))
      .onConflict(on =>
        on
          .columns(['rule', 'subject'])
          .doUpdateSet(eb => Object.fromEntries(columns.map(column => [column, eb.ref(`excluded.${column}`)]))),
      )
      .execute()
}
export const deleteStates = async (sql: Sql, ids: readonly number[]): Promise<void> => {
  for (let start = 0; start < ids.length; start += 500)
    await sql
      .deleteFrom('alert_states')
      .where('id', 'in', ids.slice(start, start + 500))
      .execute()
}
export const deleteStatesOf = async (sql: Sql, rule: string): Promise<void> => {
  await sql.deleteFrom('alert_states').where('rule', '=', rule).execute()
}
/** Undefined where it is over. */
export const ackState = async (
  sql: Sql,
  id: number,
  set: Pick<State, 'acked_by' | 'acked_at' | 'ack_note'>,
): Promise<StateRow | undefined> => {
  const row = await sql
    .updateTable('alert_states')
    .set(set)
    .where('id', '=', id)
    .where('state', 'in', ['pending', 'firing'])
    .returningAll()
    .executeTakeFirst()
  return row && numbers(row)
}
export const forgetResolved = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('alert_states').where('state', '=', 'resolved').where('resolved_at', '<', before).execute()
}

export const allRules = (sql: Sql): Promise<RuleRow[]> =>
  sql.selectFrom('alert_rules').selectAll().orderBy('id').execute()
export const insertRule = (sql: Sql, row: Insertable<AlertRulesTable>): Promise<RuleRow> =>
  sql
    .insertInto('alert_rules')
    .values(row)
    // A built-in rule that somebody else changed first.
    .onConflict(on =>
      on.column('builtin').doUpdateSet(eb => ({
        severity: eb.ref('excluded.severity'),
        target: eb.ref('excluded.target'),
        for_seconds: eb.ref('excluded.for_seconds'),
        enabled: eb.ref('excluded.enabled'),
        recovery: eb.ref('excluded.recovery'),
        quiet_hours: eb.ref('excluded.quiet_hours'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
export const saveRule = (sql: Sql, id: number, set: Partial<Omit<RuleRow, 'id'>>): Promise<RuleRow | undefined> =>
  sql.updateTable('alert_rules').set(set).where('id', '=', id).returningAll().executeTakeFirst()
export const deleteRuleRow = (sql: Sql, id: number): Promise<RuleRow | undefined> =>
  sql.deleteFrom('alert_rules').where('id', '=', id).where('builtin', 'is', null).returningAll().executeTakeFirst()

export const silencesAt = (sql: Sql, now: number): Promise<SilenceRow[]> =>
  sql.selectFrom('alert_silences').selectAll().where('ends_at', '>', now).orderBy('id').execute()
export const insertSilence = (sql: Sql, row: Insertable<AlertSilencesTable>): Promise<SilenceRow> =>
  sql.insertInto('alert_silences').values(row).returningAll().executeTakeFirstOrThrow()
export const deleteSilence = (sql: Sql, id: number): Promise<SilenceRow | undefined> =>
  sql.deleteFrom('alert_silences').where('id', '=', id).returningAll().executeTakeFirst()
export const forgetSilences = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('alert_silences').where('ends_at', '<', before).execute()
}

/**
 * Channels that fail since before a time, with their words. A delivery that was under way when its channel was deleted or
 * switched off still writes its failure, so only channels that can send count.
 */
export const stuckChannels = async (sql: Sql, before: number) => {
  const rows = await sql
    .selectFrom('notification_channels')
    .select(['channel', 'last_error', 'failing_since'])
    .where('failing_since', '<', before)
    .execute()
  if (rows.length === 0) return rows
  const enabled = await sql.selectFrom('channels').select('id').where('enabled', '=', 1).execute()
  const names = new Set(enabled.map(({ id }) => `channel:${id}`))
  return rows.filter(({ channel }) => !channel.startsWith('channel:') || names.has(channel))
}
