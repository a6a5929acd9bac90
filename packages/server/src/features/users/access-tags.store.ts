import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { UsersTable } from '../../db/tables/accounts.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { parseJson } from '../../core/json-text.ts'

type Sql = Kysely<Schema>

export const accessTagsOf = ({ access_tags }: { readonly access_tags: UsersTable['access_tags'] }): readonly string[] =>
  access_tags === null ? [] : parseJson(access_tags)

/**
 * The tags that the access of users, and of API keys that are still good, depends on. Keys of those who are not administrators do not
 * count: they never reach beyond their owner, and anybody may make one.
 * @param lock where several processes write: nobody changes such access until the commit, so that the answer still holds then
 */
export const accessTags = async (sql: Sql, now: number, lock?: Engine): Promise<ReadonlySet<string>> => {
  if (lock === 'postgres') await raw`lock table users, api_keys in share mode`.execute(sql)
  const users = await sql.selectFrom('users').select('access_tags').where('access_tags', 'is not', null).execute()
  const keys = await sql
    .selectFrom('api_keys')
    .leftJoin('users', 'users.id', 'api_keys.user_id')
    .select('api_keys.access_tags')
    .where('api_keys.access_tags', 'is not', null)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where(eb => eb.or([eb('users.role', 'is', null), eb('users.role', '=', 'Admin')]))
    .execute()
  return new Set([...users, ...keys].flatMap(accessTagsOf))
}
/** Numbers of the servers that have at least one of the tags. */
export const serversWithTags = async (sql: Sql, tags: readonly string[]): Promise<ReadonlySet<number>> => {
  if (tags.length === 0) return new Set()
  const rows = await sql.selectFrom('server_tags').select('server_no').where('tag', 'in', tags).execute()
  return new Set(rows.map(({ server_no }) => server_no))
}
