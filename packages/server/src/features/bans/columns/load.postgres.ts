import pg from 'pg'
import { horizonIn, horizonQuery } from '../../../events/horizon-query.ts'
import { createColumns } from './rows.ts'
import { addRow, bytesOfHex, checkFit, endedEarly, fields } from './taking-in.ts'
import type { Followed, Row } from './taking-in.ts'

/** Numbers of the database stay far below 2^53. */
const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format),
} as pg.CustomTypesConfig

/** Rows of one answer while all bans are read. */
const piece = 20_000
/**
 * Milliseconds without a look after which the list of changes (migration 0075) may have lost some. By the wall clock: the other one stands still while a
 * machine is suspended.
 */
const tooLate = 45 * 60_000

const isOver = `case when ${endedEarly} then 1 else 0 end`
const all = `select ${fields}, encode(ip, 'hex') from bans where (banned_at, id) > ($1, $2) order by banned_at, id limit ${piece}`
const ended = `select id, encode(ip, 'hex') from bans where ${endedEarly}`
/** What a transaction from $1 on changed. Bans that were removed since have no row but an address. */
const changed = `with changes as (
    select ban_id, null::bytea as ip from events where xid >= $1::xid8 and name in ('ban.report', 'ban.end')
    union all select ban_id, ip from ban_changes where xid >= $1::xid8)
  select ban_id, encode(coalesce(bans.ip, changes.ip), 'hex'), ${isOver}, ${fields}, encode(bans.ip, 'hex')
    from (select ban_id, (array_agg(ip) filter (where ip is not null))[1] as ip from changes group by ban_id) as changes left join bans on bans.id = ban_id
    where bans.id is not null or changes.ip is not null`
type Changed = [banId: number, ip: string, isOver: number, ...row: Row | null[]]

/**
 * Reads all bans in one snapshot, by the index of time, which holds every column that is asked for; and follows the database from there.
 * Changes are read again until every older transaction has ended, since they do not become visible in the order of their numbers.
 */
export const followPostgres = async (connectionString: string): Promise<Followed & { close(): Promise<void> }> => {
  const client = new pg.Client({ connectionString, types, application_name: 'stockade-columns' })
  await client.connect()
  const rowsOf = async <R extends unknown[]>(text: string, values: readonly unknown[] = []): Promise<R[]> =>
    (await client.query<R>({ text, values: [...values], rowMode: 'array' } satisfies pg.QueryArrayConfig)).rows
  const horizon = async () => horizonIn((await client.query(horizonQuery)).rows[0])

  let columns = createColumns()
  let from = '0'
  let lookedAt = 0
  const load = async () => {
    lookedAt = Date.now()
    from = await horizon()
    await client.query('begin isolation level repeatable read read only')
    const [[bans] = [0]] = await rowsOf<[number]>('select coalesce(sum(n), 0)::bigint from ban_fleet')
    checkFit(bans)
    columns = createColumns(bans)
    for (let [id, at] = [-1, -1]; ;) {
      const rows = await rowsOf<Row>(all, [at, id])
      for (const row of rows) addRow(columns, row, false)
      const last = rows.at(-1)
      if (!last) break
      ;[id, at] = last
    }
    for (const [id, ip] of await rowsOf<[number, string]>(ended)) columns.end(bytesOfHex(ip), id)
    await client.query('commit')
    columns.settle()
  }
  const isThere = (row: Row | null[]): row is Row => row[0] !== null
  const take = ([banId, hex, over, ...row]: Changed) => {
    const ip = bytesOfHex(hex)
    if (!isThere(row)) columns.remove(ip, banId)
    else if (!columns.has(ip, banId)) addRow(columns, row, over === 1)
    else if (over === 1) columns.end(ip, banId)
  }
  const follow = async () => {
    if (Date.now() - lookedAt > tooLate) return load()
    lookedAt = Date.now()
    const next = await horizon()
    for (const row of await rowsOf<Changed>(changed, [from])) take(row)
    from = next
  }
  await load()
  return {
    get columns() {
      return columns
    },
    catchUp: follow,
    async liftedAmong(ids) {
      if (ids.length === 0) return []
      const rows = await rowsOf<[number]>(`select id from bans where id = any ($1::bigint[]) and ${endedEarly}`, [ids])
      return rows.map(([id]) => id)
    },
    close: () => client.end(),
  }
}
