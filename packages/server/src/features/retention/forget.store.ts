import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

/** The first ban that a server reported at that time or later; null where there is none. Numbers are in the order of arrival. */
export const firstReportSince = async (
  sql: Kysely<Schema>,
  serverNo: number,
  since: number,
): Promise<number | null> => {
  const { rows } = await raw<{ first: number | null }>`select min(ban_id) as first from events
    where name = 'ban.report' and server_no = ${serverNo} and at >= ${since}`.execute(sql)
  return rows[0]?.first ?? null
}
