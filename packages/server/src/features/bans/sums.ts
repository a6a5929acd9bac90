import { dayOf, hourOf, minute } from '../../core/clock.ts'
import type { Engine } from '../../db/database.ts'

export interface Counted {
  readonly serverNo: number
  readonly jailId: number
  readonly countryId: number
  readonly bannedAt: number
}
/** Table, key columns and value column of each sum that is kept of bans. */
export const cellTables = [
  ['rolled_server_totals', ['server_no'], 'total_bans'],
  ['rolled_ban_cube', ['server_no', 'jail_id', 'country_id'], 'n'],
  ['rolled_ban_fleet', ['jail_id', 'country_id'], 'n'],
  ['rolled_ban_hours_jail', ['bucket', 'jail_id'], 'n'],
  ['rolled_ban_hours_country', ['bucket', 'country_id'], 'n'],
  ['rolled_ban_hours_server', ['server_no', 'bucket'], 'n'],
  ['rolled_ban_days_jail', ['server_no', 'bucket', 'jail_id'], 'n'],
  ['rolled_ban_days_country', ['server_no', 'bucket', 'country_id'], 'n'],
  ['rolled_ban_fleet_hours', ['bucket'], 'n'],
  ['rolled_ban_fleet_days_jail', ['bucket', 'jail_id'], 'n'],
  ['rolled_ban_fleet_days_country', ['bucket', 'country_id'], 'n'],
] as const
/**
 * On SQLite: bans by server, jail and country in the order of time. They are written with the sums, and read through views
 * likewise. `select` are their rows of the bans up to `rolled_up`, `fill` writes those into an empty table.
 */
export const listingTables = (
  [
    ['server_bans', 'server_no', ['ip', 'jail_id', 'country_id', 'asn']],
    ['jail_bans', 'jail_id', []],
    ['country_bans', 'country_id', []],
  ] as const
).map(([view, column, more]) => {
  const name = `rolled_${view}` as const
  const columns = [column, 'banned_at', 'id', ...more].join(', ')
  const select = `select ${columns} from bans where id <= (select ban_id from rolled_up)`
  // A difference that exists already blocks no writes; a recount reports it.
  const insert = `insert or ignore into ${name} (${columns})`
  return { name, column, select, insert, fill: `${insert} ${select} order by 1, 2, 3` }
})
/** What `rolled_active_totals` should hold, by the rows: `server_no` and `n`. What waits on PostgreSQL is not in it yet. */
export const activeBansSummed: Readonly<Record<Engine, string>> = {
  sqlite: `select server_no, count(*) as n from active_bans
    where ban_id <= (select ban_id from rolled_up) group by server_no`,
  postgres: `select server_no, sum(n) as n from (
      select server_no, 1 as n from active_bans union all select server_no, -1 from unsummed_bans where active = 1
      union all select server_no, n from unsummed_ends) as changed group by server_no`,
}
/** Counts active bans again. */
export const activeSums = (engine: Engine): string => `delete from rolled_active_totals;
  insert into rolled_active_totals (server_no, n) ${activeBansSummed[engine]}`
/** Makes the fleet's counts of finer ones: for what was saved before there were any. */
export const fleetSums = (
  [
    ['rolled_ban_fleet', 'jail_id, country_id', 'rolled_ban_cube'],
    ['rolled_ban_fleet_hours', 'bucket', 'rolled_ban_hours_jail'],
    ['rolled_ban_fleet_days_jail', 'bucket, jail_id', 'rolled_ban_days_jail'],
    ['rolled_ban_fleet_days_country', 'bucket, country_id', 'rolled_ban_days_country'],
  ] as const
)
  .map(
    ([table, keys, from]) => `delete from ${table};
      insert into ${table} (${keys}, n) select ${keys}, sum(n) from ${from} group by ${keys}`,
  )
  .join(';\n')
