import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { RuleMatchesTable, RulesTable } from '../../db/tables/policy.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
import { lateAfter } from '../bans/ban-input.ts'
import type { SeenBan } from './evaluator.ts'

type Sql = Kysely<Schema>
export type RuleRow = Selectable<RulesTable>
export type MatchRow = Selectable<RuleMatchesTable>

export const allRules = (sql: Sql): Promise<RuleRow[]> => sql.selectFrom('rules').selectAll().orderBy('name').execute()
export const armedRules = (sql: Sql): Promise<RuleRow[]> =>
  sql.selectFrom('rules').selectAll().where('state', '=', 'armed').orderBy('id').execute()
export const findRule = (sql: Sql, id: number): Promise<RuleRow | undefined> =>
  sql.selectFrom('rules').selectAll().where('id', '=', id).executeTakeFirst()
export const findRuleNamed = (sql: Sql, name: string): Promise<RuleRow | undefined> =>
  sql.selectFrom('rules').selectAll().where('name', '=', name).executeTakeFirst()
export const countRules = (sql: Sql): Promise<number> => rowCount(sql.selectFrom('rules'))
export const insertRule = (sql: Sql, row: Insertable<RulesTable>): Promise<RuleRow> =>
  sql.insertInto('rules').values(row).returningAll().executeTakeFirstOrThrow()
export const updateRule = (sql: Sql, id: number, set: Partial<Omit<RuleRow, 'id'>>): Promise<RuleRow | undefined> =>
  sql.updateTable('rules').set(set).where('id', '=', id).returningAll().executeTakeFirst()
