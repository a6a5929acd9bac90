import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
import type { TemplatesTable, TemplateSnapshotsTable } from '../../db/tables/commands.ts'

export type TemplateRow = Selectable<TemplatesTable>
export type SnapshotRow = Selectable<TemplateSnapshotsTable>
type Sql = Kysely<Schema>

export const allTemplateRows = (sql: Sql): Promise<TemplateRow[]> =>
  sql.selectFrom('templates').selectAll().orderBy('id').execute()
export const findTemplateRow = (sql: Sql, id: number): Promise<TemplateRow | undefined> =>
  sql.selectFrom('templates').selectAll().where('id', '=', id).executeTakeFirst()
export const findTemplateRowByName = (sql: Sql, name: string): Promise<TemplateRow | undefined> =>
  sql.selectFrom('templates').selectAll().where('name', '=', name).executeTakeFirst()
export const countTemplates = (sql: Sql): Promise<number> => rowCount(sql.selectFrom('templates'))
/** Null when the name is taken. */
export const insertTemplate = async (sql: Sql, row: Insertable<TemplatesTable>): Promise<TemplateRow | null> =>
  (await sql
    .insertInto('templates')
    .values(row)
    .onConflict(conflict => conflict.column('name').doNothing())
    .returningAll()
    .executeTakeFirst()) ?? null
export const changeTemplate = (
  sql: Sql,
  id: number,
  set: Updateable<TemplatesTable>,
): Promise<TemplateRow | undefined> =>
  sql.updateTable('templates').set(set).where('id', '=', id).returningAll().executeTakeFirst()
export const deleteTemplateRow = async (sql: Sql, id: number): Promise<boolean> => {
  const { numDeletedRows } = await sql.deleteFrom('templates').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Kept once for each content, however many commands carry it. */
export const keepSnapshot = async (sql: Sql, row: Insertable<TemplateSnapshotsTable>): Promise<void> => {
  await sql
    .insertInto('template_snapshots')
    .values(row)
    .onConflict(conflict => conflict.column('hash').doNothing())
    .execute()
}
export const findSnapshots = async (sql: Sql, hashes: readonly string[]): Promise<SnapshotRow[]> =>
  hashes.length === 0 ? [] : sql.selectFrom('template_snapshots').selectAll().where('hash', 'in', hashes).execute()
