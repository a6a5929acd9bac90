import type { PoolClient } from 'pg'
import { lockSums, sumWaiting } from '../bans/sums.postgres.ts'
import { keptFromKey } from '../bans/bans.store.ts'
import { lastBanStep } from '../bans/sums.ts'
import { shrinking } from './retire-chunk.ts'
import type { RetireInput, Retired, TrimInput, Trimmed } from './retire-chunk.ts'

/** A statement sees no row that it wrote itself, so cells that become empty are deleted and the others are updated. */
const shrink = shrinking.flatMap(([table, keys]) => {
  const same = keys.map(key => `kept.${key} = leaving.${key}`).join(' and ')
  return [
    `${table}_leaving as (select ${keys.join(', ')}, count(*) as n from gone group by ${keys.join(', ')})`,
    `${table}_less as (
      update ${table} as kept set n = kept.n - leaving.n from ${table}_leaving as leaving where ${same} and kept.n <> leaving.n)`,
    `${table}_empty as (
      delete from ${table} as kept using ${table}_leaving as leaving where ${same} and kept.n = leaving.n)`,
  ]
})
const stepOf = (column: string) => `${column} - ${column} % ${lastBanStep}`
const isSummed = 'id not in (select ban_id from waiting)'
/**
 * A chunk is one statement. A ban that is not summed yet stays for the next run. An address moves among the steps of last bans only
 * when its last ban goes, which one look into its index tells. Without `offset 0` PostgreSQL would read all active bans for each chunk.
 */
const retire = `with waiting as materialized (select ban_id from unsummed_bans),
  old as materialized (
    select id, banned_at, exists (select from active_bans
        where active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id offset 0) or not (${isSummed}) as stays
      from bans where banned_at < $1 and (banned_at, id) > ($2, $3) order by banned_at, id limit $4),
  gone as (
    delete from bans using old where bans.id = old.id and not stays
      returning bans.id, bans.server_no, bans.jail_id, bans.country_id, bans.ip, bans.banned_at),
  ${shrink.join(',\n  ')},
  lasts as (
    select last.ip, last.banned_at from gone cross join lateral (
        select id, ip, banned_at from bans where bans.ip = gone.ip and ${isSummed}
          order by banned_at desc, id desc limit 1) as last
      where last.id = gone.id),
  moves as (
    select ${stepOf('banned_at')} as bucket, -1 as n from lasts
    union all
    select ${stepOf('left_at')}, 1 from lasts cross join lateral (
        select banned_at as left_at from bans where bans.ip = lasts.ip and ${isSummed}
          and id not in (select id from gone) order by banned_at desc limit 1) as left_over),
  steps as (select bucket, sum(n)::bigint as n from moves group by bucket having sum(n) <> 0),
  steps_empty as (
    delete from rolled_last_bans as kept using steps where kept.bucket = steps.bucket and kept.n + steps.n = 0),
  steps_moved as (
    insert into rolled_last_bans (bucket, n)
      select bucket, n from steps
        where not exists (select from rolled_last_bans as kept where kept.bucket = steps.bucket and kept.n + steps.n = 0)
        order by bucket
      on conflict (bucket) do update set n = rolled_last_bans.n + excluded.n),
  kept_from as (
    insert into meta (key, value) select $5, (max(banned_at) + 1)::text from gone having count(*) > 0
      on conflict (key) do update set value = excluded.value where meta.value::bigint < excluded.value::bigint)
  select (select count(*) from old) as seen, (select count(*) from gone) as removed, last.banned_at as at, last.id
    from (select banned_at, id from old order by banned_at desc, id desc limit 1) as last`

/** The lock of the summing: no sums are taken while bans are deleted, and two runs never take the same bans. */
export const retireFromPostgres = async (
  client: PoolClient,
  { before, after, most }: RetireInput,
): Promise<Retired> => {
  await lockSums(client)
  await sumWaiting(client)
  const { rows } = await client.query<{ seen: number; removed: number; at: number; id: number }>(retire, [
    ...[before, after.at, after.id, most],
    keptFromKey,
  ])
  const [chunk] = rows
  if (!chunk) return { removed: 0, next: null }
  return { removed: chunk.removed, next: chunk.seen === most ? { at: chunk.at, id: chunk.id } : null }
}

/** The oldest events, until one is to be kept. */
const trim = `with oldest as materialized (select id, at from events where id > $2 order by id limit $3),
  gone as (delete from events using oldest where events.id = oldest.id and oldest.at < $1 returning events.id),
  unaudited as (delete from audit using gone where audit.event_id = gone.id)
  select (select count(*) from oldest) as seen, (select count(*) from gone) as removed, (select max(id) from oldest) as last`
export const trimPostgres = async (client: PoolClient, { before, after, most }: TrimInput): Promise<Trimmed> => {
  // Read by the trigger that refuses every other change; it lasts until the commit.
  await client.query("select set_config('stockade.retention', 'on', true)")
  const { rows } = await client.query<{ seen: number; removed: number; last: number | null }>(trim, [
    ...[before, after, most],
  ])
  const { seen = 0, removed = 0, last = null } = rows[0] ?? {}
  return { removed, next: removed > 0 && seen === most ? last : null }
}
