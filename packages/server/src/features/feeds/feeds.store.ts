import { sql as raw } from 'kysely'
import type { Insertable, Kysely, RawBuilder, Selectable } from 'kysely'
import { widest } from '@stockade/contract/reach.ts'
import type { FeedsTable } from '../../db/tables/policy.ts'
import type { Database } from '../../db/database.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type FeedRow = Selectable<FeedsTable>

export const allFeeds = (sql: Sql): Promise<FeedRow[]> => sql.selectFrom('feeds').selectAll().orderBy('name').execute()
export const findFeed = (sql: Sql, id: number): Promise<FeedRow | undefined> =>
  sql.selectFrom('feeds').selectAll().where('id', '=', id).executeTakeFirst()
export const findFeedBy = (sql: Sql, by: 'name' | 'token_hash', value: string): Promise<FeedRow | undefined> =>
  sql.selectFrom('feeds').selectAll().where(by, '=', value).executeTakeFirst()
/** Feeds whose entries bouncers were sent, and that were read since then. */
export const followedFeeds = (sql: Sql, since: number): Promise<FeedRow[]> =>
  sql
    .selectFrom('feeds')
    .selectAll()
    .where('used_at', '>=', since)
    .where('id', 'in', sql.selectFrom('feeds_sent').select('feed_id'))
    .orderBy('id')
    .execute()
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

/** Ranges that count elsewhere. Others are a host's own matter. */
const counts = raw`(prefix is null or prefix >= case length(ip) when 4 then ${raw.lit(widest.counted[4])} else ${raw.lit(widest.counted[6])} end)`
interface Asked {
  /** Conditions on the bans; null for all. */
  readonly among: RawBuilder<unknown> | null
  readonly now: number
  readonly most: number
  /** Bans of these servers do not count. */
  readonly without: readonly number[]
  /** So many bans of one server count at most, the newest. */
  readonly ofOne: number
}
/**
 * What is banned on hosts now, each entry once, those with the newest bans first: `packed` holds each as in `unpack`, with a space between. One text, since 100,000
 * rows take longer to hand over than to read. Ranges that are too wide and what one server has beyond its part are left out and counted.
 */
export const activeEntries = async (
  { scan: sql, engine }: Pick<Database, 'scan' | 'engine'>,
  { among, now, most, without, ofOne }: Asked,
): Promise<{ readonly packed: string; readonly wide: number; readonly crowded: number }> => {
  const condition = among === null ? raw`` : raw`and ban_id in (select id from bans where ${among})`
  const not = (servers: readonly number[]) =>
    servers.length === 0 ? raw`` : raw`and server_no not in (${raw.join([...servers])})`
  const active = raw`(expires_at is null or expires_at > ${now}) ${not(without)} ${condition}`
  const { rows: servers } = await raw<{ server_no: number; n: number; wide: number }>`select server_no,
      sum(case when ${counts} then 1 else 0 end) as n, sum(case when ${counts} then 0 else 1 end) as wide
    from active_bans where ${active} group by server_no`.execute(sql)
  const crowded = servers.filter(({ n }) => Number(n) > ofOne).map(({ server_no }) => server_no)
  const own = crowded.map(
    no => raw`union all select * from (select ip, prefix, banned_at from active_bans
      where server_no = ${no} and ${active} and ${counts} order by banned_at desc limit ${ofOne}) as of_one`,
  )
  const digits = engine === 'sqlite' ? raw`hex(ip)` : raw`encode(ip, 'hex')`
  const { rows } = await raw<{
    packed: string | null
  }>`select string_agg(${digits} || coalesce('/' || prefix, ''), ' ' order by newest desc) as packed from (
      select ip, prefix, max(banned_at) as newest from (
        select ip, prefix, banned_at from active_bans where ${active} and ${counts} ${not(crowded)}
        ${raw.join(own, raw` `)}) as counted
      group by ip, prefix order by newest desc limit ${most}) as entries`.execute(sql)
  return {
    packed: rows[0]?.packed ?? '',
    wide: servers.reduce((sum, { wide }) => sum + Number(wide), 0),
    crowded: servers.reduce((sum, { n }) => sum + Math.max(0, Number(n) - ofOne), 0),
  }
}
/** The standing fleet bans of all servers, and how many there are of some only, which are no word for others. */
export const fleetEntries = async (
  sql: Sql,
  now: number,
): Promise<{ readonly entries: readonly string[]; readonly partial: number }> => {
  const rows = await sql
    .selectFrom('fleet_bans')
    .select(['entry', 'target'])
    .distinct()
    .where('ended_at', 'is', null)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute()
  const ofAll = rows.filter(({ target }) => target === 'all')
  return { entries: ofAll.map(({ entry }) => entry), partial: rows.length - ofAll.length }
}
/** Notes what a feed may hold from now on, unless another process did. */
export const noteAllowed = async (
  sql: Sql,
  { id, allowed_at }: Pick<FeedRow, 'id' | 'allowed_at'>,
  set: { readonly allowed: number; readonly allowed_at: number },
): Promise<void> => {
  await sql
    .updateTable('feeds')
    .set(set)
    .where('id', '=', id)
    .where('allowed_at', allowed_at === null ? 'is' : '=', allowed_at)
    .execute()
}
/** Notes that somebody was told; false where another process did. */
export const noteTold = async (
  sql: Sql,
  { id, told_at }: Pick<FeedRow, 'id' | 'told_at'>,
  now: number,
): Promise<boolean> => {
  const done = await sql
    .updateTable('feeds')
    .set({ told_at: now })
    .where('id', '=', id)
    .where('told_at', told_at === null ? 'is' : '=', told_at)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}
