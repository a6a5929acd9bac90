import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import type { ServerRow } from './servers.store.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'

type Sql = Kysely<Schema>

const chunk = 500
const most = 20_000
/** Servers share few lists of tags, so each text is parsed once. */
const lists = new Map<string, readonly string[]>()

export const tagsOf = ({ tags: text }: Pick<ServerRow, 'tags'>): readonly string[] => {
  const cachedTags = lists.get(text)
  if (cachedTags) return cachedTags
  const list = parseJson(text)
  if (lists.size >= most) lists.clear()
  lists.set(text, list)
  return list
}

/** Keeps these servers from being changed until the commit. In the order of their numbers, so that no two changes wait for each other. */
export const lockServers = async (sql: Sql, engine: Engine, nos: readonly number[]): Promise<ServerRow[]> => {
  const sorted = [...new Set(nos)].sort((a, b) => a - b)
  const rows: ServerRow[] = []
  for (let start = 0; start < sorted.length; start += chunk) {
    const query = sql
      .selectFrom('servers')
      .selectAll()
      .where('no', 'in', sorted.slice(start, start + chunk))
      .where('deleted_at', 'is', null)
      .orderBy('no')
    rows.push(...(await (engine === 'postgres' ? query.forUpdate() : query).execute()))
  }
  return rows
}
/** Gives these servers exactly these tags. Returns the rows as they are then. */
export const saveTags = async (
  sql: Sql,
  nos: readonly number[],
  tags: readonly string[],
  at: number,
): Promise<ServerRow[]> => {
  const rows: ServerRow[] = []
  for (let start = 0; start < nos.length; start += chunk)
    rows.push(
      ...(await sql
        .updateTable('servers')
        .set({ tags: jsonText(tags), updated_at: at })
        .where('no', 'in', nos.slice(start, start + chunk))
        .returningAll()
        .execute()),
    )
  return rows
}
export const addTag = async (sql: Sql, tag: string, nos: readonly number[]): Promise<void> => {
  for (let start = 0; start < nos.length; start += chunk)
    await sql
      .insertInto('server_tags')
      .values(nos.slice(start, start + chunk).map(server_no => ({ tag, server_no })))
      .execute()
}
export const removeTag = async (sql: Sql, tag: string, nos: readonly number[]): Promise<void> => {
  for (let start = 0; start < nos.length; start += chunk)
    await sql
      .deleteFrom('server_tags')
      .where('tag', '=', tag)
      .where('server_no', 'in', nos.slice(start, start + chunk))
      .execute()
}
export const removeTagsOf = async (sql: Sql, serverNo: number): Promise<void> => {
  await sql.deleteFrom('server_tags').where('server_no', '=', serverNo).execute()
}
