import type { ClientBase, PoolClient } from 'pg'
import { expiryOf, lateAfter } from './ban-input.ts'
import type { AppendInput, Appended, BanEnd, NewBan } from './ban-input.ts'
import { knownNamesOf } from './known-names.ts'
import { sumUp } from './sums.postgres.ts'

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const keyOf = (serverNo: number, eventId: Uint8Array) => `${serverNo} ${hexOf(eventId).toString('hex')}`

/*
 * A batch is one prepared statement: one round trip and, outside of a transaction, one commit. It is made of these parts.
 */
const bansFrom = (names: string, types: string) => `given as (
    select * from unnest($2::int[], $3::bytea[], $4::int[], $5::bigint[], $6::int[], $7::bigint[], $8::bigint[], $9::text[],
      $10::float8[], $11::float8[], $12::text[], $13::text[], $14::bytea[], $15::text[], $16::text[], ${types})
      with ordinality as given (server_no, ip, prefix, banned_at, ban_duration, unbanned_at, asn, city, latitude, longitude,
        log_lines, banned_by, event_id, origin, asn_org, ${names}, place))`
const intoBans = (jailId: string, countryId: string, from: string) => `written as (
    insert into bans (server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, unbanned_at, asn, city,
        latitude, longitude, log_lines, banned_by, event_id, origin)
      select server_no, ${jailId}, ${countryId}, ip, prefix, banned_at, ban_duration, unbanned_at, asn, city,
        latitude, longitude, log_lines, banned_by, event_id, origin
      from ${from}
      order by place
      on conflict (server_no, event_id) do nothing
      returning id, server_no, jail_id, country_id, ip, prefix, banned_at, ban_duration, unbanned_at, event_id, origin)`
const newNetworks = `new_networks as (
    insert into networks (asn, org) select distinct on (asn) asn, asn_org from given
      where asn is not null and not exists (select from networks where networks.asn = given.asn)
      order by asn on conflict do nothing)`
/**
 * Names that are not known are looked up and added. A jail, country or network that another process adds at the same moment is seen by
 * neither half of its `union`: that ban is not written, and is written by the next try.
 */
const bansWithNames = [
  bansFrom('jail, country', '$17::text[], $18::text[]'),
  newNetworks,
  `new_jails as (
    insert into jails (name) select distinct jail from given where not exists (select from jails where name = jail)
      order by jail on conflict do nothing returning id, name)`,
  `jail_ids as (
    select id, name from jails where name in (select jail from given) union all select id, name from new_jails)`,
  `new_countries as (
    insert into countries (code) select distinct country from given
      where country is not null and not exists (select from countries where code = country)
      order by country on conflict do nothing returning id, code)`,
  `country_ids as (
    select id, code from countries where code in (select country from given) union all select id, code from new_countries)`,
  intoBans(
    'jail_ids.id',
    'coalesce(country_ids.id, 0)',
    `given join jail_ids on jail_ids.name = jail left join country_ids on country_ids.code = country
      where country is null or country_ids.id is not null`,
  ),
]
/** The same without look-ups: a third less work for PostgreSQL with a single ban. */
const bansWithIds = [
  bansFrom('jail_id, country_id', '$17::int[], $18::int[]'),
  newNetworks,
  intoBans('jail_id', 'country_id', 'given'),
]
const afterBans = [
  `activated as (
    insert into active_bans (ban_id, server_no, jail_id, country_id, ip, prefix, banned_at, expires_at)
      select id, server_no, jail_id, country_id, ip, prefix, banned_at,
        case when ban_duration >= 0 then banned_at + ban_duration * 1000::bigint end
      from written where unbanned_at is null)`,
  `recorded as (
    insert into events (at, name, server_no, ban_id)
      select $1, 'ban.report', server_no, id from written where origin is null order by id)`,
  `late as (
    insert into late_bans (ban_id, arrived_at) select id, $1 from written where banned_at < $1 - ${lateAfter} and origin is null)`,
  `queued as (
    insert into unsummed_bans (ban_id, server_no, jail_id, country_id, ip, banned_at, active)
      select id, server_no, jail_id, country_id, ip, banned_at, (unbanned_at is null)::int from written)`,
]
/**
 * Of several ends of one ban the first counts. Their five parameters begin at `first`. A prepared statement keeps its plan, also one made
 * for a small table: `offset 0` and `+ 0` leave PostgreSQL only the bans of one address at a time, by their index.
 */
