import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import type { KnockOpeningsTable } from '../../db/tables/knock.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type OpeningRow = Selectable<KnockOpeningsTable>

export interface NewOpening extends Pick<
  OpeningRow,
  'id' | 'server_no' | 'sequence_id' | 'ip' | 'opened_at' | 'expires_at' | 'revision' | 'confirmed_at'
> {
  readonly now: number
}
/**
 * Opens for an address, or extends what is open for it. Null where it was closed since `opened_at`: the closing stands.
 * `insist` opens all the same.
 */
export const putOpening = async (sql: Sql, opening: NewOpening, insist: boolean): Promise<OpeningRow | null> => {
  const { id, server_no, sequence_id, ip, opened_at, expires_at, revision, confirmed_at, now } = opening
  const isOpen = raw`knock_openings.closed_at is null and knock_openings.expires_at > ${now}`
  const { rows } = await raw<OpeningRow>`insert into knock_openings
      (server_no, sequence_id, ip, id, opened_at, expires_at, revision, confirmed_at)
    values (${server_no}, ${sequence_id}, ${ip}, ${id}, ${opened_at}, ${expires_at}, ${revision}, ${confirmed_at})
    on conflict (server_no, sequence_id, ip) do update set
      id = case when ${isOpen} then knock_openings.id else excluded.id end,
      opened_at = case when ${isOpen} then knock_openings.opened_at else excluded.opened_at end,
      expires_at = case when ${isOpen} and knock_openings.expires_at > excluded.expires_at
        then knock_openings.expires_at else excluded.expires_at end,
      revision = excluded.revision, confirmed_at = excluded.confirmed_at, closed_at = null, cut_until = null
    ${insist ? raw`` : raw`where knock_openings.closed_at is null or knock_openings.closed_at < excluded.opened_at`}
    returning *`.execute(sql)
  return rows[0] ?? null
}
export const countOpenings = (sql: Sql, serverNo: number, now: number): Promise<number> =>
  rowCount(
    sql
      .selectFrom('knock_openings')
      .where('server_no', '=', serverNo)
      .where('closed_at', 'is', null)
      .where('expires_at', '>', now),
  )
export const isOpenFor = async (
  sql: Sql,
  { server_no, sequence_id, ip, now }: Pick<NewOpening, 'server_no' | 'sequence_id' | 'ip' | 'now'>,
): Promise<boolean> =>
  (await sql
    .selectFrom('knock_openings')
    .select('id')
    .where('server_no', '=', server_no)
    .where('sequence_id', '=', sequence_id)
    .where('ip', '=', ip)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()) !== undefined
export const findOpening = (sql: Sql, id: string): Promise<OpeningRow | undefined> =>
  sql.selectFrom('knock_openings').selectAll().where('id', '=', id).executeTakeFirst()

const onServers = (servers: ServerScope) => (servers === 'all' ? null : [...servers])
export const openNow = (sql: Sql, servers: ServerScope, now: number) => {
  const nos = onServers(servers)
  return sql
    .selectFrom('knock_openings as opening')
    .innerJoin('knock_sequences as sequence', 'sequence.id', 'opening.sequence_id')
    .selectAll('opening')
    .select(['sequence.name', 'sequence.protected_port'])
    .where('opening.closed_at', 'is', null)
    .where('opening.expires_at', '>', now)
    .$if(nos !== null, query => query.where('opening.server_no', 'in', nos?.length ? nos : [-1]))
    .orderBy('opening.opened_at', 'desc')
    .orderBy('opening.id', 'desc')
    .execute()
}
/** Null where it was closed or over already. */
export const closeOpening = async (
  sql: Sql,
  id: string,
  now: number,
  cutUntil: number | null,
): Promise<OpeningRow | null> =>
  (await sql
    .updateTable('knock_openings')
    .set({ closed_at: now, cut_until: cutUntil })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()) ?? null

export const blockedNow = (sql: Sql, servers: ServerScope, now: number) => {
  const nos = onServers(servers)
  return sql
    .selectFrom('knock_blocked as blocked')
    .innerJoin('knock_sequences as sequence', 'sequence.id', 'blocked.sequence_id')
    .selectAll('blocked')
    .select('sequence.name')
    .where('blocked.unblocked_at', 'is', null)
    .where('blocked.expires_at', '>', now)
    .$if(nos !== null, query => query.where('blocked.server_no', 'in', nos?.length ? nos : [-1]))
    .orderBy('blocked.blocked_at', 'desc')
    .orderBy('blocked.ip')
    .execute()
}
/** On which of the servers the address is blocked. */
export const serversThatBlock = async (sql: Sql, ip: string, servers: ServerScope, now: number): Promise<number[]> => {
  const nos = onServers(servers)
  const rows = await sql
    .selectFrom('knock_blocked')
    .select('server_no')
    .distinct()
    .where('ip', '=', ip)
    .where('unblocked_at', 'is', null)
    .where('expires_at', '>', now)
    .$if(nos !== null, query => query.where('server_no', 'in', nos?.length ? nos : [-1]))
    .execute()
  return rows.map(({ server_no }) => server_no)
}
export const unblockOn = async (sql: Sql, ip: string, serverNos: readonly number[], now: number): Promise<number> => {
  const { numUpdatedRows } = await sql
    .updateTable('knock_blocked')
    .set({ unblocked_at: now })
    .where('ip', '=', ip)
    .where('server_no', 'in', serverNos)
    .where('unblocked_at', 'is', null)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
