import { expect, test } from 'vitest'
import { openStorage } from '../../src/admin/storage.ts'
import { readConfig } from '../../src/config.ts'
import { aHost, freshDatabase, raw, startServer } from '../../src/testing/index.ts'

/* A stolen agent key told of a thousand other jails in each request, and each list was kept for as long as events are: past every quota. */

test('other lists of jails all day leave no copies of them', async () => {
  const database = await freshDatabase()
  const secret = 'test-secret-of-thirty-two-characters'
  const server = await startServer({
    env: { STOCKADE_SECRET_KEY: secret },
    ...(database ? { databaseUrl: database.url } : {}),
  })
  const db = await openStorage(
    readConfig({
      STOCKADE_DATA_DIR: server.dataDir,
      STOCKADE_SECRET_KEY: secret,
      ...(database ? { STOCKADE_DATABASE_URL: database.url } : {}),
    }),
  )
  try {
    const { client } = await server.setUp()
    const { key } = await aHost(server, client)
    const jails = (list: number) =>
      Array.from({ length: 1000 }, (_, n) => ({ name: `${list}-${n}-${'x'.repeat(50)}`, enabled: true }))
    for (let list = 0; list < 2; list++)
      for (const [method, path, body] of [
        ['PUT', '/agent/jails', { jails: jails(2 * list) }],
        ['POST', '/servers/heartbeat', { hostname: 'web-01', jails: jails(2 * list + 1) }],
      ] as const)
        expect(await raw(server, method, `/api/v1${path}`, { token: key, body })).toMatchObject({ status: 200 })
    const told = await db.read.selectFrom('events').select('data').where('name', '=', 'server.jails').execute()
    expect(told).toHaveLength(4)
    for (const { data } of told) expect(JSON.stringify(data).length).toBeLessThan(100)
  } finally {
    await db.close()
    await server.close()
    await database?.drop()
  }
})
