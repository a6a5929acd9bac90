import type { PoolClient } from 'pg'
import { lockSums, sumWaiting } from '../bans/sums.postgres.ts'
import { keptFromKey } from '../bans/bans.store.ts'
import { hoursLeft, keyOfIp, leavingCells, shrinking } from './retire-chunk.ts'
import type { OldBan, RetireInput, Retired, TrimInput, Trimmed } from './retire-chunk.ts'

const bytesOf = (ip: Uint8Array) => Buffer.from(ip.buffer, ip.byteOffset, ip.byteLength)

/** When each address was last banned, of the rows that are summed; others may come meanwhile. */
const lastBans = async (client: PoolClient, ips: readonly Uint8Array[]): Promise<Map<string, number | null>> => {
  const { rows } = await client.query<{ ip: Buffer; at: number | null }>(
    `select ip, (select max(banned_at) from bans where bans.ip = given.ip
        and id not in (select ban_id from unsummed_bans)) as at from unnest($1::bytea[]) as given (ip)`,
    [ips.map(bytesOf)],
  )
  return new Map(rows.map(({ ip, at }) => [keyOfIp(ip), at]))
}

/** The lock of the summing: no sums are taken while bans are deleted, and two runs never take the same bans. */
export const retireFromPostgres = async (
  client: PoolClient,
  { before, after, most }: RetireInput,
): Promise<Retired> => {
  await lockSums(client)
  const { rows } = await client.query<OldBan>(
    `select id, server_no, jail_id, country_id, ip, banned_at, (exists (select 1 from active_bans
        where active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id))::int as active
      from bans where banned_at < $1 and (banned_at, id) > ($2, $3) order by banned_at, id limit $4`,
    [before, after.at, after.id, most],
  )
  const end = rows.at(-1)
  const next = end && rows.length === most ? { at: end.banned_at, id: end.id } : null
  const gone = rows.filter(({ active }) => !active)
  const newest = gone.at(-1)
  if (!newest) return { removed: 0, next }
  await sumWaiting(client)
  const ips = [...new Map(gone.map(({ ip }) => [keyOfIp(ip), ip])).values()]
  const last = await lastBans(client, ips)
  await client.query('delete from bans where id = any ($1::bigint[])', [gone.map(({ id }) => id)])
  const left = await lastBans(client, ips)
  for (const [table, keys] of shrinking) {
    const columns = [...keys, 'n']
    const cells = leavingCells(gone, keys)
    const values = columns.map((_, column) => cells.map(cell => cell[column]))
    const given = `unnest(${columns.map((_, at) => `$${at + 1}::bigint[]`).join(', ')}) as gone (${columns.join(', ')})`
    const same = keys.map(key => `kept.${key} = gone.${key}`).join(' and ')
    await client.query(`update ${table} as kept set n = kept.n - gone.n from ${given} where ${same}`, values)
    await client.query(`delete from ${table} as kept using ${given} where ${same} and kept.n = 0`, values)
  }
  const moved = hoursLeft(
    ips.map(ip => ({ before: last.get(keyOfIp(ip)) ?? null, after: left.get(keyOfIp(ip)) ?? null })),
  )
  if (moved.length > 0) {
    const buckets = moved.map(([bucket]) => bucket)
    await client.query(
      `insert into rolled_ip_hours (bucket, n) select * from unnest($1::bigint[], $2::bigint[])
        on conflict (bucket) do update set n = rolled_ip_hours.n + excluded.n`,
      [buckets, moved.map(([, n]) => n)],
    )
    await client.query('delete from rolled_ip_hours where bucket = any ($1::bigint[]) and n = 0', [buckets])
  }
  await client.query(
    `insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value
      where meta.value::bigint < excluded.value::bigint`,
    [keptFromKey, String(newest.banned_at + 1)],
  )
  return { removed: gone.length, next }
}

export const trimPostgres = async (client: PoolClient, { before, after, most }: TrimInput): Promise<Trimmed> => {
  const { rows } = await client.query<{ id: number; at: number }>(
    'select id, at from events where id > $1 order by id limit $2 for update skip locked',
    [after, most],
  )
  const gone = rows.flatMap(({ id, at }) => (at < before ? [id] : []))
  if (gone.length === 0) return { removed: 0, next: null }
  await client.query("select set_config('stockade.retention', 'on', true)")
  await client.query('delete from events where id = any ($1::bigint[])', [gone])
  await client.query('delete from audit where event_id = any ($1::bigint[])', [gone])
  return { removed: gone.length, next: rows.length === most ? (rows.at(-1)?.id ?? null) : null }
}