/** The cells of those tables that a batch touches, in their order: summed, and sorted by key so that pages come in turn. */
export const cellsOf = (bans: readonly Counted[]): number[][][] => {
  const sums = cellTables.map(([, keys]) => cellSums(keys.length))
  const [servers, cube, fleet, hoursJail, hoursCountry, hoursServer, daysJail, daysCountry, ...fleets] = sums
  const [fleetHours, fleetDaysJail, fleetDaysCountry] = fleets
  for (const { serverNo, jailId, countryId, bannedAt } of bans) {
    const hour = hourOf(bannedAt)
    const day = dayOf(bannedAt)
    servers?.count(serverNo)
    cube?.count(serverNo, jailId, countryId)
    fleet?.count(jailId, countryId)
    hoursJail?.count(hour, jailId)
    hoursCountry?.count(hour, countryId)
    hoursServer?.count(serverNo, hour)
    daysJail?.count(serverNo, day, jailId)
    daysCountry?.count(serverNo, day, countryId)
    fleetHours?.count(hour)
    fleetDaysJail?.count(day, jailId)
    fleetDaysCountry?.count(day, countryId)
  }
  return sums.map(sum => sum.cells())
}
/** Counts keys of up to three numbers; nested maps, since a text for each key costs more than the rest of a sum. */
const cellSums = (width: number) => {
  const firsts = new Map<number, Map<number, Map<number, number>>>()
  const inner = <V>(map: Map<number, Map<number, V>>, key: number) => {
    const knownSums = map.get(key)
    if (knownSums) return knownSums
    const newSums = new Map<number, V>()
    map.set(key, newSums)
    return newSums
  }
  const sorted = <V>(map: Map<number, V>) => [...map].sort(([a], [b]) => a - b)
  return {
    count(first: number, second = 0, third = 0) {
      const counts = inner(inner(firsts, first), second)
      counts.set(third, (counts.get(third) ?? 0) + 1)
    },
    cells: (): number[][] =>
      sorted(firsts).flatMap(([first, seconds]) =>
        sorted(seconds).flatMap(([second, thirds]) =>
          sorted(thirds).map(([third, n]) => [...[first, second, third].slice(0, width), n]),
        ),
      ),
  }
}
/** The bans that the sums hold. */
export const summedBans: Readonly<Record<Engine, string>> = {
  sqlite: 'id <= (select ban_id from rolled_up)',
  postgres: 'id not in (select ban_id from unsummed_bans)',
}
/** Addresses are counted by the step of time in which they were banned last. The beginning of a window, less than a step, is read from rows. */
export const lastBanStep = 5 * minute
export const stepOf = (at: number): number => Math.floor(at / lastBanStep) * lastBanStep
/** What `rolled_last_bans` should hold of bans that match `summed`: `bucket` and `n`. */
export const lastBansOf = (summed: string): string =>
  `select at - at % ${lastBanStep} as bucket, count(*) as n
    from (select max(banned_at) as at from bans where ${summed} group by ip) as last group by 1`
/** Counts the addresses of all summed bans again. */
export const lastBanSums = (engine: Engine): string =>
  `delete from rolled_last_bans; insert into rolled_last_bans (bucket, n) ${lastBansOf(summedBans[engine])}`
/** How these counts change: `before` is the latest ban of an address that was counted already, `latest` the latest of those that come. */
export const lastBansMoved = (
  addresses: Iterable<{ readonly before: number | null; readonly latest: number }>,
): [bucket: number, n: number][] => {
  const moved = new Map<number, number>()
  const add = (at: number, n: number) => moved.set(stepOf(at), (moved.get(stepOf(at)) ?? 0) + n)
  for (const { before, latest } of addresses) {
    if (before !== null && before >= latest) continue
    if (before !== null) add(before, -1)
    add(latest, 1)
  }
  return [...moved].filter(([, n]) => n !== 0).sort(([a], [b]) => a - b)
}
