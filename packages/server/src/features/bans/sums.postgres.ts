import type { ClientBase } from 'pg'
import type { NewBan } from './ban-input.ts'
import { cellTables, cellsOf, hoursMoved } from './sums.ts'

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** A ban that was written, as the sums see it. */
export interface Made {
  readonly ban: Pick<NewBan, 'serverNo' | 'bannedAt' | 'ip'>
  readonly id: number
  readonly jailId: number
  readonly countryId: number
}
/** Adds bans to the sums. The caller holds the lock of the sums. */
export const addToSums = async (client: ClientBase, made: readonly Made[]): Promise<void> => {
  const cells = cellsOf(
    made.map(({ ban, jailId, countryId }) => ({ serverNo: ban.serverNo, jailId, countryId, bannedAt: ban.bannedAt })),
  )
  const add = (table: string, keys: readonly string[], value: string, rows: readonly (readonly number[])[]) => {
    const columns = [...keys, value]
    return client.query(
      `insert into ${table} (${columns.join(', ')}) select * from unnest(${columns.map((_, n) => `$${n + 1}::bigint[]`).join(', ')})
        on conflict (${keys.join(', ')}) do update set ${value} = ${table}.${value} + excluded.${value}`,
      columns.map((_, column) => rows.map(row => row[column] ?? 0)),
    )
  }
  for (const [index, [table, keys, value]] of cellTables.entries()) await add(table, keys, value, cells[index] ?? [])
  const latest = new Map<string, { ip: Buffer; at: number }>()
  for (const { ban } of made) {
    const ip = bufferOf(ban.ip)
    const key = ip.toString('latin1')
    if ((latest.get(key)?.at ?? -1) < ban.bannedAt) latest.set(key, { ip, at: ban.bannedAt })
  }
  const { rows } = await client.query<{ ip: Buffer; at: number }>(
    `select ip, (select max(banned_at) from bans where bans.ip = given.ip and id <> all ($2::bigint[])
        and id not in (select ban_id from unsummed_bans)) as at
      from unnest($1::bytea[]) as given (ip)`,
    [[...latest.values()].map(({ ip }) => ip), made.map(({ id }) => id)],
  )
  const before = new Map(rows.map(row => [row.ip.toString('latin1'), row.at]))
  const moved = hoursMoved([...latest].map(([key, { at }]) => ({ before: before.get(key) ?? null, latest: at })))
  if (moved.length > 0) await add('rolled_ip_hours', ['bucket'], 'n', moved)
}

/** So many bans are summed by one statement. */
const summedAtOnce = 10_000
/**
 * One transaction at a time takes and adds sums, until it commits: rows of sums are few and hot, so transactions would wait for each
 * other anyway, and whether an address is new is only known when nobody else counts it meanwhile.
 */
export const lockSums = (client: ClientBase) =>
  client.query("select pg_advisory_xact_lock(hashtext('stockade sums of bans'))")
/** Adds the bans that wait to the sums, within the caller's transaction; the caller holds the lock of the sums. */
export const sumWaiting = async (client: ClientBase): Promise<void> => {
  for (;;) {
    const { rows } = await client.query<WaitingBan>(
      `delete from unsummed_bans where ctid = any (array(select ctid from unsummed_bans limit ${summedAtOnce}))
        returning ban_id, server_no, jail_id, country_id, ip, banned_at`,
    )
    if (rows.length === 0) return
    await addToSums(
      client,
      rows.map(row => ({
        id: row.ban_id,
        jailId: row.jail_id,
        countryId: row.country_id,
        ban: { serverNo: row.server_no, bannedAt: row.banned_at, ip: row.ip },
      })),
    )
    if (rows.length < summedAtOnce) return
  }
}
interface WaitingBan {
  readonly ban_id: number
  readonly server_no: number
  readonly jail_id: number
  readonly country_id: number
  readonly ip: Buffer
  readonly banned_at: number
}
/** The same as a transaction of its own, which the caller has begun. */
export const sumUp = async (client: ClientBase): Promise<void> => {
  // At rest nothing waits, and nothing is locked.
  const { rows } = await client.query<{ waits: boolean }>('select exists (select from unsummed_bans) as waits')
  if (!rows[0]?.waits) return
  await lockSums(client)
  await sumWaiting(client)
}
