import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Listener, StockadeEvent } from '../../events/events.ts'
import { eventually, freshDatabase, startServer } from '../../testing/index.ts'
import type { TestServer } from '../../testing/index.ts'
import { createEventConditions } from './event-conditions.ts'

/* What happens is heard of once, and also where the process that evaluates ended before it stored what it had heard. */

let server: TestServer
let db: Database
let drop: (() => Promise<void>) | null = null
beforeAll(async () => {
  const database = await freshDatabase()
  drop = database?.drop ?? null
  server = await startServer(database ? { databaseUrl: database.url } : {})
  const url = database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}
  db = await openStorage(readConfig({ STOCKADE_DATA_DIR: server.dataDir, ...url }))
})
afterAll(async () => {
  await db.close()
  await server.close()
  await drop?.()
})

const stale = (name: string, at: number): StockadeEvent => ({
  ...{ id: 1, at, name: 'list.stale', author: null, serverNo: null, banId: null },
  data: { name, reason: 'no answer.' },
})
const start = () => {
  const listeners: Listener[] = []
  const conditions = createEventConditions({
    db,
    clock: Date.now,
    registry: { byNo: () => undefined },
    events: {
      subscribe(listener) {
        listeners.push(listener)
        return () => {}
      },
    },
  })
  const titles = async () => ((await conditions.take()).get('list-stale') ?? []).map(({ title }) => title)
  return { conditions, titles, hear: (event: StockadeEvent) => listeners.forEach(listener => listener([event])) }
}

test('what was taken comes again until it is stored', async () => {
  const { conditions, titles, hear } = start()
  hear(stale('drop', Date.now()))
  expect(await titles()).toEqual(['The blocklist drop is out of date'])
  hear(stale('edrop', Date.now()))
  expect(await titles()).toEqual(['The blocklist drop is out of date', 'The blocklist edrop is out of date'])
  await conditions.settle()
  expect(await titles()).toEqual([])
})

test('a process that starts reads what was recorded since the place that was kept, but for what is older than a day', async () => {
  // The server's own evaluation begins at the end of the stream.
  await eventually(async () => {
    const row = await db.read.selectFrom('cursors').selectAll().where('name', '=', 'alerts').executeTakeFirst()
    expect(row).toBeDefined()
  })
  const record = (name: string, at: number) =>
    db.write
      .insertInto('events')
      .values({ at, name: 'list.stale', data: jsonText({ name, reason: 'no answer.' }) })
      .execute()
  await record('late', Date.now() - 2 * 86_400_000)
  await record('recent', Date.now())
  expect(await start().titles()).toEqual(['The blocklist recent is out of date'])
})
