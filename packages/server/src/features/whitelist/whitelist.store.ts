import { lastOf } from '@stockade/contract/spans.ts'
import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import { covers } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import type { WhitelistStateTable, WhitelistTable } from '../../db/tables/policy.ts'

type Sql = Kysely<Schema>
export type EntryRow = Selectable<WhitelistTable>
export type ListState = Selectable<WhitelistStateTable>

export const readState = (sql: Sql): Promise<ListState> =>
  sql.selectFrom('whitelist_state').selectAll().executeTakeFirstOrThrow()
/** Reads the state and keeps everybody else from changing the list until the commit: so ids rise in the order of commits. */
export const holdState = (sql: Sql): Promise<ListState> =>
  sql
    .updateTable('whitelist_state')
    .set(eb => ({ seq: eb.ref('seq') }))
    .returningAll()
    .executeTakeFirstOrThrow()
export const saveState = async (sql: Sql, state: Omit<ListState, 'id'>): Promise<void> => {
  await sql.updateTable('whitelist_state').set(state).execute()
}

const matching = (search: string | undefined, address: string | undefined) => {
  if (search === undefined) return raw`1 = 1`
  const like = `%${search.replace(/[\\%_]/g, match => `\\${match}`)}%`
  const lower = like.toLowerCase()
  // SQLite's lower() knows ASCII only: other letters are found as they are written.
  return raw`(ip like ${lower} escape '\\' or lower(description) like ${lower} escape '\\'
    or description like ${like} escape '\\' or ip = ${address ?? ''})`
}
/** A page in the order of insertion; `address` is the canonical form of a search that is an address. */
export const pageOfEntries = async (
  sql: Sql,
  filter: { search: string | undefined; address: string | undefined },
  offset: number,
  limit: number,
): Promise<EntryRow[]> =>
  (
    await raw<EntryRow>`select * from whitelist where ${matching(filter.search, filter.address)}
      order by id limit ${limit} offset ${offset}`.execute(sql)
  ).rows
export const countEntries = async (
  sql: Sql,
  filter: { search: string | undefined; address: string | undefined },
): Promise<number> => {
  if (filter.search === undefined) return (await readState(sql)).entries
  const { rows } = await raw<{
    n: number
  }>`select count(*) as n from whitelist where ${matching(filter.search, filter.address)}`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}
export const findEntry = (sql: Sql, id: number): Promise<EntryRow | undefined> =>
  sql.selectFrom('whitelist').selectAll().where('id', '=', id).executeTakeFirst()
export const findEntryOf = (sql: Sql, ip: string): Promise<EntryRow | undefined> =>
  sql.selectFrom('whitelist').selectAll().where('ip', '=', ip).executeTakeFirst()
/** The texts of all entries that are ranges. */
export const rangesOf = async (sql: Sql): Promise<string[]> =>
  (await sql.selectFrom('whitelist').select('ip').where('ip', 'like', '%/%').execute()).map(({ ip }) => ip)
