import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { SiemReplaysTable } from '../../db/tables/siem.ts'

type Sql = Kysely<Schema>
export type Replay = Selectable<SiemReplaysTable>

export const addReplay = async (sql: Sql, row: Insertable<SiemReplaysTable>): Promise<void> => {
  await sql.insertInto('siem_replays').values(row).execute()
}
export const saveReplay = async (sql: Sql, id: string, set: Updateable<SiemReplaysTable>): Promise<void> => {
  await sql.updateTable('siem_replays').set(set).where('id', '=', id).execute()
}
export const findReplay = (sql: Sql, id: string): Promise<Replay | undefined> =>
  sql.selectFrom('siem_replays').selectAll().where('id', '=', id).executeTakeFirst()
/** Oldest first. */
export const runningReplays = (sql: Sql): Promise<Replay[]> =>
  sql.selectFrom('siem_replays').selectAll().where('status', '=', 'running').orderBy('id').execute()
/** Those that run, and those that ended after that moment. */
export const unfinishedSince = (sql: Sql, since: number): Promise<Replay[]> =>
  sql
    .selectFrom('siem_replays')
    .selectAll()
    .where(({ or, eb }) => or([eb('status', '=', 'running'), eb('ended_at', '>=', since)]))
    .orderBy('id')
    .execute()
