import { expressionBuilder, sql as raw } from 'kysely'
import type { ExpressionBuilder, Kysely, Selectable, SqlBool, Updateable } from 'kysely'
import { system } from '../../core/author.ts'
import type { ServerScope } from '../../core/actor.ts'
import { spanOfQuery } from '@stockade/contract'
import type { QueryNode, QueryTerm } from '@stockade/contract'
import type { Engine } from '../../db/database.ts'
import { among, valuesTable, insertMany } from '../../db/given.ts'
import type { CommandsTable } from '../../db/tables/commands.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
import { anyOf, boundsOf, conditionOf, textMatches, timeMatches } from '../../db/search.ts'
import type { Condition } from '../../db/search.ts'

export type CommandRow = Selectable<CommandsTable>
export type CommandView = CommandRow & { server_id: string; hostname: string }
type Sql = Kysely<Schema>

export interface CommandFilter {
  readonly servers: ServerScope
  readonly serverNo?: number
  readonly status?: CommandRow['status']
  readonly type?: CommandRow['type']
  readonly batchId?: string
  readonly from?: number
  readonly to?: number
  readonly search?: Condition
}

const where = (filter: CommandFilter) => (eb: ExpressionBuilder<Schema, 'commands'>) =>
  eb.and([
    ...(filter.serverNo === undefined ? [] : [eb('commands.server_no', '=', filter.serverNo)]),
    ...(filter.servers === 'all'
      ? []
      : [filter.servers.size ? eb('commands.server_no', 'in', [...filter.servers]) : eb.lit(false)]),
    ...(filter.status ? [eb('commands.status', '=', filter.status)] : []),
    ...(filter.type ? [eb('commands.type', '=', filter.type)] : []),
    ...(filter.batchId ? [eb('commands.batch_id', '=', filter.batchId)] : []),
    ...(filter.from === undefined ? [] : [eb('commands.created_at', '>=', filter.from)]),
    ...(filter.to === undefined ? [] : [eb('commands.created_at', '<', filter.to)]),
    ...(filter.search ? [raw<SqlBool>`${filter.search}`] : []),
  ])

/** What a search asks of a command. */
export const commandSearch = (engine: Engine, tree: QueryNode, now: number): Condition => {
  const matches = textMatches(engine)
  const column = (name: keyof CommandsTable) => raw.ref(`commands.${name}`)
  const onServer = (condition: Condition) => raw`commands.server_no in (select no from servers where ${condition})`
  return conditionOf(tree, ({ field, values }: QueryTerm) =>
    anyOf(
      values.map(value => {
        switch (field) {
          case 'type':
            return raw`${column('type')} = ${value.text.toLowerCase()}`
          case 'server':
            return onServer(matches(raw`hostname`, value, true))
          case 'tag':
            return raw`commands.server_no in (select server_no from server_tags where ${matches(raw`tag`, value, true)})`
          case 'offline':
            return onServer(value.text.toLowerCase() === 'yes' ? raw`status <> 'online'` : raw`status = 'online'`)
          case 'by':
            return matches(column('initiated_by'), value, true)
          case 'status':
            return value.text.toLowerCase() === 'cancelled'
              ? raw`${column('cancelled')} = 1`
              : raw`(${column('status')} = ${value.text.toLowerCase()} and ${column('cancelled')} = 0)`
          case 'params':
          case 'output':
            return matches(column(field), value, false)
          case 'batch':
            return raw`(${column('batch_id')} is not null and ${column('batch_id')} = ${value.text.toLowerCase()})`
          case 'created':
            return timeMatches(
              column('created_at'),
              boundsOf(value, spanOfQuery(value.text, now) ?? { from: 0, to: 0 }),
            )
          default:
            return anyOf([
              ...(['type', 'params', 'output', 'initiated_by'] as const).map(name =>
                matches(column(name), value, false),
              ),
              onServer(matches(raw`hostname`, value, false)),
            ])
        }
      }),
    ),
  )
}

const commandRows = (sql: Sql) => sql.selectFrom('commands')
const withServer = (rows: ReturnType<typeof commandRows>) =>
  rows
    .innerJoin('servers', 'servers.no', 'commands.server_no')
    .selectAll('commands')
    .select(['servers.id as server_id', 'servers.hostname'])