/** Some entries after an id, in order. */
export const entriesAfter = (
  sql: Sql,
  id: number,
  most: number,
): Promise<Pick<EntryRow, 'id' | 'ip' | 'description' | 'expires_at'>[]> =>
  sql
    .selectFrom('whitelist')
    .select(['id', 'ip', 'description', 'expires_at'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(most)
    .execute()

/**
 * Adds entries, leaving out what is there already. Returns the new ones in the order given. All rows travel as one text:
 * thousands of parameters would cost more than the rows.
 */
export const insertEntries = async (
  sql: Sql,
  engine: Engine,
  entries: readonly { readonly ip: string; readonly description: string; readonly expires_at: number | null }[],
  author: string,
  now: number,
): Promise<{ id: number; ip: string }[]> => {
  const json = JSON.stringify(entries.map(({ ip, description, expires_at }) => [ip, description, expires_at]))
  const query =
    engine === 'sqlite'
      ? raw<{
          id: number
          ip: string
        }>`insert into whitelist (ip, description, expires_at, created_by, created_at, updated_at)
          select value ->> 0, value ->> 1, value ->> 2, ${author}, ${now}, ${now} from json_each(${json}) where true order by key
          on conflict (ip) do nothing returning id, ip`
      : raw<{
          id: number
          ip: string
        }>`insert into whitelist (ip, description, expires_at, created_by, created_at, updated_at)
          select value ->> 0, value ->> 1, (value ->> 2)::bigint, ${author}, ${now}::bigint, ${now}::bigint
          from jsonb_array_elements(${json}::jsonb) with ordinality as given (value, place) order by place
          on conflict (ip) do nothing returning id, ip`
  const { rows } = await query.execute(sql)
  return rows.sort((a, b) => a.id - b.id)
}
export const changeEntry = (
  sql: Sql,
  id: number,
  set: { readonly description?: string; readonly expires_at?: number | null },
  now: number,
): Promise<EntryRow | undefined> =>
  sql
    .updateTable('whitelist')
    .set({ ...set, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
/** Takes away those that there still are, in the order of their ids. */
export const deleteEntries = async (sql: Sql, ids: readonly number[]): Promise<EntryRow[]> => {
  const rows = await sql.deleteFrom('whitelist').where('id', 'in', ids).returningAll().execute()
  return rows.sort((a, b) => a.id - b.id)
}

/** Whether some entry is over, and whether any has an end at all. */
export const hasEnded = async (sql: Sql, now: number): Promise<boolean> =>
  (await sql.selectFrom('whitelist').select('id').where('expires_at', '<=', now).limit(1).executeTakeFirst()) !==
  undefined
export const hasEnds = async (sql: Sql): Promise<boolean> =>
  (await sql.selectFrom('whitelist').select('id').where('expires_at', 'is not', null).limit(1).executeTakeFirst()) !==
  undefined
/** Takes away some of the entries that are over, in the order of their ids. */
export const deleteEnded = async (sql: Sql, now: number, most: number): Promise<EntryRow[]> => {
  const rows = await sql
    .deleteFrom('whitelist')
    .where('id', 'in', query => query.selectFrom('whitelist').select('id').where('expires_at', '<=', now).limit(most))
    .where('expires_at', '<=', now)
    .returningAll()
    .execute()
  return rows.sort((a, b) => a.id - b.id)
}

export interface ActiveAddress {
  readonly server_no: number
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly banned_at: number
  readonly ban_id: number
}
const columns = raw`active_bans.server_no, active_bans.ip, active_bans.prefix, active_bans.banned_at, active_bans.ban_id`
const isActive = (now: number) => raw`(active_bans.expires_at is null or active_bans.expires_at > ${now})`
const joined = raw`bans join active_bans on active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id`
/**
 * Active bans of what lies within a range, and of wider ranges that hold it. Single addresses and the wider ranges are found
 * by the address's index, the inside of a range by a walk over what is active.
 */
export const activeTouching = async (sql: Sql, range: IpRange, now: number): Promise<ActiveAddress[]> => {
  const inside =
    range.prefix === null
      ? raw<ActiveAddress>`select ${columns} from ${joined} where bans.ip = ${range.bytes} and bans.prefix is null
          and ${isActive(now)}`
      : raw<ActiveAddress>`select ${columns} from active_bans where ip >= ${range.bytes} and ip <= ${lastOf(range)}
          and length(ip) = ${range.bytes.length} and (prefix is null or prefix >= ${range.prefix}) and ${isActive(now)}`
  const length = range.prefix ?? range.bytes.length * 8
  const wider = Array.from({ length }, (_, prefix) => startOf(range.bytes, prefix))
  const around = raw<ActiveAddress>`select ${columns} from ${joined} where bans.ip in (${raw.join(wider)})
    and bans.prefix < ${length} and ${isActive(now)}`
  const [within, holding] = [await inside.execute(sql), await around.execute(sql)]
  return [
    ...within.rows,
    ...holding.rows.filter(
      row => row.prefix !== null && covers({ bytes: row.ip, prefix: row.prefix, text: '' }, range),
    ),
  ]
}
/** The first address of the range of that length around an address. */
const startOf = (bytes: Uint8Array, prefix: number): Uint8Array =>
  bytes.map((byte, index) => byte & (0xff << (8 - Math.min(8, Math.max(0, prefix - index * 8)))))
/** Some of all active bans, oldest first, after the one given. */
export const activeAfter = async (
  sql: Sql,
  after: { readonly banned_at: number; readonly ban_id: number },
  now: number,
  most: number,
): Promise<ActiveAddress[]> =>
  (
    await raw<ActiveAddress>`select ${columns} from active_bans
      where (banned_at, ban_id) > (${after.banned_at}, ${after.ban_id}) and ${isActive(now)}
      order by banned_at, ban_id limit ${most}`.execute(sql)
  ).rows
/** Descriptions of these entries by their ids. */
export const descriptionsOf = async (sql: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await sql.selectFrom('whitelist').select(['id', 'description']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, description }) => [id, description]))
}
