import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { ApiKeysTable } from '../../db/tables/accounts.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

export type KeyRow = Selectable<ApiKeysTable>
type Sql = Kysely<Schema>

export const insertKey = (sql: Sql, row: Insertable<ApiKeysTable>): Promise<KeyRow> =>
  sql.insertInto('api_keys').values(row).returningAll().executeTakeFirstOrThrow()

export const allKeys = (sql: Sql): Promise<KeyRow[]> => sql.selectFrom('api_keys').selectAll().execute()
export const findKey = (sql: Sql, id: number): Promise<KeyRow | undefined> =>
  sql.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
export const findKeyByHash = (sql: Sql, hash: string): Promise<KeyRow | undefined> =>
  sql.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst()

/**
 * A place among the changes of keys: whatever is changed or committed after this answer stands at it or behind. On PostgreSQL it is the oldest
 * transaction that still runs, because transactions do not end in the order of their ids.
 */
export const keyChangesPlace = async (sql: Sql, engine: Engine): Promise<string> => {
  const { rows } =
    engine === 'sqlite'
      ? await raw<{ place: string }>`select cast(coalesce(max(place), 0) as text) as place from key_changes`.execute(
          sql,
        )
      : await raw<{ place: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as place`.execute(sql)
  return rows[0]?.place ?? '0'
}
/** The keys that changed from a place on, as they are now; null for those that are gone. */
export const keysChangedSince = async (
  sql: Sql,
  engine: Engine,
  place: string,
): Promise<ReadonlyMap<string, KeyRow | null>> => {
  const since = engine === 'sqlite' ? raw`cast(${place} as integer)` : raw`${place}::xid8`
  const { rows: changes } = await raw<{
    hash: string
  }>`select distinct hash from key_changes where place >= ${since}`.execute(sql)
  const hashes = changes.map(({ hash }) => hash)
  const rowByHash = new Map<string, KeyRow | null>(hashes.map(hash => [hash, null]))
  // SQLite takes 32,766 values in a statement.
  for (let from = 0; from < hashes.length; from += 1000)
    for (const row of await sql
      .selectFrom('api_keys')
      .selectAll()
      .where('hash', 'in', hashes.slice(from, from + 1000))
      .execute())
      rowByHash.set(row.hash, row)
  return rowByHash
}
/** By the clock of the database, which also noted them. */
export const removeOldKeyChanges = async (sql: Sql, engine: Engine, hours: number): Promise<void> => {
  const now = engine === 'sqlite' ? raw`unixepoch() * 1000` : raw`(extract(epoch from now()) * 1000)::bigint`
  await raw`delete from key_changes where changed_at < ${now} - ${hours * 3_600_000}`.execute(sql)
}

export const removeKey = async (sql: Sql, id: number): Promise<void> => {
  await sql.deleteFrom('api_keys').where('id', '=', id).execute()
}
/** The keys that a user made; null: those that belong to nobody. */
export const countKeysOf = (sql: Sql, userId: number | null): Promise<number> =>
  rowCount(
    sql
      .selectFrom('api_keys')
      .where('kind', '=', 'user')
      .where('user_id', userId === null ? 'is' : '=', userId),
  )
export const removeKeysOf = (sql: Sql, userId: number): Promise<KeyRow[]> =>
  sql.deleteFrom('api_keys').where('user_id', '=', userId).returningAll().execute()
/** The keys that are bound to a server and still good. */
export const keysOfServer = (sql: Sql, serverNo: number, now: number): Promise<KeyRow[]> =>
  sql
    .selectFrom('api_keys')
    .selectAll()
    .where('server_no', '=', serverNo)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('id')
    .execute()
/** The keys of a server's earlier agents. */
export const agentKeysOf = (sql: Sql, serverNo: number, except: number): Promise<KeyRow[]> =>
  sql
    .selectFrom('api_keys')
    .selectAll()
    .where('server_no', '=', serverNo)
    .where('kind', '=', 'agent')
    .where('id', '!=', except)
    .execute()
export const removeKeysOfServer = async (sql: Sql, serverNo: number): Promise<void> => {
  await sql.deleteFrom('api_keys').where('server_no', '=', serverNo).execute()
}
export const expireKey = async (sql: Sql, id: number, at: number): Promise<void> => {
  await sql
    .updateTable('api_keys')
    .set({ expires_at: at })
    .where('id', '=', id)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .execute()
}
/** One statement for all keys of a process, which every host's is among. Another process may have seen a key later. */
export const touchKeys = async (
  sql: Sql,
  engine: Engine,
  used: ReadonlyMap<number, { readonly at: number; readonly from: string }>,
): Promise<void> => {
  const json = JSON.stringify([...used].map(([id, { at, from }]) => ({ id, used_at: at, used_from: from })))
  const isLater = raw`(last_used is null or last_used <= used_at)`
  // PostgreSQL locks in one order everywhere, so that two processes never wait for each other in a circle.
  const later =
    engine === 'sqlite'
      ? raw`select value ->> 'id' as used_id, value ->> 'used_at' as used_at, value ->> 'used_from' as used_from from json_each(${json})`
      : raw`select api_keys.id as used_id, used_at, used_from
          from jsonb_to_recordset(${json}::jsonb) as given (id bigint, used_at bigint, used_from text)
            join api_keys on api_keys.id = given.id
          where ${isLater} order by api_keys.id for update of api_keys`
  await raw`with later as (${later})
    update api_keys set last_used = used_at, last_used_from = used_from from later where id = used_id and ${isLater}`.execute(
    sql,
  )
}
export const keysOf = (sql: Sql, userId: number): Promise<(KeyRow & { server_id: string | null })[]> =>
  sql
    .selectFrom('api_keys')
    .leftJoin('servers', 'servers.no', 'api_keys.server_no')
    .selectAll('api_keys')
    .select('servers.id as server_id')
    .where('api_keys.user_id', '=', userId)
    .orderBy('api_keys.id')
    .execute()
