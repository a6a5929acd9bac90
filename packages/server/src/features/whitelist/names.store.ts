import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { WhitelistNamesTable, WhitelistTable } from '../../db/tables/policy.ts'

type Sql = Kysely<Schema>
export type NameRow = Selectable<WhitelistNamesTable>

/** All names, in the order of insertion. There are few (`bounds.whitelistNames.count`). */
export const allNames = (sql: Sql): Promise<NameRow[]> =>
  sql.selectFrom('whitelist_names').selectAll().orderBy('id').execute()
export const dueNames = (sql: Sql, now: number): Promise<NameRow[]> =>
  sql.selectFrom('whitelist_names').selectAll().where('next_at', '<=', now).orderBy('next_at').execute()
export const insertName = (sql: Sql, name: Insertable<WhitelistNamesTable>): Promise<NameRow> =>
  sql.insertInto('whitelist_names').values(name).returningAll().executeTakeFirstOrThrow()
export const updateName = async (sql: Sql, id: number, set: Updateable<WhitelistNamesTable>): Promise<void> => {
  await sql.updateTable('whitelist_names').set(set).where('id', '=', id).execute()
}
export const deleteName = (sql: Sql, id: number): Promise<NameRow | undefined> =>
  sql.deleteFrom('whitelist_names').where('id', '=', id).returningAll().executeTakeFirst()

/** The entries that are addresses of names. */
export const entriesOfNames = (sql: Sql): Promise<Selectable<WhitelistTable>[]> =>
  sql.selectFrom('whitelist').selectAll().where('name_id', 'is not', null).orderBy('id').execute()
/** Says whose address these entries are. */
export const giveToName = async (
  sql: Sql,
  ids: readonly number[],
  set: { readonly name_id: number; readonly description?: string; readonly created_by?: string },
): Promise<void> => {
  await sql.updateTable('whitelist').set(set).where('id', 'in', ids).execute()
}
