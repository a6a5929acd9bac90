import type { Insertable, Kysely, Selectable } from 'kysely'
import type { AgentRolloutHostsTable, AgentRolloutsTable } from '../../db/tables/servers.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type RolloutRow = Selectable<AgentRolloutsTable>
export type RolloutHostRow = Selectable<AgentRolloutHostsTable>
export type HostState = RolloutHostRow['state']

const chunk = 500

export const insertRollout = (sql: Sql, row: Insertable<AgentRolloutsTable>): Promise<RolloutRow> =>
  sql.insertInto('agent_rollouts').values(row).returningAll().executeTakeFirstOrThrow()
export const insertHosts = async (sql: Sql, rows: readonly RolloutHostRow[]): Promise<void> => {
  for (let start = 0; start < rows.length; start += chunk)
    await sql
      .insertInto('agent_rollout_hosts')
      .values(rows.slice(start, start + chunk))
      .execute()
}
export const findRollout = (sql: Sql, id: number): Promise<RolloutRow | undefined> =>
  sql.selectFrom('agent_rollouts').selectAll().where('id', '=', id).executeTakeFirst()
/** The rollout that is running or paused; one at a time. */
export const findOpen = (sql: Sql): Promise<RolloutRow | undefined> =>
  sql.selectFrom('agent_rollouts').selectAll().where('ended_at', 'is', null).orderBy('id').executeTakeFirst()
export const pageOfRollouts = (sql: Sql, offset: number, limit: number): Promise<RolloutRow[]> =>
  sql.selectFrom('agent_rollouts').selectAll().orderBy('id', 'desc').offset(offset).limit(limit).execute()
export const countRollouts = (sql: Sql): Promise<number> => rowCount(sql.selectFrom('agent_rollouts'))
/** Undefined where somebody else moved it to another state first. */
export const changeRollout = (
  sql: Sql,
  was: Pick<RolloutRow, 'id' | 'state'>,
  set: Partial<Omit<RolloutRow, 'id'>>,
): Promise<RolloutRow | undefined> =>
  sql
    .updateTable('agent_rollouts')
    .set(set)
    .where('id', '=', was.id)
    .where('state', '=', was.state)
    .returningAll()
    .executeTakeFirst()

/** The hosts of waves up to this one that are not at their end. */
export const openHosts = (sql: Sql, id: number, wave: number): Promise<RolloutHostRow[]> =>
  sql
    .selectFrom('agent_rollout_hosts')
    .selectAll()
    .where('rollout_id', '=', id)
    .where('state', 'in', ['waiting', 'ordered', 'watched'])
    .where('wave', '<=', wave)
    .execute()
/** Numbers of servers that the rollout brought to the release, or that its agents answered from. */
export const upgradedHosts = (sql: Sql, id: number): Promise<RolloutHostRow[]> =>
  sql
    .selectFrom('agent_rollout_hosts')
    .selectAll()
    .where('rollout_id', '=', id)
    .where('answered_at', 'is not', null)
    .execute()
export const changeHost = async (
  sql: Sql,
  { rollout_id, server_no }: Pick<RolloutHostRow, 'rollout_id' | 'server_no'>,
  set: Partial<Omit<RolloutHostRow, 'rollout_id' | 'server_no'>>,
): Promise<void> => {
  await sql
    .updateTable('agent_rollout_hosts')
    .set(set)
    .where('rollout_id', '=', rollout_id)
    .where('server_no', '=', server_no)
    .execute()
}
export interface StateCount {
  readonly rollout_id: number
  readonly wave: number
  readonly state: HostState
  readonly n: number
}
export const countStates = async (sql: Sql, ids: readonly number[]): Promise<StateCount[]> => {
  if (ids.length === 0) return []
  const rows = await sql
    .selectFrom('agent_rollout_hosts')
    .select(['rollout_id', 'wave', 'state'])
    .select(eb => eb.fn.countAll<number>().as('n'))
    .where('rollout_id', 'in', ids)
    .groupBy(['rollout_id', 'wave', 'state'])
    .execute()
  return rows.map(row => ({ ...row, rollout_id: Number(row.rollout_id), n: Number(row.n) }))
}
export const pageOfHosts = (
  sql: Sql,
  id: number,
  state: HostState | undefined,
  offset: number,
  limit: number,
): Promise<RolloutHostRow[]> => {
  const query = sql.selectFrom('agent_rollout_hosts').selectAll().where('rollout_id', '=', id)
  return (state === undefined ? query : query.where('state', '=', state))
    .orderBy(eb => eb.case().when('state', '=', 'failed').then(0).else(1).end())
    .orderBy('wave')
    .orderBy('server_no')
    .offset(offset)
    .limit(limit)
    .execute()
}
