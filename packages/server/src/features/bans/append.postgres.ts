import type { ClientBase, PoolClient } from 'pg'
import { expiryOf } from './ban-input.ts'
import type { AppendInput, Appended, BanEnd, NewBan } from './ban-input.ts'
import { cellTables, cellsOf, hoursMoved } from './sums.ts'

type Dimension = { table: 'jails' | 'countries'; column: 'name' | 'code' }

/** Ids of names, adding the new ones; sorted, so that two writers never wait for each other in a circle. */
const idsOf = async (client: PoolClient, { table, column }: Dimension, names: readonly string[]) => {
  const wanted = [...new Set(names)].sort()
  if (wanted.length === 0) return new Map<string, number>()
  const find = async () => {
    const { rows } = await client.query<{ id: number; name: string }>(
      `select id, ${column} as name from ${table} where ${column} = any ($1)`,
      [wanted],
    )
    return new Map(rows.map(row => [row.name, row.id]))
  }
  const known = await find()
  if (known.size === wanted.length) return known
  await client.query(`insert into ${table} (${column}) select * from unnest($1::text[]) on conflict do nothing`, [
    wanted.filter(name => !known.has(name)),
  ])
  return find()
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const keyOf = (serverNo: number, eventId: Uint8Array) => `${serverNo} ${hexOf(eventId).toString('hex')}`

/** A ban that was written, as the sums see it. */
export interface Made {
  readonly ban: Pick<NewBan, 'serverNo' | 'bannedAt' | 'ip'>
  readonly id: number
  readonly jailId: number
  readonly countryId: number
}
/**
 * Adds new bans to the sums. One transaction at a time does this, until it commits: rows of sums are few and hot, so they
 * would wait for each other anyway, and whether an address is new is only known when nobody else counts it meanwhile.
 */
export const addToSums = async (client: ClientBase, made: readonly Made[]): Promise<void> => {
  await client.query("select pg_advisory_xact_lock(hashtext('stockade sums of bans'))")
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
    const ip = hexOf(ban.ip)
    const key = ip.toString('latin1')
    if ((latest.get(key)?.at ?? -1) < ban.bannedAt) latest.set(key, { ip, at: ban.bannedAt })
  }
  const { rows } = await client.query<{ ip: Buffer; at: number }>(
    `select ip, (select max(banned_at) from bans where bans.ip = given.ip and not (id = any ($2::bigint[]))) as at
      from unnest($1::bytea[]) as given (ip)`,
    [[...latest.values()].map(({ ip }) => ip), made.map(({ id }) => id)],
  )
  const before = new Map(rows.map(row => [row.ip.toString('latin1'), row.at]))
  const moved = hoursMoved([...latest].map(([key, { at }]) => ({ before: before.get(key) ?? null, latest: at })))
  if (moved.length > 0) await add('rolled_ip_hours', ['bucket'], 'n', moved)
}

