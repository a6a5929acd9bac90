import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { among, upsert } from '../../db/given.ts'
import type { Upsert } from '../../db/given.ts'
import type {
  BlocklistContentsTable,
  BlocklistCoverageTable,
  BlocklistHostsTable,
  BlocklistsTable,
} from '../../db/tables/policy.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type BlocklistRow = Selectable<BlocklistsTable>
export type BlocklistHostRow = Selectable<BlocklistHostsTable>
export type BlocklistContent = Omit<Selectable<BlocklistContentsTable>, 'list_id'>

export const readVersion = async (sql: Sql): Promise<number> =>
  (await sql.selectFrom('blocklist_state').select('version').executeTakeFirstOrThrow()).version
/** Raises the version of all lists and keeps everybody else from changing lists until the commit. */
export const raiseVersion = async (sql: Sql, now: number): Promise<number> => {
  const { version } = await sql
    .updateTable('blocklist_state')
    .set({ version: raw`case when version < ${now} then ${now} else version + 1 end` })
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

export const allLists = (sql: Sql): Promise<BlocklistRow[]> =>
  sql.selectFrom('blocklists').selectAll().orderBy('id').execute()
export const findList = (sql: Sql, id: number): Promise<BlocklistRow | undefined> =>
  sql.selectFrom('blocklists').selectAll().where('id', '=', id).executeTakeFirst()
export const insertList = (sql: Sql, row: Insertable<BlocklistsTable>): Promise<BlocklistRow> =>
  sql.insertInto('blocklists').values(row).returningAll().executeTakeFirstOrThrow()
export const updateList = (
  sql: Sql,
  id: number,
  set: Partial<Omit<BlocklistRow, 'id'>>,
): Promise<BlocklistRow | undefined> =>
  sql.updateTable('blocklists').set(set).where('id', '=', id).returningAll().executeTakeFirst()
export const deleteList = async (sql: Sql, id: number): Promise<void> => {
  await sql.deleteFrom('blocklist_contents').where('list_id', '=', id).execute()
  await sql.deleteFrom('blocklist_hosts').where('list_id', '=', id).execute()
  await sql.deleteFrom('blocklist_hits').where('list_id', '=', id).execute()
  await sql.deleteFrom('blocklists').where('id', '=', id).execute()
}
/** Lists whose source is due, the longest waiting first. */
export const dueLists = (sql: Sql, now: number, most: number): Promise<BlocklistRow[]> =>
  sql
    .selectFrom('blocklists')
    .selectAll()
    .where('next_at', '<=', now)
    .where('mode', '!=', 'off')
    .orderBy('next_at')
    .limit(most)
    .execute()

export const contentOf = (sql: Sql, id: number): Promise<BlocklistContent | undefined> =>
  sql.selectFrom('blocklist_contents').select(['raw', 'entries']).where('list_id', '=', id).executeTakeFirst()
export const entriesBlobOf = (sql: Sql, id: number): Promise<{ version: number; entries: Uint8Array } | undefined> =>
  sql
    .selectFrom('blocklist_contents')
    .innerJoin('blocklists', 'blocklists.id', 'blocklist_contents.list_id')
    .select(['blocklists.version', 'blocklist_contents.entries'])
    .where('list_id', '=', id)
    .executeTakeFirst()
export const saveContent = async (sql: Sql, id: number, content: BlocklistContent): Promise<void> => {
  await sql
    .insertInto('blocklist_contents')
    .values({ list_id: id, ...content })
    .onConflict(on => on.column('list_id').doUpdateSet(content))
    .execute()
}

export const allHostRows = (sql: Sql): Promise<BlocklistHostRow[]> =>
  sql.selectFrom('blocklist_hosts').selectAll().execute()
export const hostRowsOf = (sql: Sql, engine: Engine, serverNos: readonly number[]): Promise<BlocklistHostRow[]> =>
  sql
    .selectFrom('blocklist_hosts')
    .selectAll()
    .where(among(engine, 'server_no', serverNos))
    .execute()
const saidHostRows: Upsert<BlocklistHostRow> = {
  table: 'blocklist_hosts',
  columns: {
    server_no: 'bigint',
    list_id: 'bigint',
    version: 'bigint',
    mode: 'text',
    held: 'bigint',
    error: 'text',
    acked_at: 'bigint',
    packets: 'bigint',
  },
  key: ['server_no', 'list_id'],
  kept: ['packets'],
}
/** What hosts said of lists. Their packets stay. */
export const saveHostRows = (
  sql: Sql,
  engine: Engine,
  hostRows: readonly Omit<BlocklistHostRow, 'packets'>[],
): Promise<void> =>
  upsert(
    sql,
    engine,
    saidHostRows,
    hostRows.map(row => ({ ...row, packets: 0 })),
  )
export const savePackets = async (
  sql: Sql,
  serverNo: number,
  rows: readonly { readonly id: number; readonly packets: number }[],
): Promise<void> => {
  await sql
    .insertInto('blocklist_hosts')
    .values(
      rows.map(({ id, packets }) => ({
        server_no: serverNo,
        list_id: id,
        packets,
        version: null,
        mode: null,
        held: null,
        error: null,
        acked_at: null,
      })),
    )
    .onConflict(on =>
      on.columns(['server_no', 'list_id']).doUpdateSet(({ ref }) => ({ packets: ref('excluded.packets') })),
    )
    .execute()
}
export const addHits = async (
  sql: Sql,
  hour: number,
  rows: readonly { readonly id: number; readonly packets: number }[],
): Promise<void> => {
  if (rows.length === 0) return
  await sql
    .insertInto('blocklist_hits')
    .values(rows.map(({ id, packets }) => ({ list_id: id, hour, packets })))
    .onConflict(on =>
      on.columns(['list_id', 'hour']).doUpdateSet({ packets: raw`blocklist_hits.packets + excluded.packets` }),
    )
    .execute()
}
export const hitsSince = (sql: Sql, hour: number): Promise<{ list_id: number; hour: number; packets: number }[]> =>
  sql.selectFrom('blocklist_hits').selectAll().where('hour', '>', hour).execute()
export const deleteHitsBefore = async (sql: Sql, hour: number): Promise<void> => {
  await sql.deleteFrom('blocklist_hits').where('hour', '<', hour).execute()
}

type Coverage = Selectable<BlocklistCoverageTable>
export const coverageOf = (sql: Sql): Promise<Coverage[]> => sql.selectFrom('blocklist_coverage').selectAll().execute()
const saidCoverage: Upsert<Coverage> = {
  table: 'blocklist_coverage',
  columns: { server_no: 'bigint', not_covered: 'text' },
  key: ['server_no'],
}
export const saveCoverage = (sql: Sql, engine: Engine, coverage: readonly Coverage[]): Promise<void> =>
  upsert(sql, engine, saidCoverage, coverage)

/** Addresses of signed-in users. */
export const sessionAddresses = async (sql: Sql): Promise<string[]> =>
  (await sql.selectFrom('sessions').select('ip_address').distinct().execute()).map(row => row.ip_address)
