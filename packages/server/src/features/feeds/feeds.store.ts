import { sql as raw } from 'kysely'
import type { Insertable, Kysely, RawBuilder, Selectable } from 'kysely'
import type { FeedsTable } from '../../db/tables/policy.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type FeedRow = Selectable<FeedsTable>

export const allFeeds = (sql: Sql): Promise<FeedRow[]> => sql.selectFrom('feeds').selectAll().orderBy('name').execute()
export const findFeed = (sql: Sql, id: number): Promise<FeedRow | undefined> =>
  sql.selectFrom('feeds').selectAll().where('id', '=', id).executeTakeFirst()
export const findFeedBy = (sql: Sql, by: 'name' | 'token_hash', value: string): Promise<FeedRow | undefined> =>
  sql.selectFrom('feeds').selectAll().where(by, '=', value).executeTakeFirst()
export const countFeeds = (sql: Sql): Promise<number> => rowCount(sql.selectFrom('feeds'))
export const insertFeed = (sql: Sql, row: Insertable<FeedsTable>): Promise<FeedRow> =>
  sql.insertInto('feeds').values(row).returningAll().executeTakeFirstOrThrow()
export const updateFeed = (sql: Sql, id: number, set: Partial<Omit<FeedRow, 'id'>>): Promise<FeedRow | undefined> =>
  sql.updateTable('feeds').set(set).where('id', '=', id).returningAll().executeTakeFirst()
/** Notes what a feed holds from `changedAt` on, unless another process noted the same. Answers since when it holds that. */
export const noteFeedContents = async (sql: Sql, id: number, digest: string, changedAt: number): Promise<number> => {
  const noted = await sql
    .updateTable('feeds')
    .set({ digest, changed_at: changedAt })
    .where('id', '=', id)
    .where(eb => eb.or([eb('digest', 'is', null), eb('digest', '<>', digest)]))
    .returning('changed_at')
    .executeTakeFirst()
  return noted?.changed_at ?? (await findFeed(sql, id))?.changed_at ?? changedAt
}
export const deleteFeed = async (sql: Sql, id: number): Promise<void> => {
  await sql.deleteFrom('feeds').where('id', '=', id).execute()
}

/** An address or a range by its bytes. */
export interface FedEntry {
  readonly ip: Uint8Array
  readonly prefix: number | null
}
/**
 * What is banned on hosts now, each entry once, those with the newest bans first; `among` are conditions on the bans, and bans of the
 * servers `without` do not count.
 */
export const activeEntries = async (
  sql: Sql,
  asked: { among: RawBuilder<unknown> | null; now: number; most: number; without: readonly number[] },
): Promise<FedEntry[]> => {
  const { among, now, most, without } = asked
  const found = among === null ? raw`` : raw`and ban_id in (select id from bans where ${among})`
  const trusted = without.length === 0 ? raw`` : raw`and server_no not in (${raw.join([...without])})`
  const { rows } = await raw<FedEntry>`select ip, prefix from active_bans
    where (expires_at is null or expires_at > ${now}) ${trusted} ${found}
    group by ip, prefix order by max(banned_at) desc limit ${most}`.execute(sql)
  return rows
}
/** The standing fleet bans. */
export const fleetEntries = async (sql: Sql, now: number): Promise<string[]> => {
  const rows = await sql
    .selectFrom('fleet_bans')
    .select('entry')
    .distinct()
    .where('ended_at', 'is', null)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute()
  return rows.map(({ entry }) => entry)
}
