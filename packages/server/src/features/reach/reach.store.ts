import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

/** Where people are: addresses of sessions, of sign-ins since a time, and of the last use of API keys that people made. */
export const usedByPeople = async (sql: Kysely<Schema>, since: number): Promise<string[]> => {
  const { rows } = await raw<{ ip: string }>`select ip_address as ip from sessions
    union select events.actor_ip as ip from audit join events on events.id = audit.event_id
      where audit.at >= ${since} and audit.name = 'auth.login' and events.actor_ip is not null
    union select last_used_from as ip from api_keys
      where kind = 'user' and last_used_from is not null and last_used >= ${since}`.execute(sql)
  return rows.map(({ ip }) => ip)
}
