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

/** Rows of one answer at most: the heap of the thread is small. */
const piece = 20_000
/** Milliseconds for one answer. Without it a connection that died unnoticed would hold up every list of attackers. */
const longestAnswer = 10_000
/**
 * Milliseconds without a look after which the list of changes (migration 0075) may have lost some. By the wall clock: the other one stands still while a
 * machine is suspended.
 */
const tooLate = 45 * 60_000

const isOver = `case when ${endedEarly} then 1 else 0 end`
const all = `select ${fields}, encode(ip, 'hex') from bans where (banned_at, id) > ($1, $2) order by banned_at, id limit ${piece}`
const ended = `select id, encode(ip, 'hex') from bans where ${endedEarly} and id > $1 order by id limit ${piece}`
/** What a transaction from $1 on changed, of bans after $2. Bans that were removed since have no row but an address. */
const changed = `with changes as (
    select ban_id, null::bytea as ip from events where xid >= $1::xid8 and name in ('ban.report', 'ban.end', 'ban.change')
    union all select ban_id, ip from ban_changes where xid >= $1::xid8)
  select ban_id, encode(coalesce(bans.ip, changes.ip), 'hex'), ${isOver}, ${fields}, encode(bans.ip, 'hex')
    from (select ban_id, (array_agg(ip) filter (where ip is not null))[1] as ip from changes group by ban_id) as changes left join bans on bans.id = ban_id
    where (bans.id is not null or changes.ip is not null) and ban_id > $2 order by ban_id limit ${piece}`
type Changed = [banId: number, ip: string, isOver: number, ...row: Row | null[]]

/**
 * Reads all bans in one snapshot, by the index of time, which holds every column that is asked for; and follows the database from there.
 * Changes are read again until every older transaction has ended, since they do not become visible in the order of their numbers.
 */
export const followPostgres = async (
  connectionString: string,
  patience = longestAnswer,
): Promise<Followed & { close(): Promise<void> }> => {
  const client = new pg.Client({
    ...{ connectionString, types, application_name: 'stockade-columns' },
    ...{ connectionTimeoutMillis: patience, query_timeout: patience, keepAlive: true },
  })
  /** Why the connection is gone: what the next query says is only that it is. */
  let lost: Error | null = null
  client.on('error', error => (lost ??= error))
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
    for (let after = 0; ;) {
      const rows = await rowsOf<[number, string]>(ended, [after])
      for (const [id, ip] of rows) columns.end(bytesOfHex(ip), id)
      if (rows.length < piece) break
      after = rows.at(-1)?.[0] ?? after
    }
    await client.query('commit')
    columns.settle()
  }
  const isThere = (row: Row | null[]): row is Row => row[0] !== null
  const take = ([banId, hex, over, ...row]: Changed) => {
    const ip = bytesOfHex(hex)
    if (!isThere(row)) columns.remove(ip, banId)
    else if (!columns.has(ip, banId)) addRow(columns, row, over === 1)
    else if (over === 1) columns.end(ip, banId)
    else columns.setDuration(ip, banId, row[6])
  }
  const follow = async () => {
    if (lost) throw lost
    if (Date.now() - lookedAt > tooLate) return load()
    lookedAt = Date.now()
    const next = await horizon()
    for (let after = 0; ;) {
      const rows = await rowsOf<Changed>(changed, [from, after])
      for (const row of rows) take(row)
      if (rows.length < piece) break
      after = rows.at(-1)?.[0] ?? after
    }
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