const addBans = async (client: PoolClient, bans: readonly NewBan[], now: number): Promise<Map<string, Appended>> => {
  const results = new Map<string, Appended>()
  if (bans.length === 0) return results
  const jails = await idsOf(
    client,
    { table: 'jails', column: 'name' },
    bans.map(ban => ban.jail),
  )
  const countries = await idsOf(
    client,
    { table: 'countries', column: 'code' },
    bans.flatMap(ban => ban.country ?? []),
  )
  const networks = new Map(bans.flatMap(ban => (ban.asn === null ? [] : [[ban.asn, ban.asnOrg] as const])))
  if (networks.size > 0) {
    const sorted = [...networks].sort(([a], [b]) => a - b)
    await client.query(
      'insert into networks (asn, org) select * from unnest($1::bigint[], $2::text[]) on conflict do nothing',
      [sorted.map(([asn]) => asn), sorted.map(([, org]) => org)],
    )
  }
  const rows = bans.map(ban => ({
    ban,
    jailId: jails.get(ban.jail) ?? 0,
    countryId: ban.country === null ? 0 : (countries.get(ban.country) ?? 0),
    expires: expiryOf(ban),
  }))
  const over = (expires: number | null) => expires !== null && expires <= now
  const inserted = await client.query<{ id: number; server_no: number; event_id: Buffer }>(
    `insert into bans (server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, unbanned_at, asn, city,
        latitude, longitude, log_lines, banned_by, event_id)
      select * from unnest($1::int[], $2::int[], $3::int[], $4::bytea[], $5::int[], $6::bigint[], $7::int[],
        $8::bigint[], $9::bigint[], $10::text[], $11::float8[], $12::float8[], $13::text[], $14::text[], $15::bytea[])
      on conflict (server_no, event_id) do nothing returning id, server_no, event_id`,
    [
      rows.map(row => row.ban.serverNo),
      rows.map(row => row.jailId),
      rows.map(row => row.countryId),
      rows.map(row => hexOf(row.ban.ip)),
      rows.map(row => row.ban.prefix),
      rows.map(row => row.ban.bannedAt),
      rows.map(row => row.ban.duration),
      rows.map(row => (over(row.expires) ? row.expires : null)),
      rows.map(row => row.ban.asn),
      rows.map(row => row.ban.city),
      rows.map(row => row.ban.latitude),
      rows.map(row => row.ban.longitude),
      rows.map(row => row.ban.logLines),
      rows.map(row => row.ban.bannedBy),
      rows.map(row => hexOf(row.ban.eventId)),
    ],
  )
  const ids = new Map(inserted.rows.map(row => [keyOf(row.server_no, row.event_id), row.id]))
  const fresh = new Map<string, (typeof rows)[number] & { id: number }>()
  for (const row of rows) {
    const key = keyOf(row.ban.serverNo, row.ban.eventId)
    const id = ids.get(key)
    if (id !== undefined && !fresh.has(key)) fresh.set(key, { ...row, id })
  }
  const made = [...fresh.values()]
  if (made.length > 0) {
    const active = made.filter(row => !over(row.expires))
    await client.query(
      `insert into active_bans (ban_id, server_no, jail_id, country_id, ip, prefix, banned_at, expires_at)
        select * from unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::bytea[], $6::int[], $7::bigint[], $8::bigint[])`,
      [
        active.map(row => row.id),
        active.map(row => row.ban.serverNo),
        active.map(row => row.jailId),
        active.map(row => row.countryId),
        active.map(row => hexOf(row.ban.ip)),
        active.map(row => row.ban.prefix),
        active.map(row => row.ban.bannedAt),
        active.map(row => row.expires),
      ],
    )
    const reported = made.filter(row => !row.ban.isAdopted)
    await client.query(
      `insert into events (at, name, server_no, ban_id)
        select $1, 'ban.report', * from unnest($2::int[], $3::bigint[])`,
      [now, reported.map(row => row.ban.serverNo), reported.map(row => row.id)],
    )
    const adopted = made.flatMap(row => (row.ban.isAdopted ? [row.id] : []))
    if (adopted.length > 0)
      await client.query(`update bans set origin = 'adopted' where id = any ($1::bigint[])`, [adopted])
    await addToSums(client, made)
  }
  for (const [key, row] of fresh)
    results.set(key, { id: row.id, changed: true, bannedAt: row.ban.bannedAt, eventId: null })
  const repeated = bans.filter(ban => !fresh.has(keyOf(ban.serverNo, ban.eventId)))
  if (repeated.length > 0) {
    const first = await client.query<{ id: number; server_no: number; event_id: Buffer; banned_at: number }>(
      `select id, server_no, event_id, banned_at from bans
        where (server_no, event_id) in (select * from unnest($1::int[], $2::bytea[]))`,
      [repeated.map(ban => ban.serverNo), repeated.map(ban => hexOf(ban.eventId))],
    )
    for (const row of first.rows)
      results.set(keyOf(row.server_no, row.event_id), {
        id: row.id,
        changed: false,
        bannedAt: row.banned_at,
        eventId: null,
      })
  }
  return results
}

const endBan = async (client: PoolClient, item: BanEnd, now: number): Promise<Appended> => {
  const ended = await client.query<{ id: number }>(
    `with gone as (
        delete from active_bans using bans where bans.ip = $2 and bans.server_no = $1 and bans.prefix is not distinct from $3
          and ($4::text is null or bans.jail_id = (select id from jails where name = $4))
          and active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id returning active_bans.ban_id),
      over as (
        update bans set unbanned_at = greatest($5, banned_at) from gone where id = gone.ban_id
        returning bans.id, bans.banned_at),
      told as (insert into events (at, name, server_no, ban_id) select $6, 'ban.end', $1, id from over)
      select id from over order by banned_at desc`,
    [item.serverNo, hexOf(item.ip), item.prefix, item.jail, item.at, now],
  )
  return { id: ended.rows[0]?.id ?? null, changed: ended.rows.length > 0, bannedAt: item.at, eventId: null }
}

/** One transaction: all bans by a few statements over arrays, then the ends, each after the bans that it may end. */
export const appendToPostgres = async (client: PoolClient, { items, now }: AppendInput): Promise<Appended[]> => {
  const bans = items.filter(item => item.kind === 'ban')
  const added = await addBans(client, bans, now)
  const told = new Set<string>()
  const results: Appended[] = []
  for (const item of items) {
    if (item.kind === 'end') {
      results.push(await endBan(client, item, now))
      continue
    }
    const key = keyOf(item.serverNo, item.eventId)
    const result = added.get(key)
    if (!result) throw new Error('A ban was neither written nor found.')
    // The same event twice in one batch: only the first of them is new.
    results.push(told.has(key) ? { ...result, changed: false } : result)
    told.add(key)
  }
  return results
}
