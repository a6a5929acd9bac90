import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
const names = { key: 'license.key', seen: 'license.seen', authority: 'license.authority' } as const

export interface Kept {
  /** The key that was activated last. */
  readonly key: string | null
  /** The latest time that this installation has seen. */
  readonly seen: number
  /** The public key of this installation, where it is its own authority. */
  readonly authority: string | null
}
export const readKept = async (sql: Sql): Promise<Kept> => {
  const rows = await sql.selectFrom('meta').selectAll().where('key', 'in', Object.values(names)).execute()
  const of = (name: string) => rows.find(({ key }) => key === name)?.value ?? null
  return { key: of(names.key), seen: Number(of(names.seen) ?? 0), authority: of(names.authority) }
}
const write = (sql: Sql, key: string, value: string) =>
  sql
    .insertInto('meta')
    .values({ key, value })
    .onConflict(on => on.column('key').doUpdateSet({ value }))
    .execute()
export const keepKey = (sql: Sql, key: string) => write(sql, names.key, key)
export const keepAuthority = (sql: Sql, publicKey: string) => write(sql, names.authority, publicKey)
/** As it is said: also backwards. */
export const keepSeen = (sql: Sql, at: number) => write(sql, names.seen, String(at))

/** Locks the licence and the number of servers until the transaction ends. SQLite has one writer anyway. */
export const lockLicence = async (sql: Sql, engine: Engine): Promise<void> => {
  if (engine === 'postgres') await raw`select pg_advisory_xact_lock(hashtext('stockade licence'))`.execute(sql)
}
export const countServers = (sql: Sql): Promise<number> =>
  rowCount(sql.selectFrom('servers').where('deleted_at', 'is', null))
