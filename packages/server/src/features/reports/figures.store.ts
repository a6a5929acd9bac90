import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import { day, dayOf, hour, hourOf } from '../../core/clock.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { bansOf } from '../bans/stats.store.ts'
import type { Span } from './periods.ts'

type Sql = Kysely<Schema>
export type Counts = ReadonlyMap<number, number>
interface Counted {
  readonly id: number
  readonly n: number
}

const all = (parts: readonly RawBuilder<unknown>[]) => raw.join([...parts], raw` and `)
const on = (servers: ServerScope) =>
  servers === 'all' ? [] : servers.size > 0 ? [raw`server_no in (${raw.join([...servers])})`] : [raw`1 = 0`]
const mapOf = (rows: readonly Counted[]): Counts => new Map(rows.map(({ id, n }) => [Number(id), Number(n)]))

/** Sums of the fleet by hour exist for each kind; those of single servers by hour for themselves only, else by day. */
const sumsOf = (kind: 'server' | 'jail' | 'country', servers: ServerScope) =>
  servers === 'all' || kind === 'server'
    ? { table: raw.table(`ban_hours_${kind}`), step: hour, floor: hourOf }
    : { table: raw.table(`ban_days_${kind}`), step: day, floor: dayOf }

/** Bans of a time by server, jail or country: whole buckets from sums, the edges from rows. */
export const countBy = async (
  sql: Sql,
  engine: Engine,
  kind: 'server' | 'jail' | 'country',
  servers: ServerScope,
  { from, to }: Span,
): Promise<Counts> => {
  const column = raw.ref(kind === 'server' ? 'server_no' : `${kind}_id`)
  const { table, step, floor } = sumsOf(kind, servers)
  const first = Math.min(floor(from + step - 1), to)
  const last = Math.max(floor(to), first)
  const buckets = all([...on(servers), raw`bucket >= ${first}`, raw`bucket < ${last}`])
  const rows = (start: number, end: number) =>
    raw`union all select ${column}, count(*) from ${bansOf(engine, servers)}
      where ${all([...on(servers), raw`banned_at >= ${start}`, raw`banned_at < ${end}`])} group by ${column}`
  const edges = [...(from < first ? [rows(from, first)] : []), ...(last < to ? [rows(last, to)] : [])]
  const reply = await raw<Counted>`select id, sum(n) as n from (
      select ${column} as id, sum(n) as n from ${table} where ${buckets} group by ${column} ${raw.join(edges, raw` `)}
    ) as counted group by id`.execute(sql)
  return mapOf(reply.rows)
}

/** Bans of each of the steps, which follow each other. */
export const countSteps = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  steps: readonly number[],
): Promise<number[]> => {
  const table = raw.table(servers === 'all' ? 'ban_hours_jail' : 'ban_hours_server')
  const counts: number[] = []
  if (steps.every(at => at % hour === 0)) {
    const buckets = [...on(servers), raw`bucket >= ${steps[0] ?? 0}`, raw`bucket < ${steps.at(-1) ?? 0}`]
    const { rows } = await raw<Counted>`select bucket as id, sum(n) as n from ${table}
      where ${all(buckets)} group by bucket`.execute(sql)
    for (const { id, n } of rows) {
      const step = steps.findLastIndex(start => start <= Number(id))
      counts[step] = (counts[step] ?? 0) + Number(n)
    }
    return steps.slice(0, -1).map((_, at) => counts[at] ?? 0)
  }
  // Time zones of half hours: the edges of each step come from rows.
  for (const [at, from] of steps.slice(0, -1).entries()) {
    const to = steps[at + 1] ?? from
    const first = Math.min(hourOf(from + hour - 1), to)
    const last = Math.max(hourOf(to), first)
    const edges = [
      [from, first],
      [last, to],
    ].filter(([start = 0, end = 0]) => start < end)
    const parts = [
      raw`(select coalesce(sum(n), 0) from ${table}
        where ${all([...on(servers), raw`bucket >= ${first}`, raw`bucket < ${last}`])})`,
      ...edges.map(
        ([start, end]) =>
          raw`(select count(*) from ${bansOf(engine, servers)}
            where ${all([...on(servers), raw`banned_at >= ${start}`, raw`banned_at < ${end}`])})`,
      ),
    ]
    const { rows } = await raw<{ n: number }>`select ${raw.join(parts, raw` + `)} as n`.execute(sql)
    counts.push(Number(rows[0]?.n ?? 0))
  }
  return counts
}