export const listCommandRows = (
  sql: Sql,
  filter: CommandFilter,
  offset: number,
  limit: number,
): Promise<CommandView[]> =>
  withServer(commandRows(sql).where(where(filter)))
    .orderBy('commands.created_at', 'desc')
    .orderBy('commands.id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
export const countCommandRows = (sql: Sql, filter: CommandFilter): Promise<number> =>
  rowCount(sql.selectFrom('commands').where(where(filter)))
export interface CommandCount {
  readonly type: string
  readonly status: CommandRow['status']
  readonly cancelled: number
  readonly n: number
  /** Commands that ran to their end, and the milliseconds that they took together. */
  readonly finished: number
  readonly took: number | null
}
/** What was asked since `from` and how it ended, by type and status. */
export const countCommands = async (sql: Sql, filter: CommandFilter): Promise<CommandCount[]> => {
  const { rows } = await raw<CommandCount>`select type, status, cancelled, count(*) as n,
      count(case when ${ran} then 1 end) as finished, sum(case when ${ran} then completed_at - started_at end) as took
    from commands where ${where(filter)(expressionBuilder<Schema, 'commands'>())} group by type, status, cancelled`.execute(
    sql,
  )
  return rows.map(row => ({
    ...row,
    n: Number(row.n),
    finished: Number(row.finished),
    took: row.took === null ? null : Number(row.took),
  }))
}
const ran = raw`status in ('completed', 'failed') and started_at is not null and completed_at is not null`
export const findCommandView = (sql: Sql, id: string): Promise<CommandView | undefined> =>
  withServer(commandRows(sql)).where('commands.id', '=', id).executeTakeFirst()
export const findCommandViews = async (sql: Sql, ids: readonly string[]): Promise<CommandView[]> =>
  ids.length === 0 ? [] : withServer(commandRows(sql)).where('commands.id', 'in', ids).execute()
const chunk = 500
/** Where the commands stand and whose they are; those that there are none of are left out. */
export const findCommandStates = async (
  sql: Sql,
  ids: readonly string[],
): Promise<Pick<CommandRow, 'id' | 'server_no' | 'status'>[]> => {
  const rows: Pick<CommandRow, 'id' | 'server_no' | 'status'>[] = []
  for (let start = 0; start < ids.length; start += chunk)
    rows.push(
      ...(await sql
        .selectFrom('commands')
        .select(['id', 'server_no', 'status'])
        .where('id', 'in', ids.slice(start, start + chunk))
        .execute()),
    )
  return rows
}
export const findCommandRow = (sql: Sql, id: string): Promise<CommandRow | undefined> =>
  sql.selectFrom('commands').selectAll().where('id', '=', id).executeTakeFirst()

/** Locks commands by id, so that two processes never wait for each other in a circle. Those that there are none of are left out. */
export const lockCommands = async (sql: Sql, engine: Engine, ids: readonly string[]): Promise<CommandRow[]> => {
  const rows = sql
    .selectFrom('commands')
    .selectAll()
    .where(among(engine, 'id', ids, 'text'))
    .orderBy('id')
  return (engine === 'postgres' ? rows.forUpdate() : rows).execute()
}
/** How a command ended. */
export type CommandEnd = Pick<CommandRow, 'id' | 'status' | 'success' | 'output' | 'exit_code' | 'completed_at'>
/** Ends commands that are locked. One statement: a command for all hosts ends on hundreds of them at the same moment. */
export const endCommands = async (sql: Sql, engine: Engine, ends: readonly CommandEnd[]): Promise<void> => {
  if (ends.length === 0) return
  const rows = valuesTable(engine, ends, {
    id: 'text',
    status: 'text',
    success: 'bigint',
    output: 'text',
    exit_code: 'bigint',
    completed_at: 'bigint',
  })
  await raw`update commands set status = given.status, success = given.success, output = given.output,
      exit_code = given.exit_code, completed_at = given.completed_at from ${rows} where commands.id = given.id`.execute(
    sql,
  )
}

const commandColumns = {
  id: 'text',
  server_no: 'bigint',
  type: 'text',
  params: 'text',
  status: 'text',
  success: 'bigint',
  output: 'text',
  exit_code: 'bigint',
  initiated_by: 'text',
  retry_of: 'text',
  batch_id: 'text',
  template_hash: 'text',
  seal: 'text',
  cancelled: 'bigint',
  deliveries: 'bigint',
  delivered_at: 'bigint',
  created_at: 'bigint',
  expires_at: 'bigint',
  started_at: 'bigint',
  completed_at: 'bigint',
} as const
export const insertCommands = (sql: Sql, engine: Engine, rows: readonly CommandRow[]): Promise<void> =>
  insertMany(sql, engine, { table: 'commands', columns: commandColumns }, rows)
/** Changes a command that still is as it was read: `was` names its status and how often it was handed out. */
export const changeCommand = (
  sql: Sql,
  was: Pick<CommandRow, 'id' | 'status' | 'deliveries'>,
  set: Updateable<CommandsTable>,
): Promise<CommandRow | undefined> =>
  sql
    .updateTable('commands')
    .set(set)
    .where('id', '=', was.id)
    .where('status', '=', was.status)
    .where('deliveries', '=', was.deliveries)
    .returningAll()
    .executeTakeFirst()
/** Cancels those of the commands that were never handed out, and returns them. */
export const cancelCommands = async (
  sql: Sql,
  ids: readonly string[],
  output: string,
  at: number,
): Promise<CommandRow[]> => {
  const cancelled: CommandRow[] = []
  for (let start = 0; start < ids.length; start += chunk)
    cancelled.push(
      ...(await sql
        .updateTable('commands')
        .set({ status: 'failed', cancelled: 1, success: 0, output, completed_at: at })
        .where('id', 'in', ids.slice(start, start + chunk))
        .where('status', '=', 'pending')
        .where('deliveries', '=', 0)
        .returningAll()
        .execute()),
    )
  return cancelled
}
/** Hands pending commands out for the first time; those that are not pending any more are left. */
export const startCommands = async (
  sql: Sql,
  engine: Engine,
  ids: readonly string[],
  at: number,
): Promise<CommandRow[]> =>
  ids.length === 0
    ? []
    : sql
        .updateTable('commands')
        .set({ status: 'running', started_at: at, deliveries: 1, delivered_at: at })
        .where(among(engine, 'id', ids, 'text'))
        .where('status', '=', 'pending')
        .returningAll()
        .execute()
/** Commands that were not fetched or not answered in time; a bounded number, so that a flood does not block other work. */
export const lateCommands = (sql: Sql, now: number, startedBefore: number): Promise<CommandRow[]> =>
  sql
    .selectFrom('commands')
    .selectAll()
    .where(eb =>
      eb.or([
        eb.and([eb('status', '=', 'pending'), eb('expires_at', '<=', now)]),
        eb.and([eb('status', '=', 'running'), eb('started_at', '<=', startedBefore)]),
      ]),
    )
    .limit(500)
    .execute()
/** Written out, not as parameters: otherwise the index of open commands is not used. */
const isOpen = raw<SqlBool>`status in ('pending', 'running')`
/** Everything that may still have to be handed out or timed out. */
export const openCommands = (sql: Sql): Promise<CommandRow[]> =>
  sql.selectFrom('commands').selectAll().where(isOpen).orderBy('created_at').orderBy('id').execute()
type Counts = ReadonlyMap<number, number>
const countsOf = (rows: readonly { readonly server_no: number; readonly n: number }[]): Counts =>
  new Map(rows.map(({ server_no, n }) => [Number(server_no), Number(n)]))
/** How many commands that somebody queued wait for each of some servers. What Stockade lifts by itself waits beside them. */
export const countWaiting = async (sql: Sql, engine: Engine, serverNos: readonly number[]): Promise<Counts> =>
  countsOf(
    await sql
      .selectFrom('commands')
      .select(['server_no', eb => eb.fn.countAll<number>().as('n')])
      .where(among(engine, 'server_no', serverNos))
      .where(isOpen)
      .where('status', '=', 'pending')
      .where('initiated_by', '<>', system.name)
      .groupBy('server_no')
      .execute(),
  )
/** How many commands somebody queued for each of some servers since a time, whatever became of them. */
export const countQueuedSince = async (
  sql: Sql,
  engine: Engine,
  serverNos: readonly number[],
  since: number,
): Promise<Counts> =>
  countsOf(
    await sql
      .selectFrom('commands')
      .select(['server_no', eb => eb.fn.countAll<number>().as('n')])
      .where(among(engine, 'server_no', serverNos))
      .where('created_at', '>', since)
      .where('initiated_by', '<>', system.name)
      .groupBy('server_no')
      .execute(),
  )
/** Orders of Stockade itself that lift bans of a server and are not done yet. */
export const openLifts = (sql: Sql, serverNo: number): Promise<Pick<CommandRow, 'params'>[]> =>
  sql
    .selectFrom('commands')
    .select('params')
    .where('server_no', '=', serverNo)
    .where(isOpen)
    .where('type', '=', 'unban-ip')
    .where('initiated_by', '=', system.name)
    .execute()
/** At most some hundred servers at once. */
export const openCommandsOf = (sql: Sql, engine: Engine, serverNos: readonly number[]): Promise<CommandRow[]> =>
  sql
    .selectFrom('commands')
    .selectAll()
    .where(among(engine, 'server_no', serverNos))
    .where(isOpen)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
