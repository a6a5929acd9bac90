import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { Database, Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { keptFromKey } from '../bans/bans.store.ts'
import { activeBansSummed, lastBansOf, listingTables, summedBans } from '../bans/sums.ts'

type Sql = Kysely<Schema>

/** A sum that differs from what the rows say. */
export interface Difference {
  readonly table: string
  /** How many of its cells are wrong. */
  readonly cells: number
  /** What they hold together, and what they should. */
  readonly held: number
  readonly counted: number
}

const hour = 3_600_000
const day = 86_400_000
const keptFrom = raw`coalesce((select cast(value as bigint) from meta where key = ${raw.lit(keptFromKey)}), 0)`
/** The first whole bucket of which every ban is still there. */
const firstWhole = (length: number) =>
  raw`((${keptFrom} + ${raw.lit(length - 1)}) / ${raw.lit(length)}) * ${raw.lit(length)}`
const bucketOf = (length: number) => raw`(banned_at / ${raw.lit(length)}) * ${raw.lit(length)}`
/** The latest bans are not in the sums yet; they are counted as they are read. */
const summedOn = (engine: Engine) => raw.raw(summedBans[engine])

interface SumTable {
  readonly name: string
  /** Key columns, and how each comes from a ban. */
  readonly keys: Readonly<Record<string, RawBuilder<unknown>>>
  /** Length of its buckets; null where it holds what is there, however old. */
  readonly bucket: number | null
}
const plain = (...columns: string[]) => Object.fromEntries(columns.map(column => [column, raw.ref(column)]))
const tables: readonly SumTable[] = [
  { name: 'rolled_ban_cube', keys: plain('server_no', 'jail_id', 'country_id'), bucket: null },
  { name: 'rolled_ban_fleet', keys: plain('jail_id', 'country_id'), bucket: null },
  ...(
    [
      ['rolled_ban_hours_jail', hour, ['jail_id']],
      ['rolled_ban_hours_country', hour, ['country_id']],
      ['rolled_ban_hours_server', hour, ['server_no']],
      ['rolled_ban_days_jail', day, ['server_no', 'jail_id']],
      ['rolled_ban_days_country', day, ['server_no', 'country_id']],
      ['rolled_ban_fleet_hours', hour, []],
      ['rolled_ban_fleet_days_jail', day, ['jail_id']],
      ['rolled_ban_fleet_days_country', day, ['country_id']],
    ] as const
  ).map(([name, length, columns]) => ({
    name,
    keys: { bucket: bucketOf(length), ...plain(...columns) },
    bucket: length,
  })),
]

interface Counting {
  readonly name: string
  readonly columns: RawBuilder<unknown>
  readonly value: RawBuilder<unknown>
  /** Cells of the table that can be compared. */
  readonly held: RawBuilder<unknown>
  /** What the rows say: the columns, and `n`. */
  readonly counted: RawBuilder<unknown>
  /** Which differences are wrong. */
  readonly wrong: RawBuilder<unknown>
}
const differs = raw`sum(held) <> sum(counted)`
const countingsOf = (engine: Engine, summed = summedOn(engine)): readonly Counting[] => [
  ...tables.map(({ name, keys, bucket }) => ({
    name,
    columns: raw.join(Object.keys(keys).map(key => raw.ref(key))),
    value: raw`n`,
    held: bucket === null ? raw`1 = 1` : raw`bucket >= ${firstWhole(bucket)}`,
    counted: raw`select ${raw.join(Object.entries(keys).map(([key, from]) => raw`${from} as ${raw.ref(key)}`))}, count(*) as n
      from bans where ${summed} ${bucket === null ? raw`` : raw`and banned_at >= ${firstWhole(bucket)}`}
      group by ${raw.join(Object.values(keys))}`,
    wrong: differs,
  })),
  {
    name: 'rolled_last_bans',
    columns: raw`bucket`,
    value: raw`n`,
    held: raw`1 = 1`,
    counted: raw.raw(lastBansOf(summedBans[engine])),
    wrong: differs,
  },
  {
    name: 'rolled_active_totals',
    columns: raw`server_no`,
    value: raw`n`,
    held: raw`1 = 1`,
    counted: raw.raw(activeBansSummed[engine]),
    wrong: differs,
  },
  {
    name: 'rolled_server_totals',
    columns: raw`server_no`,
    value: raw`total_bans`,
    held: raw`1 = 1`,
    counted: raw`select server_no, count(*) as n from bans where ${summed} group by server_no`,
    // Retention takes nothing from what a server ever reported.
    wrong: raw`sum(held) < sum(counted) or (${keptFrom} = 0 and ${differs})`,
  },
]

/** What SQLite keeps in lists beside the sums: each row is there once. */
const listings: readonly Counting[] = listingTables.map(({ name, column, select }) => ({
  name,
  columns: raw.join([raw.ref(column), raw`banned_at`, raw`id`]),
  value: raw`1`,
  held: raw`1 = 1`,
  counted: raw`select ${raw.ref(column)}, banned_at, id, 1 as n from (${raw.raw(select)}) as listed`,
  wrong: differs,
}))

/** Compares each sum with the rows, in one statement each, so that a server that runs meanwhile does not disturb. */
export const recount = async (sql: Sql, engine: Engine): Promise<Difference[]> => {
  const differences: Difference[] = []
  for (const { name, columns, value, held, counted, wrong } of [
    ...countingsOf(engine),
    ...(engine === 'sqlite' ? listings : []),
  ]) {
    const { rows } = await raw<{ cells: number; held: number | null; counted: number | null }>`
      select count(*) as cells, sum(held) as held, sum(counted) as counted from (
        select ${columns}, sum(held) as held, sum(counted) as counted from (
          select ${columns}, ${value} as held, 0 as counted from ${raw.table(name)} where ${held}
          union all select ${columns}, 0, n from (${counted}) as rows_said
        ) as compared group by ${columns} having ${wrong}
      ) as different`.execute(sql)
    const row = rows[0]
    if (row && Number(row.cells) > 0)
      differences.push({
        table: name.replace(/^rolled_/, ''),
        cells: Number(row.cells),
        held: Number(row.held ?? 0),
        counted: Number(row.counted ?? 0),
      })
  }
  return differences
}

/** Writes what the rows say, as far back as they are all there. Reports of bans wait as long as it takes. */
export const repair = (db: Database): Promise<void> =>
  db.write.transaction().execute(async sql => {
    if (db.engine === 'postgres') {
      await raw`set local statement_timeout = 0`.execute(sql)
      await raw`select pg_advisory_xact_lock(hashtext('stockade sums of bans'))`.execute(sql)
    }
    const summed = summedOn(db.engine)
    for (const { name, columns, held, counted } of countingsOf(db.engine)) {
      if (name === 'rolled_server_totals') continue
      await raw`delete from ${raw.table(name)} where ${held}`.execute(sql)
      await raw`insert into ${raw.table(name)} (${columns}, n) select ${columns}, n from (${counted}) as rows_said`.execute(
        sql,
      )
    }
    if (db.engine === 'sqlite')
      for (const { name, fill } of listingTables) {
        await raw`delete from ${raw.table(name)}`.execute(sql)
        await raw.raw(fill).execute(sql)
      }
    await raw`delete from rolled_server_totals where ${keptFrom} = 0`.execute(sql)
    await raw`insert into rolled_server_totals (server_no, total_bans)
      select server_no, count(*) from bans where ${summed} group by server_no
      on conflict (server_no) do update set total_bans = excluded.total_bans
        where rolled_server_totals.total_bans < excluded.total_bans`.execute(sql)
  })
