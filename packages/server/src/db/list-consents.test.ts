import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { engine } from '../testing/index.ts'
import { listConsents } from './migrations/0077-list-consents.ts'
import { openSqlite } from './sqlite.ts'

test.runIf(engine === 'sqlite')(
  'an upgrade keeps what lists hold, and lets none be read from a private address',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-lists-'))
    const db = await openSqlite(join(folder, 'stockade.sqlite3'))
    const old = 2 ** 28
    try {
      await sql`create table blocklists (id integer primary key, version integer, addresses integer, max_addresses integer)`.execute(
        db.write,
      )
      for (const [version, addresses, most] of [
        [0, 0, old],
        [7, 1000, old],
        [7, 2 ** 20, old],
        [7, 2 ** 27, old],
        [7, 1000, 5000],
      ])
        await sql`insert into blocklists (version, addresses, max_addresses) values (${version}, ${addresses}, ${most})`.execute(
          db.write,
        )
      await listConsents('sqlite').up(db.write as unknown as Kysely<unknown>)
      const { rows } =
        await sql`select max_addresses, max_is_default, allow_wide, allow_private, limited, networks, max_networks
      from blocklists order by id`.execute(db.write)
      const kept = { allow_wide: 1, allow_private: 0, limited: 0, networks: 0, max_networks: 0 }
      expect(rows).toEqual([
        { ...kept, max_addresses: old, max_is_default: 1 },
        { ...kept, max_addresses: 2 ** 20, max_is_default: 0 },
        { ...kept, max_addresses: 10 * 2 ** 20, max_is_default: 0 },
        { ...kept, max_addresses: old, max_is_default: 0 },
        { ...kept, max_addresses: 5000, max_is_default: 0 },
      ])
    } finally {
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
