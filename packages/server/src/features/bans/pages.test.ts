import { sql as raw } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '../../db/database.ts'
import { withDatabase } from '../../testing/scene.ts'
import { idsOfPage } from './bans.store.ts'

let db: Database
withDatabase(opened => (db = opened))

/* Bans by server, jail and country are views of two halves on SQLite. A page must read the newest of both, not sort all. */
for (const [name, filter] of Object.entries({
  server: { serverNo: 1 },
  'several servers': { servers: new Set([1, 2]) },
  jail: { jailId: 1 },
  country: { countryId: 1 },
  'not active': { serverNo: 1, active: false },
}))
  for (const [offset, limit] of [
    [0, 50],
    [50, 50],
    [0, 7],
  ] as const)
    test(`a page by ${name} merges the halves: ${limit} from ${offset} on`, async ({ skip }) => {
      if (db.engine === 'postgres') return skip()
      const ids = idsOfPage(db.engine, { servers: 'all', ...filter }, Date.now(), offset, limit)
      const inPage = raw`select id from bans where id in (select id from (${ids}) as page)`
      const { rows } = await raw<{ detail: string }>`explain query plan ${inPage}`.execute(db.read)
      expect(rows.map(({ detail }) => detail).join('\n')).toContain('MERGE')
    })
