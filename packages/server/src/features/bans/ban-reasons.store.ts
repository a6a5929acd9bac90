import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** What the reason of a ban is made of. */
export interface ReasonSource {
  readonly id: number
  readonly server_no: number
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly jail: string
  readonly log_lines: string
  readonly banned_by: string | null
  readonly banned_at: number
}

/** Of these bans what their reasons are made of. */
export const reasonRows = async (sql: Sql, ids: readonly number[]): Promise<ReasonSource[]> =>
  ids.length === 0
    ? []
    : (
        await raw<ReasonSource>`select bans.id, bans.server_no, bans.ip, bans.prefix, jails.name as jail, bans.log_lines, bans.banned_by,
          bans.banned_at from bans join jails on jails.id = bans.jail_id where bans.id in (${raw.join([...ids])})`.execute(
          sql,
        )
      ).rows

export interface AddressCommand {
  readonly ip: string
  readonly type: 'ban-ip' | 'unban-ip'
  readonly server_no: number
  readonly params: string
  readonly initiated_by: string
  readonly created_at: number
}
/** Commands that banned one of these addresses, or completed ones that unbanned it, newest first; by the index of their addresses. */
export const commandsOfAddresses = async (
  sql: Sql,
  engine: Engine,
  type: AddressCommand['type'],
  ips: readonly string[],
): Promise<AddressCommand[]> => {
  if (ips.length === 0) return []
  // In the words of the index.
  const ip = engine === 'sqlite' ? raw`(params ->> '$.ip')` : raw`((params::jsonb) ->> 'ip')`
  const { rows } =
    await raw<AddressCommand>`select ${ip} as ip, type, server_no, params, initiated_by, created_at from commands
    where type in ('ban-ip', 'unban-ip') and ${ip} in (${raw.join([...ips])}) and type = ${type} and (type = 'ban-ip' or status = 'completed')
    order by created_at desc limit 1000`.execute(sql)
  return rows
}
