import type { ClientBase, PoolClient } from 'pg'
import { expiryOf } from './ban-input.ts'
import type { AppendInput, Appended, BanEnd, NewBan } from './ban-input.ts'
import { cellTables, cellsOf, hoursMoved } from './sums.ts'

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const keyOf = (serverNo: number, eventId: Uint8Array) => `${serverNo} ${hexOf(eventId).toString('hex')}`

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
    const ip = hexOf(ban.ip)
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
const sumUp = async (client: ClientBase): Promise<void> => {
  // At rest nothing waits, and nothing is locked.
  const { rows } = await client.query<{ waits: boolean }>('select exists (select from unsummed_bans) as waits')
  if (!rows[0]?.waits) return
  await lockSums(client)
  await sumWaiting(client)
}

/**
 * Everything that a ban writes, as one prepared statement: one round trip and, outside of a transaction, one commit. A jail, country or
 * network that another process adds at the same moment is seen by neither half of its `union`: that ban is not written, and
 * is written by the next try.
 */
const insertBans = `with given as (
    select * from unnest($2::int[], $3::text[], $4::text[], $5::bytea[], $6::int[], $7::bigint[], $8::int[], $9::bigint[],
      $10::bigint[], $11::text[], $12::text[], $13::float8[], $14::float8[], $15::text[], $16::text[], $17::bytea[], $18::text[])
      with ordinality as given (server_no, jail, country, ip, prefix, banned_at, ban_duration, unbanned_at, asn, asn_org,
        city, latitude, longitude, log_lines, banned_by, event_id, origin, position)),
  new_jails as (
    insert into jails (name) select distinct jail from given where not exists (select from jails where name = jail)
      order by jail on conflict do nothing returning id, name),
  jail_ids as (select id, name from jails where name in (select jail from given) union all select id, name from new_jails),
  new_countries as (
    insert into countries (code) select distinct country from given
      where country is not null and not exists (select from countries where code = country)
      order by country on conflict do nothing returning id, code),
  country_ids as (
    select id, code from countries where code in (select country from given) union all select id, code from new_countries),
  new_networks as (
    insert into networks (asn, org) select distinct on (asn) asn, asn_org from given
      where asn is not null and not exists (select from networks where networks.asn = given.asn)
      order by asn on conflict do nothing),
  written as (
    insert into bans (server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, unbanned_at, asn, city,
        latitude, longitude, log_lines, banned_by, event_id, origin)
      select server_no, jail_ids.id, coalesce(country_ids.id, 0), ip, prefix, banned_at, ban_duration, unbanned_at, asn, city,
        latitude, longitude, log_lines, banned_by, event_id, origin
      from given join jail_ids on jail_ids.name = jail left join country_ids on country_ids.code = country
      where country is null or country_ids.id is not null
      order by position
      on conflict (server_no, event_id) do nothing
      returning id, server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, unbanned_at, event_id, origin),
  activated as (
    insert into active_bans (ban_id, server_no, jail_id, country_id, ip, prefix, banned_at, expires_at)
      select id, server_no, jail_id, country_id, ip, prefix, banned_at,
        case when ban_duration >= 0 then banned_at + ban_duration * 1000::bigint end
      from written where unbanned_at is null),
  recorded as (
    insert into events (at, name, server_no, ban_id)
      select $1, 'ban.report', server_no, id from written where origin is null order by id),
  queued as (
    insert into unsummed_bans (ban_id, server_no, jail_id, country_id, ip, banned_at)
      select id, server_no, jail_id, country_id, ip, banned_at from written)
  select id, server_no, event_id from written`
const insert = async (client: ClientBase, bans: readonly NewBan[], now: number): Promise<Map<string, number>> => {
  const endOf = (ban: NewBan) => {
    const expires = expiryOf(ban)
    // A ban that was over before it arrived is history: it ended when its time was up.
    return expires !== null && expires <= now ? expires : null
  }
  const { rows } = await client.query<{ id: number; server_no: number; event_id: Buffer }>({
    name: 'stockade bans',
    text: insertBans,
    values: [
      now,
      bans.map(ban => ban.serverNo),
      bans.map(ban => ban.jail),
      bans.map(ban => ban.country),
      bans.map(ban => hexOf(ban.ip)),
      bans.map(ban => ban.prefix),
      bans.map(ban => ban.bannedAt),
      bans.map(ban => ban.duration),
      bans.map(endOf),
      bans.map(ban => ban.asn),
      bans.map(ban => ban.asnOrg),
      bans.map(ban => ban.city),
      bans.map(ban => ban.latitude),
      bans.map(ban => ban.longitude),
      bans.map(ban => ban.logLines),
      bans.map(ban => ban.bannedBy),
      bans.map(ban => hexOf(ban.eventId)),
      bans.map(ban => (ban.isAdopted ? 'adopted' : null)),
    ],
  })
  return new Map(rows.map(row => [keyOf(row.server_no, row.event_id), row.id]))
}
/** The bans of events that were reported before. */
const firstOf = async (client: ClientBase, repeated: readonly NewBan[]) => {
  const { rows } = await client.query<{ id: number; server_no: number; event_id: Buffer; banned_at: number }>(
    `select id, server_no, event_id, banned_at from bans
      where (server_no, event_id) in (select * from unnest($1::int[], $2::bytea[]))`,
    [repeated.map(ban => ban.serverNo), repeated.map(ban => hexOf(ban.eventId))],
  )
  return rows
}
const mostTries = 5
const addBans = async (client: ClientBase, bans: readonly NewBan[], now: number): Promise<Map<string, Appended>> => {
  const results = new Map<string, Appended>()
  const isLeft = (ban: NewBan) => !results.has(keyOf(ban.serverNo, ban.eventId))
  let left = bans
  for (let tries = 1; left.length > 0 && tries <= mostTries; tries++) {
    const written = await insert(client, left, now)
    for (const ban of left) {
      const key = keyOf(ban.serverNo, ban.eventId)
      const id = written.get(key)
      if (id !== undefined && !results.has(key))
        results.set(key, { id, changed: true, bannedAt: ban.bannedAt, eventId: null })
    }
    left = left.filter(isLeft)
    if (left.length === 0) break
    for (const row of await firstOf(client, left))
      results.set(keyOf(row.server_no, row.event_id), {
        ...{ id: row.id, changed: false },
        ...{ bannedAt: row.banned_at, eventId: null },
      })
    left = left.filter(isLeft)
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

/** One transaction: all bans by one statement, then the ends, each after the bans that it may end. Without items: the sums. */
export const appendToPostgres = async (client: PoolClient, { items, now }: AppendInput): Promise<Appended[]> => {
  if (items.length === 0) {
    await sumUp(client)
    return []
  }
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
