import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder, Selectable } from 'kysely'
import { eventKinds, rangeOfQuery, spanOfQuery, termsOf } from '@stockade/contract'
import type { QueryNode, QueryValue } from '@stockade/contract'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import type { Engine } from '../../db/database.ts'
import type { EventsTable } from '../../db/tables/service.ts'
import type { Schema } from '../../db/schema.ts'
import { anyOf, boundsOf, conditionOf, textMatches, timeMatches } from '../../db/search.ts'
import type { Before, Condition } from '../../db/search.ts'

type Sql = Kysely<Schema>
export type AuditRow = Pick<Selectable<EventsTable>, 'id' | 'at' | 'name' | 'actor' | 'actor_ip' | 'data'>
export interface AuditFilter {
  readonly userId?: number
  /** Exact, or a beginning that ends in a dot. */
  readonly action?: string
  readonly from?: number
  readonly to?: number
  /** On `audit`, and on `events` as `event`. */
  readonly search?: Condition
}

const audited = Object.entries(eventKinds).flatMap(([name, kind]) => (kind.audited ? [name] : []))
/** The names that an action filter matches; null: all. */
const namesOf = (action: string | undefined): readonly string[] | null =>
  action === undefined ? null : action.endsWith('.') ? audited.filter(name => name.startsWith(action)) : [action]

const all = (parts: readonly RawBuilder<unknown>[]) =>
  parts.length === 0 ? raw`1 = 1` : raw.join([...parts], raw` and `)
const commonTo = (filter: AuditFilter) => [
  ...(filter.userId === undefined ? [] : [raw`user_id = ${filter.userId}`]),
  ...(filter.from === undefined ? [] : [raw`at >= ${filter.from}`]),
  ...(filter.to === undefined ? [] : [raw`at < ${filter.to}`]),
]

/** Whether there is such a user, or was one that did something. */
export const isKnownUser = async (sql: Sql, id: number): Promise<boolean> => {
  const user = await sql.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst()
  const { rows } = user ? { rows: [user] } : await raw`select 1 from audit where user_id = ${id} limit 1`.execute(sql)
  return rows.length > 0
}

/** Answered from an index alone, whatever the filter, but for a search. */
export const countAudit = async (sql: Sql, filter: AuditFilter): Promise<number> => {
  const names = namesOf(filter.action)
  if (names?.length === 0) return 0
  if (filter.search) {
    const { rows } = await raw<{ n: number }>`select count(*) as n ${searched(filter, names)}`.execute(sql)
    return Number(rows[0]?.n ?? 0)
  }
  const parts = [...commonTo(filter), ...(names ? [raw`name in (${raw.join([...names])})`] : [])]
  const { rows } = await raw<{ n: number }>`select count(*) as n from audit where ${all(parts)}`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}

const searched = (filter: AuditFilter, names: readonly string[] | null, before?: Before) => {
  const { search, ...plain } = filter
  const own = [
    ...commonTo(plain),
    ...(names ? [raw`name in (${raw.join([...names])})`] : []),
    ...(before ? [raw`(at, event_id) < (${before.at}, ${before.id})`] : []),
  ]
  return raw`from (select event_id, at, name from audit where ${all(own)}) as audit
    join events as event on event.id = audit.event_id where ${search ?? raw`1 = 1`}`
}

/** What a search asks of an entry. Addresses are kept as text, so the ones that a range covers are looked up first. */
export const auditSearch = async (sql: Sql, engine: Engine, tree: QueryNode, now: number): Promise<Condition> => {
  const matches = textMatches(engine)
  const auditedIps = termsOf(tree).some(({ term }) => term.field === 'ip') ? await auditedAddresses(sql) : []
  const isFrom = ({ text }: QueryValue) => {
    const range = parseRange(rangeOfQuery(text) ?? '')
    const inside = auditedIps.filter(ip => {
      const address = parseIp(ip)
      return range !== null && address !== null && covers(range, address)
    })
    return engine === 'sqlite'
      ? raw`(event.actor_ip is not null and event.actor_ip in (select value from json_each(${JSON.stringify(inside)})))`
      : raw`(event.actor_ip is not null and event.actor_ip = any (${inside}::text[]))`
  }
  const user = raw`coalesce(event.actor, 'system')`
  return conditionOf(tree, ({ field, values }) =>
    anyOf(
      values.map(value => {
        switch (field) {
          case 'user':
            return matches(user, value, true)
          case 'action':
            return value.text.endsWith('.')
              ? matches(raw`event.name`, { text: `${value.text}*`, quoted: false }, true)
              : matches(raw`event.name`, value, true)
          case 'ip':
            return isFrom(value)
          case 'details':
            return matches(raw`event.data`, value, false)
          case 'at':
            return timeMatches(raw`audit.at`, boundsOf(value, spanOfQuery(value.text, now) ?? { from: 0, to: 0 }))
          default:
            return anyOf(
              [user, raw`event.name`, raw`event.actor_ip`, raw`event.data`].map(column =>
                matches(column, value, false),
              ),
            )
        }
      }),
    ),
  )
}
const auditedAddresses = async (sql: Sql): Promise<string[]> => {
  const { rows } = await raw<{ ip: string }>`select distinct event.actor_ip as ip from audit
    join events as event on event.id = audit.event_id where event.actor_ip is not null`.execute(sql)
  return rows.map(({ ip }) => ip)
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
  if (filter.search) {
    const { rows } = await raw<AuditRow>`select event.id, event.at, event.name, event.actor, event.actor_ip, event.data
        ${searched(filter, names, before)} order by audit.at desc, audit.event_id desc limit ${limit} offset ${offset}`.execute(
      sql,
    )
    return rows
  }
  const common = [...commonTo(filter), ...(before ? [raw`(at, event_id) < (${before.at}, ${before.id})`] : [])]
  const newest = (more: readonly RawBuilder<unknown>[]) =>
    raw`select * from (select event_id, at from audit where ${all([...common, ...more])}
      order by at desc, event_id desc limit ${offset + limit}) as named`
  const entries =
    names === null
      ? newest([])
      : raw.join(
          names.map(name => newest([raw`name = ${name}`])),
          raw` union all `,
        )
  const { rows } = await raw<AuditRow>`select events.id, events.at, events.name, actor, actor_ip, data from
    (select event_id, at from (${entries}) as found order by at desc, event_id desc limit ${limit} offset ${offset}) as page
    join events on events.id = page.event_id order by page.at desc, page.event_id desc`.execute(sql)
  return rows
}
