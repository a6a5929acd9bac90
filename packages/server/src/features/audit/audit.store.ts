import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder, Selectable } from 'kysely'
import { eventKinds } from '@stockade/contract'
import type { EventsTable, Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type AuditRow = Pick<Selectable<EventsTable>, 'id' | 'at' | 'name' | 'actor' | 'actor_ip' | 'data'>
export interface AuditFilter {
  readonly userId?: number
  /** Exact, or a beginning that ends in a dot. */
  readonly action?: string
  readonly from?: number
  readonly to?: number
}

const audited = Object.entries(eventKinds).flatMap(([name, kind]) => (kind.audited ? [name] : []))
/** The names that an action stands for; null: all. */
const namesOf = (action: string | undefined): readonly string[] | null =>
  action === undefined ? null : action.endsWith('.') ? audited.filter(name => name.startsWith(action)) : [action]

const all = (parts: readonly RawBuilder<unknown>[]) =>
  parts.length === 0 ? raw`1 = 1` : raw.join([...parts], raw` and `)
const commonTo = (filter: AuditFilter) => [
  ...(filter.userId === undefined ? [] : [raw`user_id = ${filter.userId}`]),
  ...(filter.from === undefined ? [] : [raw`at >= ${filter.from}`]),
  ...(filter.to === undefined ? [] : [raw`at < ${filter.to}`]),
]

/** Answered from an index alone, whatever the filter. */
export const countAudit = async (sql: Sql, filter: AuditFilter): Promise<number> => {
  const names = namesOf(filter.action)
  if (names?.length === 0) return 0
  const parts = [...commonTo(filter), ...(names ? [raw`name in (${raw.join([...names])})`] : [])]
  const { rows } = await raw<{ n: number }>`select count(*) as n from audit where ${all(parts)}`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}

/** Older than this entry. */
export interface Before {
  readonly at: number
  readonly id: number
}
/**
 * Newest first. Each name is read by its own index and only as far as needed, so that a page of a rare action among many
 * others costs no more than a page of a common one.
 */
export const listAuditRows = async (
  sql: Sql,
  filter: AuditFilter,
  offset: number,
  limit: number,
  before?: Before,
): Promise<AuditRow[]> => {
  const names = namesOf(filter.action)
  if (names?.length === 0) return []
  const common = [...commonTo(filter), ...(before ? [raw`(at, event_id) < (${before.at}, ${before.id})`] : [])]
  const newest = (more: readonly RawBuilder<unknown>[]) =>
    raw`select * from (select event_id, at from audit where ${all([...common, ...more])}
      order by at desc, event_id desc limit ${offset + limit}) as named`
  const found =
    names === null
      ? newest([])
      : raw.join(
          names.map(name => newest([raw`name = ${name}`])),
          raw` union all `,
        )
  const { rows } = await raw<AuditRow>`select events.id, events.at, events.name, actor, actor_ip, data from
    (select event_id, at from (${found}) as found order by at desc, event_id desc limit ${limit} offset ${offset}) as page
    join events on events.id = page.event_id order by page.at desc, page.event_id desc`.execute(sql)
  return rows
}
