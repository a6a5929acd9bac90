import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { ReputationReportsTable } from '../../db/tables/messages.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type ReportRow = Selectable<ReputationReportsTable>
/** Nothing is sent until then (epoch milliseconds), and why. */
export interface Pause {
  readonly until: number
  readonly reason: string
}
const pauseKey = 'reputation.pause'

export const readPause = async (sql: Sql): Promise<Pause | null> => {
  const row = await sql.selectFrom('meta').select('value').where('key', '=', pauseKey).executeTakeFirst()
  return row ? (JSON.parse(row.value) as Pause) : null
}
export const keepPause = async (sql: Sql, pause: Pause): Promise<void> => {
  const value = JSON.stringify(pause)
  await sql
    .insertInto('meta')
    .values({ key: pauseKey, value })
    .onConflict(on => on.column('key').doUpdateSet({ value }))
    .execute()
}
export const dropPause = async (sql: Sql): Promise<void> => {
  await sql.deleteFrom('meta').where('key', '=', pauseKey).execute()
}

export const addReports = async (
  sql: Sql,
  rows: readonly { ban_id: number; ip: Uint8Array }[],
  now: number,
): Promise<void> => {
  if (rows.length === 0) return
  await sql
    .insertInto('reputation_reports')
    .values(rows.map(row => ({ ...row, state: 'waiting' as const, due_at: now, created_at: now })))
    .onConflict(on => on.column('ban_id').doNothing())
    .execute()
}
/** Addresses of the given ones that were reported since, or wait to be. */
export const knownAddresses = async (
  sql: Sql,
  ips: readonly Uint8Array[],
  since: number,
): Promise<ReadonlySet<string>> => {
  if (ips.length === 0) return new Set()
  const reported = await sql
    .selectFrom('reputation_addresses')
    .select('ip')
    .where('ip', 'in', ips)
    .where('reported_at', '>', since)
    .execute()
  const waiting = await sql
    .selectFrom('reputation_reports')
    .select('ip')
    .where('ip', 'in', ips)
    .where('state', '=', 'waiting')
    .execute()
  return new Set([...reported, ...waiting].map(row => Buffer.from(row.ip).toString('hex')))
}
export const dueReports = (sql: Sql, now: number, most: number): Promise<ReportRow[]> =>
  sql
    .selectFrom('reputation_reports')
    .selectAll()
    .where('state', '=', 'waiting')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(most)
    .execute()
export const lastReportOf = (sql: Sql, ip: Uint8Array) =>
  sql.selectFrom('reputation_addresses').selectAll().where('ip', '=', ip).executeTakeFirst()
export const endReport = async (
  sql: Sql,
  banId: number,
  state: 'skipped' | 'failed',
  at: number,
  error: string | null,
): Promise<void> => {
  await sql
    .updateTable('reputation_reports')
    .set({ state, ended_at: at, error })
    .where('ban_id', '=', banId)
    .where('state', '=', 'waiting')
    .execute()
}
export const putOff = async (sql: Sql, banId: number, dueAt: number, error: string): Promise<void> => {
  await sql
    .updateTable('reputation_reports')
    .set(eb => ({ due_at: dueAt, error, attempts: eb('attempts', '+', 1) }))
    .where('ban_id', '=', banId)
    .where('state', '=', 'waiting')
    .execute()
}
/** The service took it: the ban's own row says so, and the address is not reported again for a while. */
export const noteSent = async (
  sql: Sql,
  ban: { id: number; ip: Uint8Array },
  score: number,
  at: number,
): Promise<void> => {
  const sent = { state: 'sent' as const, ended_at: at, error: null }
  await sql
    .insertInto('reputation_reports')
    .values({ ban_id: ban.id, ip: ban.ip, due_at: at, created_at: at, ...sent })
    .onConflict(on => on.column('ban_id').doUpdateSet(sent))
    .execute()
  await sql
    .insertInto('reputation_addresses')
    .values({ ip: ban.ip, reported_at: at, score })
    .onConflict(on => on.column('ip').doUpdateSet({ reported_at: at, score }))
    .execute()
  await sql.updateTable('bans').set({ reported: 1, reputation_score: score }).where('id', '=', ban.id).execute()
}
/** Reports that were taken since, and when the last one ever was. */
export const sentSince = async (sql: Sql, since: number): Promise<{ n: number; last: number | null }> => {
  const row = await sql
    .selectFrom('reputation_reports')
    .select(eb => [
      eb.fn.sum<number | null>(raw`case when ended_at >= ${since} then 1 else 0 end`).as('n'),
      eb.fn.max('ended_at').as('last'),
    ])
    .where('state', '=', 'sent')
    .executeTakeFirst()
  return { n: Number(row?.n ?? 0), last: row?.last ?? null }
}
/** Reports of each server's bans that were taken since, or wait to be sent. */
export const reportsByServer = async (sql: Sql, since: number): Promise<Map<number, number>> => {
  const { rows } = await raw<{ server_no: number; n: number }>`select bans.server_no, count(*) as n
    from reputation_reports join bans on bans.id = reputation_reports.ban_id
    where state = 'waiting' or (state = 'sent' and ended_at >= ${since}) group by bans.server_no`.execute(sql)
  return new Map(rows.map(({ server_no, n }) => [server_no, Number(n)]))
}
export const forgetReports = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('reputation_reports').where('ended_at', '<', before).execute()
  await sql.deleteFrom('reputation_addresses').where('reported_at', '<', before).execute()
}
