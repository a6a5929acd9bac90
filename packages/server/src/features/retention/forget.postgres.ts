import type { PoolClient } from 'pg'
import { lockSums, sumWaiting } from '../bans/sums.postgres.ts'
import { cellTables, cellsOf } from '../bans/sums.ts'
import { lastBansLeft, keyOfIp } from './retire-chunk.ts'
import { countedOf } from './forget-chunk.ts'
import type { ForgetInput, Forgotten } from './forget-chunk.ts'

/** When each address was last banned, of the rows that are summed; others may come meanwhile. */
const lastBans = async (client: PoolClient, ips: readonly Uint8Array[]): Promise<Map<string, number | null>> => {
  const { rows } = await client.query<{ ip: Buffer; at: number | null }>(
    `select ip, (select max(banned_at) from bans where bans.ip = given.ip
        and id not in (select ban_id from unsummed_bans)) as at from unnest($1::bytea[]) as given (ip)`,
    [ips.map(ip => Buffer.from(ip.buffer, ip.byteOffset, ip.byteLength))],
  )
  return new Map(rows.map(({ ip, at }) => [keyOfIp(ip), at]))
}

/** The lock of the summing: no sums are taken while bans are deleted. */
export const forgetFromPostgres = async (
  client: PoolClient,
  { serverNo, from, most }: ForgetInput,
): Promise<number> => {
  await lockSums(client)
  const { rows: gone } = await client.query<Forgotten>(
    `select id, server_no, jail_id, country_id, ip, banned_at from bans where server_no = $1 and id >= $2
      order by id limit $3 for update`,
    [serverNo, from, most],
  )
  if (gone.length === 0) return 0
  await sumWaiting(client)
  const ids = gone.map(({ id }) => id)
  const ips = [...new Map(gone.map(({ ip }) => [keyOfIp(ip), ip])).values()]
  const before = await lastBans(client, ips)
  await client.query('delete from active_bans where ban_id = any ($1::bigint[]) and server_no = $2', [ids, serverNo])
  await client.query('delete from bans where id = any ($1::bigint[])', [ids])
  const after = await lastBans(client, ips)
  const sums = cellsOf(gone.map(countedOf))
  for (const [index, [table, keys, value]] of cellTables.entries()) {
    const cells = sums[index] ?? []
    const columns = [...keys, 'gone_n']
    const values = columns.map((_, column) => cells.map(cell => cell[column]))
    const goneRows = `unnest(${columns.map((_, at) => `$${at + 1}::bigint[]`).join(', ')}) as gone (${columns.join(', ')})`
    const same = keys.map(key => `kept.${key} = gone.${key}`).join(' and ')
    await client.query(
      `update ${table} as kept set ${value} = kept.${value} - gone.gone_n from ${goneRows} where ${same}`,
      values,
    )
    await client.query(`delete from ${table} as kept using ${goneRows} where ${same} and kept.${value} = 0`, values)
  }
  const moved = lastBansLeft(
    ips.map(ip => ({ before: before.get(keyOfIp(ip)) ?? null, after: after.get(keyOfIp(ip)) ?? null })),
  )
  if (moved.length === 0) return gone.length
  const buckets = moved.map(([bucket]) => bucket)
  await client.query(
    `insert into rolled_last_bans (bucket, n) select * from unnest($1::bigint[], $2::bigint[])
      on conflict (bucket) do update set n = rolled_last_bans.n + excluded.n`,
    [buckets, moved.map(([, n]) => n)],
  )
  await client.query('delete from rolled_last_bans where bucket = any ($1::bigint[]) and n = 0', [buckets])
  return gone.length
}