const endsFrom = (first: number) => [
  `ends as (
    select server_no, jail, (select id from jails where name = jail) as jail_id, ip, prefix, ended_at, place
      from unnest($${first}::int[], $${first + 1}::text[], $${first + 2}::bytea[], $${first + 3}::int[], $${first + 4}::bigint[])
        with ordinality as given_ends (server_no, jail, ip, prefix, ended_at, place))`,
  `ended as (
    select distinct on (active_bans.ban_id) active_bans.ban_id, active_bans.banned_at, ended_at, place
      from ends cross join lateral (
          select id, banned_at from bans
            where bans.ip = ends.ip and bans.server_no + 0 = ends.server_no and bans.prefix is not distinct from ends.prefix
              and (ends.jail is null or bans.jail_id = ends.jail_id)
            offset 0) as candidates
        join active_bans on active_bans.banned_at = candidates.banned_at and active_bans.ban_id = candidates.id
      order by active_bans.ban_id, place)`,
  `gone as (
    delete from active_bans using ended where active_bans.banned_at = ended.banned_at and active_bans.ban_id = ended.ban_id
      returning active_bans.ban_id, ended_at, place)`,
  `over as (
    update bans set unbanned_at = greatest(ended_at, banned_at) from gone where id = gone.ban_id
      returning bans.id, bans.server_no, bans.banned_at, place)`,
  `ends_recorded as (
    insert into events (at, name, server_no, ban_id)
      select $1, 'ban.end', server_no, id from over order by place, banned_at, id)`,
]
const withAll = (parts: readonly string[], result: string) => `with ${parts.join(',\n  ')}\n  ${result}`
const ofEnds = 'select id, place, banned_at from over'
const statements = {
  'bans of new names and ends': withAll(
    [...bansWithNames, ...afterBans, ...endsFrom(19)],
    `select written.id, server_no, event_id, jail_id, country_id, jail_ids.name as jail, country_ids.code as country,
        null::bigint as place, null::bigint as banned_at
      from written join jail_ids on jail_ids.id = jail_id left join country_ids on country_ids.id = country_id
      union all select id, null, null, null, null, null, null, place, banned_at from over`,
  ),
  'bans and ends': withAll(
    [...bansWithIds, ...afterBans, ...endsFrom(19)],
    `select id, server_no, event_id, null::bigint as place, null::bigint as banned_at from written
      union all select id, null, null, place, banned_at from over`,
  ),
  bans: withAll([...bansWithIds, ...afterBans], 'select id, server_no, event_id, null as place from written'),
  ends: withAll(endsFrom(2), ofEnds),
}

const valuesOfBans = (bans: readonly NewBan[], now: number): unknown[] => {
  const endOf = (ban: NewBan) => {
    const expires = expiryOf(ban)
    // A ban that was over before it arrived is history: it ended when its time was up.
    return expires !== null && expires <= now ? expires : null
  }
  return [
    bans.map(ban => ban.serverNo),
    bans.map(ban => hexOf(ban.ip)),
    bans.map(ban => ban.prefix),
    bans.map(ban => ban.bannedAt),
    bans.map(ban => ban.duration),
    bans.map(endOf),
    bans.map(ban => ban.asn),
    bans.map(ban => ban.city),
    bans.map(ban => ban.latitude),
    bans.map(ban => ban.longitude),
    bans.map(ban => ban.logLines),
    bans.map(ban => ban.bannedBy),
    bans.map(ban => hexOf(ban.eventId)),
    bans.map(ban => (ban.isAdopted ? 'adopted' : null)),
    bans.map(ban => ban.asnOrg),
  ]
}
const valuesOfEnds = (ends: readonly BanEnd[]): unknown[] => [
  ends.map(end => end.serverNo),
  ends.map(end => end.jail),
  ends.map(end => hexOf(end.ip)),
  ends.map(end => end.prefix),
  ends.map(end => end.at),
]
type WrittenRow =
  | { readonly id: number; readonly place: number; readonly banned_at: number }
  | {
      readonly place: null
      readonly id: number
      readonly server_no: number
      readonly event_id: Buffer
      // With new names only.
      readonly jail_id: number
      readonly country_id: number
      readonly jail: string
      readonly country: string | null
    }
