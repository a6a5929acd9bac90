import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
/** What a server reported on a UTC day. */
export interface Use {
  readonly server_no: number
  readonly reports: number
  readonly bytes: number
}

export const usesOf = (sql: Sql, day: number): Promise<Use[]> =>
  sql.selectFrom('server_quotas').select(['server_no', 'reports', 'bytes']).where('day', '=', day).execute()
/** Rows of one statement: each has four of the parameters, of which SQLite takes 32,766. */
const usesAtOnce = 1000
/** Adds to the stored counts; always in the same order, so that two processes cannot deadlock. */
export const addUses = async (sql: Sql, day: number, uses: readonly Use[]): Promise<void> => {
  const rows = [...uses].sort((a, b) => a.server_no - b.server_no).map(use => ({ ...use, day }))
  for (let from = 0; from < rows.length; from += usesAtOnce)
    await sql
      .insertInto('server_quotas')
      .values(rows.slice(from, from + usesAtOnce))
      .onConflict(on =>
        on.columns(['server_no', 'day']).doUpdateSet({
          reports: raw`server_quotas.reports + excluded.reports`,
          bytes: raw`server_quotas.bytes + excluded.bytes`,
        }),
      )
      .execute()
}
/** Whether this server's quota was not reported on that day before. */
export const claimNotice = async (sql: Sql, server_no: number, day: number): Promise<boolean> => {
  await addUses(sql, day, [{ server_no, reports: 0, bytes: 0 }])
  const told = await sql
    .updateTable('server_quotas')
    .set({ told: 1 })
    .where('server_no', '=', server_no)
    .where('day', '=', day)
    .where('told', '=', 0)
    .returning('told')
    .execute()
  return told.length > 0
}
export const forgetUses = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('server_quotas').where('day', '<', before).execute()
}
/** Active bans without an end, by server. */
export const endlessBans = async (sql: Sql): Promise<ReadonlyMap<number, number>> => {
  const { rows } = await raw<{ server_no: number; n: number }>`select server_no, count(*) as n from active_bans
    where expires_at is null group by server_no`.execute(sql)
  return new Map(rows.map(({ server_no, n }) => [server_no, Number(n)]))
}
/** The names of jails that a server's bans ever had. */
export const jailNamesOn = async (sql: Sql, serverNo: number): Promise<string[]> => {
  const { rows } = await raw<{ name: string }>`select distinct jails.name as name from ban_cube
    join jails on jails.id = ban_cube.jail_id where ban_cube.server_no = ${serverNo}`.execute(sql)
  return rows.map(({ name }) => name)
}
