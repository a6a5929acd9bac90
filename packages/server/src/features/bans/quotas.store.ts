import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { upsert } from '../../db/given.ts'
import type { Upsert } from '../../db/given.ts'
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
const quotas: Upsert<Use & { readonly day: number }> = {
  table: 'server_quotas',
  columns: { server_no: 'bigint', day: 'bigint', reports: 'bigint', bytes: 'bigint' },
  key: ['server_no', 'day'],
  added: ['reports', 'bytes'],
}
/** Adds to the stored counts; always in the same order, so that two processes cannot deadlock. */
export const addUses = (sql: Sql, engine: Engine, day: number, uses: readonly Use[]): Promise<void> =>
  upsert(
    sql,
    engine,
    quotas,
    [...uses].sort((a, b) => a.server_no - b.server_no).map(use => ({ ...use, day })),
  )
/** Whether this server's quota was not reported on that day before. */
export const claimNotice = async (sql: Sql, engine: Engine, server_no: number, day: number): Promise<boolean> => {
  await addUses(sql, engine, day, [{ server_no, reports: 0, bytes: 0 }])
  const updated = await sql
    .updateTable('server_quotas')
    .set({ told: 1 })
    .where('server_no', '=', server_no)
    .where('day', '=', day)
    .where('told', '=', 0)
    .returning('told')
    .execute()
  return updated.length > 0
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
