import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Bans by a column and time, with what else is asked for of a server's bans: on PostgreSQL indexes do it. */
const listings: readonly { name: string; column: string; more?: Readonly<Record<string, string>> }[] = [
  {
    name: 'server_bans',
    column: 'server_no',
    more: { ip: 'blob not null', jail_id: 'integer not null', country_id: 'integer not null', asn: 'integer' },
  },
  { name: 'jail_bans', column: 'jail_id' },
  { name: 'country_bans', column: 'country_id' },
]

/**
 * Instead of three indexes of SQLite's bans, lists that are kept like the sums: a batch of bans would write a page for nearly every
 * one into each index, thousands together write a few. The views hold every ban.
 */
const listsOf = ({ name, column, more = {} }: (typeof listings)[number]): string[] => {
  const columns = [column, 'banned_at', 'id', ...Object.keys(more)].join(', ')
  const others = Object.entries(more).map(([other, type]) => `${other} ${type}, `)
  return [
    `create table rolled_${name} (${column} integer not null, banned_at integer not null, id integer not null,
      ${others.join('')}primary key (${column}, banned_at, id)) without rowid`,
    `insert into rolled_${name} (${columns}) select ${columns} from bans where id <= (select ban_id from rolled_up) order by 1, 2, 3`,
    `create view ${name} as select ${columns} from rolled_${name} union all
      select ${columns} from bans not indexed where id > (select ban_id from rolled_up)`,
  ]
}

/** Lists of bans, and totals of the whole fleet: of 3,000 hosts `ban_cube` has hundreds of thousands of cells, this has hundreds. */
export const lists = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const sqlite = engine === 'sqlite'
    const statements = [
      `create table rolled_ban_fleet (jail_id integer not null, country_id integer not null,
        n ${sqlite ? 'integer' : 'bigint'} not null, primary key (jail_id, country_id)) ${sqlite ? 'without rowid' : ''}`,
      `insert into rolled_ban_fleet (jail_id, country_id, n)
        select jail_id, country_id, sum(n) from rolled_ban_cube group by jail_id, country_id`,
      `create view ban_fleet as select jail_id, country_id, n from rolled_ban_fleet union all
        select +jail_id, +country_id, 1 from bans where id > (select ban_id from rolled_up)`,
      ...(sqlite
        ? [...['server', 'jail', 'country'].map(of => `drop index bans_${of}`), ...listings.flatMap(listsOf)]
        : []),
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