const rowsOf = async (
  client: ClientBase,
  bans: readonly NewBan[],
  ends: readonly BanEnd[],
  now: number,
  /** The statement is its own transaction, so that what it returns is committed. */
  isAlone: boolean,
): Promise<WrittenRow[]> => {
  const ask = async (name: keyof typeof statements, values: readonly unknown[]) =>
    (await client.query<WrittenRow>({ name: `stockade ${name}`, text: statements[name], values: [now, ...values] }))
      .rows
  if (bans.length === 0) return ask('ends', valuesOfEnds(ends))
  const names = knownNamesOf(client)
  const knownIds = bans.flatMap(ban => names.idsOf(ban) ?? [])
  if (knownIds.length === bans.length) {
    const values = [
      ...valuesOfBans(bans, now),
      knownIds.map(({ jailId }) => jailId),
      knownIds.map(({ countryId }) => countryId),
    ]
    return ends.length === 0 ? ask('bans', values) : ask('bans and ends', [...values, ...valuesOfEnds(ends)])
  }
  const rows = await ask('bans of new names and ends', [
    ...valuesOfBans(bans, now),
    bans.map(ban => ban.jail),
    bans.map(ban => ban.country),
    ...valuesOfEnds(ends),
  ])
  if (isAlone)
    for (const row of rows) if (row.place === null) names.learn(row, { jailId: row.jail_id, countryId: row.country_id })
  return rows
}

