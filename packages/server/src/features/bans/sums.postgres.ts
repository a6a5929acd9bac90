import type { ClientBase } from 'pg'
import { cellTables, lastBanStep } from './sums.ts'

const bucketOf = (table: string): string =>
  table.includes('_days') ? 'banned_at - banned_at % 86400000' : 'banned_at - banned_at % 3600000'
const added = cellTables.map(([table, keys, value]) => {
  const columns = keys.map(key => (key === 'bucket' ? bucketOf(table) : key)).join(', ')
  const places = keys.map((_, index) => index + 1).join(', ')
  return `add_${table} as (
    insert into ${table} (${keys.join(', ')}, ${value}) select ${columns}, count(*) from taken group by ${places}
      on conflict (${keys.join(', ')}) do update set ${value} = ${table}.${value} + excluded.${value})`
})
/**
 * Takes all bans and ends that wait and adds them to the sums, also the addresses by the time of their last ban. A statement reads the tables
 * as they were when it began, so a ban that it takes is among `rows` twice: once as a ban, once as one that waits. What remains after
 * grouping by id is summed already.
 *
 * The planner knows little of a table that is emptied each second. Grouping takes the same time per ban however many wait, and
 * `offset 0` makes it look up each address by the index instead of reading all bans.
 */
const sumAll = `with taken as (
    delete from unsummed_bans returning ban_id, server_no, jail_id, country_id, ip, banned_at, active),
  ended as (delete from unsummed_ends returning server_no, n),
  ${added.join(',\n  ')},
  add_active as (
    insert into rolled_active_totals (server_no, n) select server_no, sum(n) from
        (select server_no, 1 as n from taken where active = 1 union all select server_no, -n from ended) as changed
      group by server_no
      on conflict (server_no) do update set n = rolled_active_totals.n + excluded.n),
  latest as materialized (select ip, max(banned_at) as at from taken group by ip),
  rows as (
    select known.id, latest.ip, known.banned_at, false as waits from latest
      cross join lateral (select id, banned_at from bans where bans.ip = latest.ip offset 0) as known
    union all select ban_id, ip, banned_at, true from taken),
  summed as (select ip, banned_at from rows group by id, ip, banned_at having not bool_or(waits)),
  before as (select ip, max(banned_at) as at from summed group by ip),
  moved as (
    select latest.at, before.at as before from latest left join before on before.ip = latest.ip
      where before.at is null or before.at < latest.at),
  steps as (
    select at - at % ${lastBanStep} as bucket, 1 as n from moved
    union all select before - before % ${lastBanStep}, -1 from moved where before is not null)
  insert into rolled_last_bans (bucket, n) select bucket, sum(n) from steps group by bucket having sum(n) <> 0
    on conflict (bucket) do update set n = rolled_last_bans.n + excluded.n`

/**
 * One transaction at a time takes and adds sums, until it commits: rows of sums are few and hot, so transactions would wait for each
 * other anyway, and whether an address is new is only known when nobody else counts it meanwhile.
 */
export const lockSums = (client: ClientBase) =>
  client.query("select pg_advisory_xact_lock(hashtext('stockade sums of bans'))")
const isAnyWaiting = async (client: ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ waits: boolean }>(
    'select exists (select from unsummed_bans) or exists (select from unsummed_ends) as waits',
  )
  return rows[0]?.waits === true
}
/** Adds the bans that wait to the sums, within the caller's transaction; the caller holds the lock of the sums. */
export const sumWaiting = async (client: ClientBase): Promise<void> => {
  // At rest nothing waits, and a look costs a tenth of the statement.
  if (await isAnyWaiting(client)) await client.query(sumAll)
}
/** The same as a transaction of its own, which the caller has begun. */
export const sumUp = async (client: ClientBase): Promise<void> => {
  // At rest nothing is locked.
  if (!(await isAnyWaiting(client))) return
  await lockSums(client)
  // A million bans that wait after an outage take longer than other statements may.
  await client.query('set local statement_timeout = 0')
  await client.query(sumAll)
}
