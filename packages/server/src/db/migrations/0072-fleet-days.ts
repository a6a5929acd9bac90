import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

interface FleetSum {
  readonly name: string
  /** Key columns; those of the sums that it begins with. */
  readonly keys: readonly string[]
  readonly from: string
  readonly step: number
}
const sums: readonly FleetSum[] = [
  { name: 'ban_fleet_hours', keys: ['bucket'], from: 'rolled_ban_hours_jail', step: 3_600_000 },
  { name: 'ban_fleet_days_jail', keys: ['bucket', 'jail_id'], from: 'rolled_ban_days_jail', step: 86_400_000 },
  { name: 'ban_fleet_days_country', keys: ['bucket', 'country_id'], from: 'rolled_ban_days_country', step: 86_400_000 },
]

/** Coarse sums of the whole fleet: statistics of a month would read the hours of each jail and country, or the days of each server. */
export const fleetDays = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const unsummed = engine === 'sqlite' ? 'bans where id > (select ban_id from rolled_up)' : 'unsummed_bans'
    for (const { name, keys, from, step } of sums) {
      const columns = keys.join(', ')
      const types = keys.map(key => `${key} ${key === 'bucket' ? big : 'integer'} not null, `).join('')
      // The plus keeps SQLite from taking an index for the few bans after the last sum.
      const places = keys.map(key =>
        key === 'bucket' ? `banned_at - banned_at % ${step}` : engine === 'sqlite' ? `+${key}` : key,
      )
      for (const statement of [
        `create table rolled_${name} (${types}n ${big} not null, primary key (${columns}))${engine === 'sqlite' ? ' without rowid' : ''}`,
        `insert into rolled_${name} (${columns}, n) select ${columns}, sum(n) from ${from} group by ${columns}`,
        `create view ${name} as select ${columns}, n from rolled_${name}
          union all select ${places.join(', ')}, 1 from ${unsummed}`,
      ])
        await sql.raw(statement).execute(db)
    }
  },
})
