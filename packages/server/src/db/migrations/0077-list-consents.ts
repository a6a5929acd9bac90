import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'
import { columnTypes } from './0001-schema/column-types.ts'

/** The bound of addresses of lists for which nobody gave one, and what their first version makes of it since. */
const [old, least, times] = [2 ** 28, 2 ** 20, 10]

/**
 * What lists may hold and where they may be read. Lists that are there go on to take wide ranges, so that an upgrade takes nothing out of firewalls. None may
 * be read from a private address until an administrator allows it: the last good version stays in force.
 */
export const listConsents = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [
      'alter table blocklists add column max_is_default integer not null default 0',
      'alter table blocklists add column allow_wide integer not null default 0',
      'alter table blocklists add column allow_private integer not null default 0',
      'alter table blocklists add column limited integer not null default 0',
      `alter table blocklists add column networks ${columnTypes(engine).real} not null default 0`,
      `alter table blocklists add column max_networks ${columnTypes(engine).real} not null default 0`,
      'update blocklists set allow_wide = 1',
      `update blocklists set max_is_default = 1 where version = 0 and max_addresses = ${old}`,
      `update blocklists set max_addresses = case
         when addresses * ${times} > ${old} then ${old} when addresses * ${times} < ${least} then ${least} else addresses * ${times} end
       where version > 0 and max_addresses = ${old}`,
    ])
      await sql.raw(statement).execute(db)
  },
})
