import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { RuleMatchesTable, RulesTable } from '../../db/tables/policy.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
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
const seen = raw`id, banned_at, server_no, jail_id, country_id, asn, ip`
/** Bans by operators, of ranges, and from before the enrolment do not count. */
const counts = raw`banned_by is null and prefix is null and origin is null`
const seenOf = (row: SeenRow): SeenBan => ({
  id: row.id,
  at: row.banned_at,
  serverNo: row.server_no,
  jailId: row.jail_id,
  countryId: row.country_id,
  asn: row.asn,
  ip: row.ip,
})
export const bansForRules = async (sql: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, SeenBan>> => {
  if (ids.length === 0) return new Map()
  const { rows } = await raw<SeenRow>`select ${seen} from bans
    where id in (${raw.join([...ids])}) and ${counts}`.execute(sql)
  return new Map(rows.map(row => [row.id, seenOf(row)]))
}
/** Where a walk over the bans is: they come in the order of time. */
export interface BanPlace {
  readonly at: number
  readonly id: number
}
/** The next bans after a place, those with an id below a bound, and the place behind them; null at the end. */
export const nextBansForRules = async (
  sql: Sql,
  place: BanPlace,
  bounds: { readonly to: number; readonly belowId: number },
  most: number,
): Promise<{ readonly bans: readonly SeenBan[]; readonly next: BanPlace | null }> => {
  const { rows } = await raw<
    SeenRow & { counts: number }
  >`select ${seen}, case when ${counts} then 1 else 0 end as counts
    from bans where (banned_at, id) > (${place.at}, ${place.id}) and banned_at <= ${bounds.to} and id < ${bounds.belowId}
    order by banned_at, id limit ${most}`.execute(sql)
  const last = rows.at(-1)
  return {
    bans: rows.flatMap(row => (row.counts === 1 ? [seenOf(row)] : [])),
    next: last && rows.length === most ? { at: last.banned_at, id: last.id } : null,
  }
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

/** Addresses from which somebody signed in since a time, or is signed in now. */
export const signedInFrom = async (sql: Sql, since: number): Promise<ReadonlySet<string>> => {
  const { rows } = await raw<{ ip: string }>`select ip_address as ip from sessions
    union select events.actor_ip as ip from audit join events on events.id = audit.event_id
    where audit.at >= ${since} and audit.name = 'auth.login' and events.actor_ip is not null`.execute(sql)
  return new Set(rows.map(({ ip }) => ip))
}
