import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/**
 * Tags of servers: as JSON in the row, and a row for each of them to search by. Access by tags of users and keys, as JSON. Which
 * tags of a server fleet bans know, since which of their versions; `held` 0 is a tag that the server lost.
 */
export const serverTags = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `alter table servers add column tags text not null default '[]'`,
      `alter table users add column access_tags text`,
      `alter table api_keys add column access_tags text`,
      `create table server_tags (tag text not null, server_no integer not null, primary key (tag, server_no))`,
      `create table fleet_tags (
        server_no integer not null, tag text not null, held integer not null, version ${big} not null,
        primary key (server_no, tag))`,
      `create index fleet_tags_version on fleet_tags (version)`,
      `create index fleet_tags_tag on fleet_tags (tag)`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
