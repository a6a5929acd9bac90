import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Load of the hosts in steps of five minutes: one packed row for each server and hour. */
export const metricsHistory = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const [big, bytes, clustered] = engine === 'sqlite' ? ['integer', 'blob', 'without rowid'] : ['bigint', 'bytea', '']
    await sql
      .raw(
        `create table metrics_hours (server_no integer not null, hour ${big} not null, steps ${bytes} not null,
          primary key (server_no, hour)) ${clustered}`,
      )
      .execute(db)
    await sql.raw('create index metrics_hours_hour on metrics_hours (hour)').execute(db)
  },
})
