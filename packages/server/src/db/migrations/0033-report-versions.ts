import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** The versions of what each host last said: the host's own clock of reports, and the number of changes of its jails' details. */
export const reportVersions = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    await sql.raw(`alter table heartbeats add column boot text not null default ''`).execute(db)
    await sql.raw(`alter table heartbeats add column report ${big} not null default 0`).execute(db)
    await sql.raw(`alter table heartbeats add column revision ${big} not null default 0`).execute(db)
  },
})
