import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { KnockHistoryTable } from '../../db/tables/knock.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
import { valuesTable } from '../../db/given.ts'

type Sql = Kysely<Schema>
const chunk = 500

export interface ReportedSequence {
  readonly id: number
  readonly timeout: number
  readonly block_duration: number
}
/** Those of the ids that exist or did, as they are until the end of the transaction. */
export const holdSequences = (sql: Sql, engine: Engine, ids: readonly number[]): Promise<ReportedSequence[]> =>
  sql
    .selectFrom('knock_sequences')
    .select(['id', 'timeout', 'block_duration'])
    .where('id', 'in', ids)
    .orderBy('id')
    .$if(engine === 'postgres', query => query.forShare())
    .execute()
export const placesAmong = (sql: Sql, ids: readonly number[], serverNos: readonly number[]) =>
  sql
    .selectFrom('knock_sequence_servers')
    .select(['sequence_id', 'server_no'])
    .where('sequence_id', 'in', ids)
    .where('server_no', 'in', serverNos)
    .execute()

export type NewKnock = Omit<KnockHistoryTable, 'id'>
export interface EventRef {
  readonly server_no: number
  readonly event_id: string
}
/** Answers those that were not there before. */
export const insertKnocks = async (sql: Sql, engine: Engine, knocks: readonly NewKnock[]): Promise<EventRef[]> => {
  const eventRefs: EventRef[] = []
  const columns = {
    event_id: 'text',
    server_no: 'bigint',
    sequence_id: 'bigint',
    ip: 'text',
    status: 'text',
    reason: 'text',
    at: 'bigint',
  } as const
  const names = raw.join(Object.keys(columns).map(name => raw.ref(name)))
  for (let start = 0; start < knocks.length; start += chunk) {
    const some = knocks.slice(start, start + chunk)
    const { rows } = await raw<EventRef>`insert into knock_history (${names})
      select ${names} from ${valuesTable(engine, some, columns)} where 1 = 1
      on conflict (server_no, event_id) do nothing returning server_no, event_id`.execute(sql)
    eventRefs.push(...rows)
  }
  return eventRefs
}

export interface Address {
  readonly server_no: number
  readonly sequence_id: number
  readonly ip: string
}
/** How often an address failed at a sequence since it last got it right. */
export const failuresOf = async (sql: Sql, { server_no, sequence_id, ip }: Address): Promise<number> => {
  const of = raw`ip = ${ip} and server_no = ${server_no} and sequence_id = ${sequence_id}`
  const { rows } = await raw<{ n: number }>`select count(*) as n from knock_history
    where ${of} and status = 'failed' and at > coalesce(
      (select max(at) from knock_history where ${of} and status = 'success'), -1)`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}
/** Blocks an address. False where it is blocked already, or was unblocked since then. */
export const putBlocked = async (
  sql: Sql,
  blocked: Address & { readonly blocked_at: number; readonly expires_at: number; readonly failed_attempts: number },
): Promise<boolean> => {
  const { server_no, sequence_id, ip, failed_attempts, blocked_at, expires_at } = blocked
  const { rows } = await raw`insert into knock_blocked
      (server_no, sequence_id, ip, failed_attempts, blocked_at, expires_at)
    values (${server_no}, ${sequence_id}, ${ip}, ${failed_attempts}, ${blocked_at}, ${expires_at})
    on conflict (server_no, sequence_id, ip) do update set failed_attempts = excluded.failed_attempts,
      blocked_at = excluded.blocked_at, expires_at = excluded.expires_at, unblocked_at = null
    where (knock_blocked.unblocked_at is null and knock_blocked.expires_at <= excluded.blocked_at)
      or knock_blocked.unblocked_at < excluded.blocked_at
    returning ip`.execute(sql)
  return rows.length > 0
}
export const countBlocked = (sql: Sql, serverNo: number, now: number): Promise<number> =>
  rowCount(
    sql
      .selectFrom('knock_blocked')
      .where('server_no', '=', serverNo)
      .where('unblocked_at', 'is', null)
      .where('expires_at', '>', now),
  )
/** Which of these are blocked now. */
export const blockedAmong = async (sql: Sql, addresses: readonly Address[], now: number): Promise<Address[]> => {
  const rangeAddresses: Address[] = []
  for (let start = 0; start < addresses.length; start += chunk) {
    const some = addresses.slice(start, start + chunk)
    rangeAddresses.push(
      ...(await sql
        .selectFrom('knock_blocked')
        .select(['server_no', 'sequence_id', 'ip'])
        .where('ip', 'in', [...new Set(some.map(({ ip }) => ip))])
        .where('server_no', 'in', [...new Set(some.map(({ server_no }) => server_no))])
        .where('unblocked_at', 'is', null)
        .where('expires_at', '>', now)
        .execute()),
    )
  }
  return rangeAddresses
}
export const setFailures = async (sql: Sql, { server_no, sequence_id, ip }: Address, failed_attempts: number) => {
  await sql
    .updateTable('knock_blocked')
    .set({ failed_attempts })
    .where('server_no', '=', server_no)
    .where('sequence_id', '=', sequence_id)
    .where('ip', '=', ip)
    .execute()
}