export const deleteRule = async (sql: Sql, id: number): Promise<boolean> => {
  await sql.deleteFrom('rule_matches').where('rule_id', '=', id).execute()
  const done = await sql.deleteFrom('rules').where('id', '=', id).executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** A ban that a rule matched before leaves no second row. */
export const insertMatch = async (sql: Sql, row: Insertable<RuleMatchesTable>): Promise<boolean> => {
  const done = await sql
    .insertInto('rule_matches')
    .values(row)
    .onConflict(on => on.columns(['rule_id', 'ban_id']).doNothing())
    .executeTakeFirst()
  return (done.numInsertedOrUpdatedRows ?? 0n) > 0n
}
/** What rules did since a time, the oldest first. */
export const matchesSince = (sql: Sql, ruleIds: readonly number[], since: number): Promise<MatchRow[]> =>
  sql
    .selectFrom('rule_matches')
    .selectAll()
    .where('rule_id', 'in', ruleIds)
    .where('at', '>=', since)
    .orderBy('id')
    .execute()
/** Bans that rules made since a time, by rule. */
export const bansOfRules = async (sql: Sql, since: number): Promise<ReadonlyMap<number, number>> => {
  const rows = await sql
    .selectFrom('rule_matches')
    .select(eb => ['rule_id', eb.fn.countAll<number>().as('n')])
    .where('outcome', '=', 'banned')
    .where('at', '>=', since)
    .groupBy('rule_id')
    .execute()
  return new Map(rows.map(({ rule_id, n }) => [rule_id, Number(n)]))
}
const matching = (sql: Sql, ruleId: number, outcome: MatchRow['outcome'] | undefined) =>
  sql
    .selectFrom('rule_matches')
    .where('rule_id', '=', ruleId)
    .$if(outcome !== undefined, query => query.where('outcome', '=', outcome ?? 'banned'))
export const pageOfMatches = (
  sql: Sql,
  ruleId: number,
  outcome: MatchRow['outcome'] | undefined,
  offset: number,
  limit: number,
): Promise<MatchRow[]> =>
  matching(sql, ruleId, outcome).selectAll().orderBy('id', 'desc').offset(offset).limit(limit).execute()
export const countMatches = async (
  sql: Sql,
  ruleId: number,
  outcome: MatchRow['outcome'] | undefined,
): Promise<number> => {
  const { n } = await matching(sql, ruleId, outcome)
    .select(eb => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}
export const deleteMatches = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('rule_matches').where('at', '<', before).execute()
}

interface SeenRow {
  readonly id: number
  readonly banned_at: number
  readonly server_no: number
  readonly jail_id: number
  readonly country_id: number
  readonly asn: number | null
  readonly ip: Uint8Array
}
const banColumns = raw`id, banned_at, server_no, jail_id, country_id, asn, ip`
/** Bans by operators, of ranges, and from before the enrolment do not count. */
const counts = raw`banned_by is null and prefix is null and origin is null`
/** @param arrivedAt when the report arrived, as far as that is known to differ */
const seenOf = (row: SeenRow, arrivedAt = row.banned_at): SeenBan => {
  const isLate = arrivedAt - row.banned_at > lateAfter
  return {
    id: row.id,
    at: isLate ? arrivedAt : row.banned_at,
    isLate,
    serverNo: row.server_no,
    jailId: row.jail_id,
    countryId: row.country_id,
    asn: row.asn,
    ip: row.ip,
  }
}
/** @param arrivals when the reports of some bans arrived, by id */
export const bansForRules = async (
  sql: Sql,
  arrivals: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, SeenBan>> => {
  if (arrivals.size === 0) return new Map()
  const { rows } = await raw<SeenRow>`select ${banColumns} from bans
    where id in (${raw.join([...arrivals.keys()])}) and ${counts}`.execute(sql)
  return new Map(rows.map(row => [row.id, seenOf(row, arrivals.get(row.id))]))
}
/** Where a walk over the bans is: they come in the order of their arrival. */
interface BanPlace {
  readonly at: number
  readonly id: number
}
interface Page {
  readonly bans: readonly SeenBan[]
  /** The place behind the page; null at the end. */
  readonly next: BanPlace | null
}
type WalkRow = SeenRow & { readonly counts: number; readonly arrived_at: number }
const pageOf = (rows: readonly WalkRow[], most: number): Page => {
  const last = rows.at(-1)
  return {
    bans: rows.flatMap(row => (row.counts === 1 ? [seenOf(row, row.arrived_at)] : [])),
    next: last && rows.length === most ? { at: last.arrived_at, id: last.id } : null,
  }
}
const counting = raw`case when ${counts} then 1 else 0 end as counts`
/** Bans that were reported in time, which is about when they were made. */
const nextInTime = async (sql: Sql, place: BanPlace, bounds: WalkBounds, most: number): Promise<Page> => {
  const { rows } = await raw<WalkRow>`select ${banColumns}, banned_at as arrived_at, case
      when exists (select 1 from late_bans where ban_id = bans.id) then 0 when ${counts} then 1 else 0 end as counts
    from bans where (banned_at, id) > (${place.at}, ${place.id}) and banned_at <= ${bounds.to} and id < ${bounds.belowId}
    order by banned_at, id limit ${most}`.execute(sql)
  return pageOf(rows, most)
}
const nextLate = async (sql: Sql, place: BanPlace, bounds: WalkBounds, most: number): Promise<Page> => {
  const { rows } = await raw<WalkRow>`select ${banColumns}, arrived_at, ${counting}
    from late_bans join bans on bans.id = late_bans.ban_id
    where (arrived_at, ban_id) > (${place.at}, ${place.id}) and arrived_at <= ${bounds.to} and ban_id < ${bounds.belowId}
    order by arrived_at, ban_id limit ${most}`.execute(sql)
  return pageOf(rows, most)
}
interface WalkBounds {
  readonly from: number
  readonly to: number
  /** Bans with this id or a higher one are left out. */
  readonly belowId: number
}
/** The bans that arrived in a span, in the order of their arrival, some thousand at a time. */
export async function* bansInOrder(sql: Sql, bounds: WalkBounds, most: number): AsyncGenerator<readonly SeenBan[]> {
  const start = { at: bounds.from, id: -1 }
  let late = await nextLate(sql, start, bounds, most)
  for (let place: BanPlace | null = start; place !== null;) {
    const inTime: Page = await nextInTime(sql, place, bounds, most)
    const until = inTime.next?.at ?? Infinity
    const between: SeenBan[] = []
    for (;;) {
      const split = late.bans.findIndex(({ at }) => at > until)
      between.push(...(split < 0 ? late.bans : late.bans.slice(0, split)))
      if (split >= 0 || late.next === null) {
        late = { bans: split < 0 ? [] : late.bans.slice(split), next: late.next }
        break
      }
      late = await nextLate(sql, late.next, bounds, most)
    }
    yield between.length === 0 ? inTime.bans : [...inTime.bans, ...between].sort((a, b) => a.at - b.at || a.id - b.id)
    place = inTime.next
  }
}
/** Arrivals of late reports that no simulation asks for any more. */
export const forgetLate = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('late_bans').where('arrived_at', '<', before).execute()
}
/** The time of the ban from which on at most so many follow; null: there are no more. */
export const timeOfNewest = async (sql: Sql, most: number): Promise<number | null> => {
  const { rows } = await raw<{ at: number }>`select banned_at as at from bans order by banned_at desc, id desc
    limit 1 offset ${most}`.execute(sql)
  return rows[0]?.at ?? null
}

export const jailNames = async (sql: Sql): Promise<ReadonlyMap<number, string>> =>
  new Map((await sql.selectFrom('jails').select(['id', 'name']).execute()).map(({ id, name }) => [id, name]))
export const countryCodes = async (sql: Sql): Promise<ReadonlyMap<number, string>> =>
  new Map((await sql.selectFrom('countries').select(['id', 'code']).execute()).map(({ id, code }) => [id, code]))