const within = (servers: ServerScope, { from, to }: Span) =>
  all([...on(servers), raw`banned_at >= ${from}`, raw`banned_at < ${to}`])

/** Distinct addresses of a time. It reads rows, so it is asked of `db.scan`. */
export const countAddresses = async (sql: Sql, engine: Engine, servers: ServerScope, span: Span): Promise<number> => {
  const { rows } = await raw<{ n: number }>`select count(*) as n from
    (select ip from ${bansOf(engine, servers)} where ${within(servers, span)} group by ip) as seen`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}

export const rulesInPeriod = async (sql: Sql, { from, to }: Span) => {
  const rows = await sql
    .selectFrom('rule_matches')
    .innerJoin('rules', 'rules.id', 'rule_matches.rule_id')
    .select(eb => ['rules.id', 'rules.name', 'outcome', eb.fn.countAll<number>().as('n')])
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy(['rules.id', 'rules.name', 'outcome'])
    .execute()
  return rows.map(row => ({ ...row, n: Number(row.n) }))
}
export const fleetBansInPeriod = async (sql: Sql, { from, to }: Span, now: number) => {
  const countOf = async (column: 'created_at' | 'ended_at') => {
    const { n } = await sql
      .selectFrom('fleet_bans')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .where(column, '>=', from)
      .where(column, '<', to)
      .executeTakeFirstOrThrow()
    return Number(n)
  }
  const { n } = await sql
    .selectFrom('fleet_bans')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .where('ended_at', 'is', null)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow()
  return { created: await countOf('created_at'), ended: await countOf('ended_at'), standing: Number(n) }
}
/** @param span its edges are rounded to hours, which is how packets are counted */
export const listsInPeriod = async (sql: Sql, { from, to }: Span) => {
  const { rows } = await raw<{ name: string; mode: string; entries: number; stale: number; packets: number | null }>`
    select name, mode, entries, stale, (select sum(packets) from blocklist_hits
      where list_id = blocklists.id and hour >= ${Math.floor(from / hour)} and hour < ${Math.ceil(to / hour)}) as packets
    from blocklists order by name`.execute(sql)
  return rows.map(({ name, mode, entries, stale, packets }) => ({
    ...{ name, mode, entries: Number(entries), stale: Number(stale) === 1 },
    packets: Number(packets ?? 0),
  }))
}
/** Entries of the audit log by name. */
export const auditInPeriod = async (sql: Sql, { from, to }: Span) => {
  const rows = await sql
    .selectFrom('audit')
    .select(eb => ['name', eb.fn.countAll<number>().as('n')])
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('name')
    .execute()
  return rows.map(({ name, n }) => ({ name, n: Number(n) }))
}
/** Failed commands by server. A command ends within days of its creation, which has the index. */
export const failedCommands = async (sql: Sql, { from, to }: Span): Promise<Counts> => {
  const rows = await sql
    .selectFrom('commands')
    .select(eb => ['server_no as id', eb.fn.countAll<number>().as('n')])
    .where('status', 'in', ['failed', 'timeout'])
    .where('cancelled', '=', 0)
    .where('created_at', '>=', from - 7 * day)
    .where('created_at', '<', to)
    .where('completed_at', '>=', from)
    .where('completed_at', '<', to)
    .groupBy('server_no')
    .execute()
  return mapOf(rows)
}
/** Alerts that fired in the time, newest first. */
export const alertsInPeriod = (sql: Sql, { from, to }: Span) =>
  sql
    .selectFrom('alert_states')
    .select(['server_no', 'title', 'severity', 'state', 'fired_at'])
    .select(['rule', 'kind', 'since', 'absent_since', 'resolved_at'])
    .where('fired_at', '>=', from)
    .where('fired_at', '<', to)
    .orderBy('fired_at', 'desc')
    .execute()
