import { expect, test } from 'vitest'
import { second } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { createEvents } from '../../events/events.ts'
import type { Events } from '../../events/events.ts'
import { withDatabase } from '../../testing/scene.ts'
import { createRegistry } from '../servers/registry.ts'
import { createSilenceWatch } from './silence.ts'

let db: Database
withDatabase(opened => (db = opened))

const addServer = async (hostname: string): Promise<number> => {
  const row = { id: crypto.randomUUID(), hostname, description: '', created_at: 1, updated_at: 1 }
  const inserted = db.write.insertInto('servers').values({ ...row, status: 'online' })
  return (await inserted.returning('no').executeTakeFirstOrThrow()).no
}

test('a host that is heard while its silence is written is online again at once', async () => {
  const silentNo = await addServer('silent-01')
  const heardNo = await addServer('heard-01')
  let now = 1_000_000 * second
  const registry = await createRegistry(db, () => now)
  const hear = (no: number, number: number) =>
    registry.receive(no, {
      version: { boot: crypto.randomUUID(), number },
      receivedAt: now,
      metrics: null,
      jails: undefined,
    })
  for (const no of [silentNo, heardNo]) hear(no, 1)
  const storage = createEvents(
    db,
    () => now,
    () => {},
    null,
  )
  let changes = 0
  const events: Events = {
    ...storage,
    change: (work, ...rest) =>
      storage.change(
        async change => {
          const result = await work(change)
          // The heartbeat comes after the row was written and before the commit.
          if (++changes === 1) hear(heardNo, 2)
          return result
        },
        ...rest,
      ),
  }
  const config = { heartbeatInterval: 30, offlineAfter: 90 }
  const watch = createSilenceWatch({ clock: () => now, config, events, registry, isShared: false })
  now += 91 * second
  await watch()
  expect([silentNo, heardNo].map(no => registry.byNo(no)?.row.status)).toEqual(['offline', 'online'])
  const rows = await db.read.selectFrom('servers').select('status').orderBy('no').execute()
  expect(rows.map(({ status }) => status)).toEqual(['offline', 'online'])
  const recorded = await db.read.selectFrom('events').select(['name', 'server_no']).orderBy('id').execute()
  expect(recorded).toEqual([
    { name: 'server.offline', server_no: silentNo },
    { name: 'server.offline', server_no: heardNo },
    { name: 'server.online', server_no: heardNo },
  ])
  // Heard of all the time: nothing more to write.
  await watch()
  expect(changes).toBe(2)
})
