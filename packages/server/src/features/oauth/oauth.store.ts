import type { Insertable, Kysely, Selectable } from 'kysely'
import type { OauthStatesTable } from '../../db/tables/accounts.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
type StateRow = Selectable<OauthStatesTable>

/** Keeps what a sign-in by a provider needs when the browser comes back. */
export const addState = (sql: Sql, row: Insertable<OauthStatesTable>) =>
  sql.insertInto('oauth_states').values(row).execute()
/** Removes a state and returns it, so that it is good once. */
export const takeState = (sql: Sql, hash: string): Promise<StateRow | undefined> =>
  sql.deleteFrom('oauth_states').where('hash', '=', hash).returningAll().executeTakeFirst()
export const removeStatesBefore = (sql: Sql, at: number) =>
  sql.deleteFrom('oauth_states').where('created_at', '<', at).execute()
