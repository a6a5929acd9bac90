import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { AuditChainTable, AuditCheckpointsTable, EventsTable, Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type Entry = Selectable<Omit<EventsTable, 'xid'>>
export type Link = Selectable<AuditChainTable>
export type Checkpoint = Selectable<AuditCheckpointsTable>

const columns = raw`events.id, events.at, events.name, actor, actor_user_id, actor_ip, server_no, ban_id, data`

/** Entries that no link stands for yet, from that time on. */
export const unlinked = async (sql: Sql, since: number, most: number): Promise<Entry[]> => {
  const { rows } = await raw<Entry>`select ${columns} from audit join events on events.id = audit.event_id
    left join audit_chain on audit_chain.event_id = audit.event_id
    where audit.at >= ${since} and audit_chain.seq is null order by audit.event_id limit ${most}`.execute(sql)
  return rows
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
/** Links after one, with what they stand for; the entry is null where it is gone. */
export const linksAfter = async (
  sql: Sql,
  seq: number,
  most: number,
): Promise<{ readonly link: Link; readonly entry: Entry | null }[]> => {
  const { rows } = await raw<
    { seq: number; event_id: number; linked_at: number; hash: string; listed: number | null } & Entry
  >`select audit_chain.seq, audit_chain.event_id, audit_chain.at as linked_at, audit_chain.hash, audit.event_id as listed,
      ${columns} from audit_chain left join audit on audit.event_id = audit_chain.event_id
      left join events on events.id = audit_chain.event_id
    where audit_chain.seq > ${seq} order by audit_chain.seq limit ${most}`.execute(sql)
  return rows.map(({ seq: place, event_id, linked_at, hash, listed, ...entry }) => ({
    link: { seq: place, event_id, at: linked_at, hash },
    entry: listed === null || (entry.id as number | null) === null ? null : entry,
  }))
}