/** A host that tells bans again as ones that it holds says how long they last now. Answers the keys of those for which that is news. */
const takeLengths = async (client: ClientBase, held: readonly NewBan[], now: number): Promise<ReadonlySet<string>> => {
  if (held.length === 0) return new Set()
  const { rows } = await client.query<{ server_no: number; event_id: Buffer }>({
    name: 'stockade lengths of bans',
    text: `with given as (
        select * from unnest($2::int[], $3::bytea[], $4::bigint[]) as given (server_no, event_id, ban_duration)),
      changed as (
        update bans set ban_duration = given.ban_duration from given
          where bans.server_no = given.server_no and bans.event_id = given.event_id and bans.unbanned_at is null
            and bans.ban_duration is distinct from given.ban_duration
          returning bans.id, bans.server_no, bans.event_id, bans.banned_at, bans.ban_duration),
      moved as (
        update active_bans
          set expires_at = case when changed.ban_duration >= 0 then changed.banned_at + changed.ban_duration * 1000::bigint end
          from changed where active_bans.banned_at = changed.banned_at and active_bans.ban_id = changed.id),
      recorded as (
        insert into events (at, name, server_no, ban_id) select $1, 'ban.change', server_no, id from changed order by id)
      select server_no, event_id from changed`,
    values: [now, held.map(ban => ban.serverNo), held.map(ban => hexOf(ban.eventId)), held.map(ban => ban.duration)],
  })
  return new Set(rows.map(row => keyOf(row.server_no, row.event_id)))
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
/** What becomes of those that were reported before, by the key of the event. */
const repeatedOf = async (client: ClientBase, bans: readonly NewBan[], now: number): Promise<Map<string, Appended>> => {
  const appendedByKey = new Map<string, Appended>()
  for (const { id, server_no, event_id, banned_at } of await firstOf(client, bans))
    appendedByKey.set(keyOf(server_no, event_id), { id, changed: false, bannedAt: banned_at, eventId: null })
  const adoptedBans = bans.filter(ban => ban.isAdopted && appendedByKey.has(keyOf(ban.serverNo, ban.eventId)))
  for (const key of await takeLengths(client, adoptedBans, now)) {
    const result = appendedByKey.get(key)
    if (result) appendedByKey.set(key, { ...result, changed: true })
  }
  return appendedByKey
}
const mostTries = 5
interface Written {
  /** By the key of the event. */
  readonly bans: Map<string, Appended>
  /** In the order of the ends. */
  readonly ends: readonly Appended[]
}
/** Writes bans, and ends of bans that were there before. */
const writeOnce = async (
  client: ClientBase,
  bans: readonly NewBan[],
  ends: readonly BanEnd[],
  now: number,
  isAlone: boolean,
): Promise<Written> => {
  const results = new Map<string, Appended>()
  const newest = new Map<number, { id: number; bannedAt: number }>()
  const isLeft = (ban: NewBan) => !results.has(keyOf(ban.serverNo, ban.eventId))
  let left = bans
  for (let tries = 1; tries === 1 || (left.length > 0 && tries <= mostTries); tries++) {
    const written = new Map<string, number>()
    for (const row of await rowsOf(client, left, tries === 1 ? ends : [], now, isAlone))
      if (row.place === null) written.set(keyOf(row.server_no, row.event_id), row.id)
      else if ((newest.get(row.place)?.bannedAt ?? -1) < row.banned_at)
        newest.set(row.place, { id: row.id, bannedAt: row.banned_at })
    for (const ban of left) {
      const key = keyOf(ban.serverNo, ban.eventId)
      const id = written.get(key)
      if (id !== undefined && !results.has(key))
        results.set(key, { id, changed: true, bannedAt: ban.bannedAt, eventId: null })
    }
    left = left.filter(isLeft)
    if (left.length === 0) break
    for (const [key, result] of await repeatedOf(client, left, now)) results.set(key, result)
    left = left.filter(isLeft)
  }
  return {
    bans: results,
    ends: ends.map((end, index) => {
      const id = newest.get(index + 1)?.id ?? null
      return { id, changed: id !== null, bannedAt: end.at, eventId: null }
    }),
  }
}

const partsOf = (items: AppendInput['items']) => ({
  bans: items.filter(item => item.kind === 'ban'),
  ends: items.filter(item => item.kind === 'end'),
})
/** Whether one statement does: it does not see the bans that it writes, so an end that may be of one of them needs the next one. */
export const isOneStatement = ({ items }: AppendInput): boolean => {
  if (items.length === 0) return false
  const { bans, ends } = partsOf(items)
  if (bans.length === 0 || ends.length === 0) return true
  const keys = new Set(bans.map(ban => keyOf(ban.serverNo, ban.ip)))
  return !ends.some(end => keys.has(keyOf(end.serverNo, end.ip)))
}
/** One transaction: all bans, then the ends, each after the bans that it may end. Without items: the sums. */
export const appendToPostgres = async (client: PoolClient, input: AppendInput): Promise<Appended[]> => {
  const { items, now } = input
  if (items.length === 0) {
    await sumUp(client)
    return []
  }
  const { bans, ends } = partsOf(items)
  const isAlone = isOneStatement(input)
  const added = await writeOnce(client, bans, isAlone ? ends : [], now, isAlone)
  const over = isAlone ? added.ends : (await writeOnce(client, [], ends, now, false)).ends
  const reportedKeys = new Set<string>()
  const nextEnd = over.values()
  return items.map(item => {
    const key = item.kind === 'ban' ? keyOf(item.serverNo, item.eventId) : ''
    const result = item.kind === 'ban' ? added.bans.get(key) : nextEnd.next().value
    if (!result) throw new Error('An item was neither written nor found.')
    if (item.kind === 'end') return result
    // The same event twice in one batch: only the first of them is new.
    const isRepeated = reportedKeys.has(key)
    reportedKeys.add(key)
    return isRepeated ? { ...result, changed: false } : result
  })
}
