import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { AuditChainTable, AuditCheckpointsTable, EventsTable } from '../../db/tables/service.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type Entry = Selectable<Omit<EventsTable, 'xid'>>
export type Link = Selectable<AuditChainTable>
export type Checkpoint = Selectable<AuditCheckpointsTable>

const columns = raw`events.id, events.at, events.name, actor, actor_user_id, actor_ip, server_no, ban_id, data`

/** Where a walk through the audit log is: entries are ordered by their time, then by their id. */
export interface AuditPosition {
  readonly at: number
  readonly event_id: number
}
/** Rows of the log that one statement walks through. */
const walkedRows = 2000

/** An entry by a left join: its id is null where there is none. */
type Joined = Entry | (Omit<Entry, 'id'> & { readonly id: null })

/**
 * Walks through the entries after a position and returns those of one page that have no link yet. `last` is where the next
 * page continues. The rows walked are bounded, not the rows found: a statement stays short after an import of 100,000 entries.
 */
export const unlinkedAfter = async (
  sql: Sql,
  after: AuditPosition,
): Promise<{ readonly entries: Entry[]; readonly last: AuditPosition; readonly isLast: boolean }> => {
  const { rows } = await raw<{ walked_at: number; event_id: number } & Joined>`
    select page.at as walked_at, page.event_id, events.id, events.at, events.name, actor, actor_user_id, actor_ip, server_no, ban_id, data
    from (select at, event_id from audit where (at, event_id) > (${after.at}, ${after.event_id})
      order by at, event_id limit ${walkedRows}) page
    left join audit_chain on audit_chain.event_id = page.event_id
    left join events on events.id = page.event_id and audit_chain.seq is null
    order by page.at, page.event_id`.execute(sql)
  const end = rows.at(-1)
  return {
    entries: rows.flatMap(({ event_id: _, walked_at: __, ...entry }) => (entry.id === null ? [] : [entry])),
    last: end ? { at: Number(end.walked_at), event_id: Number(end.event_id) } : after,
    isLast: rows.length < walkedRows,
  }
}
export const lastLink = (sql: Sql): Promise<Link | undefined> =>
  sql.selectFrom('audit_chain').selectAll().orderBy('seq', 'desc').limit(1).executeTakeFirst()
export const addLinks = async (sql: Sql, links: readonly Link[]): Promise<void> => {
  await sql
    .insertInto('audit_chain')
    .values([...links])
    .execute()
}
export const lastCheckpoint = (sql: Sql): Promise<Checkpoint | undefined> =>
  sql.selectFrom('audit_checkpoints').selectAll().orderBy('number', 'desc').limit(1).executeTakeFirst()
/** When the last checkpoint of a day was signed, or else the first entry recorded; undefined where there is none. */
export const lastSigned = async (sql: Sql): Promise<number | undefined> => {
  const point = await sql
    .selectFrom('audit_checkpoints')
    .select(eb => eb.fn.max('at').as('at'))
    .where('kind', '=', 'daily')
    .executeTakeFirst()
  if (point?.at) return Number(point.at)
  const link = await sql.selectFrom('audit_chain').select('at').orderBy('seq').limit(1).executeTakeFirst()
  return link && Number(link.at)
}
export const allCheckpoints = (sql: Sql): Promise<Checkpoint[]> =>
  sql.selectFrom('audit_checkpoints').selectAll().orderBy('number').execute()
export const addCheckpoint = async (sql: Sql, row: Checkpoint): Promise<void> => {
  await sql.insertInto('audit_checkpoints').values(row).execute()
}
/** The last link of those before that time, which the first later one follows; undefined where there is none. */
export const lastLinkBefore = async (sql: Sql, at: number): Promise<Link | undefined> => {
  const later = await sql
    .selectFrom('audit_chain')
    .select('seq')
    .where('at', '>=', at)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return sql
    .selectFrom('audit_chain')
    .selectAll()
    .$if(later !== undefined, query => query.where('seq', '<', later?.seq ?? 0))
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
}
export const removeLinksTo = async (sql: Sql, seq: number): Promise<void> => {
  await sql.deleteFrom('audit_chain').where('seq', '<=', seq).execute()
}
/** Links after one, with their entries; null where the entry is gone. */
export const linksAfter = async (
  sql: Sql,
  seq: number,
  most: number,
): Promise<{ readonly link: Link; readonly entry: Entry | null }[]> => {
  const { rows } = await raw<
    { seq: number; event_id: number; linked_at: number; hash: string; listed: number | null } & Joined
  >`select audit_chain.seq, audit_chain.event_id, audit_chain.at as linked_at, audit_chain.hash, audit.event_id as listed,
      ${columns} from audit_chain left join audit on audit.event_id = audit_chain.event_id
      left join events on events.id = audit_chain.event_id
    where audit_chain.seq > ${seq} order by audit_chain.seq limit ${most}`.execute(sql)
  return rows.map(({ seq: place, event_id, linked_at, hash, listed, ...entry }) => ({
    link: { seq: place, event_id, at: linked_at, hash },
    entry: listed === null || entry.id === null ? null : entry,
  }))
}
