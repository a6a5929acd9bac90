import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Client } from '@stockade/client'
import type { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { openSqlite } from '../db/sqlite.ts'
import { aHost, freshDatabase, password, startServer } from './index.ts'
import type { EnrolledHost, Options, Signed, TestServer } from './index.ts'

interface Scene {
  readonly server: TestServer
  readonly admin: Signed
}

/** Opens a new database of the engine under test, without a server, before the tests of a file, and removes it after them. */
export const withDatabase = (take: (db: Database) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-database-'))
  let db: Database | undefined
  let drop = async () => {}
  beforeAll(async () => {
    const database = await freshDatabase()
    if (database) drop = database.drop
    db = database ? await openPostgres(database.url, () => {}) : await openSqlite(join(folder, 'stockade.sqlite3'))
    await migrate(db)
    take(db)
  })
  afterAll(async () => {
    await db?.close()
    await drop()
    rmSync(folder, { recursive: true, force: true })
  })
}
/** Starts a server with its administrator before the tests of a file or a group, and closes it after them, also when `take` fails. */
export const withServer = (options: Options, take: (scene: Scene) => unknown): void => {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer(options)
    await take({ server, admin: await server.setUp() })
  })
  afterAll(() => server?.close())
}
/** The same with a host, `web-01`. */
export const withHost = (options: Options, take: (scene: Scene & { readonly host: EnrolledHost }) => unknown): void =>
  withServer(options, async scene => take({ ...scene, host: await aHost(scene.server, scene.admin.client) }))

/** The same with two hosts, `web-01` and `db-01`. */
export const withTwoHosts = (
  options: Options,
  take: (scene: Scene & { readonly web: EnrolledHost; readonly db: EnrolledHost }) => unknown,
): void =>
  withServer(options, async scene => {
    const web = await aHost(scene.server, scene.admin.client, 'web-01')
    await take({ ...scene, web, db: await aHost(scene.server, scene.admin.client, 'db-01') })
  })

/** Makes an account and signs it in. With `serverIds` it may see these servers only. */
export const aUser = async (
  server: Pick<TestServer, 'client'>,
  admin: Client,
  username: string,
  role: 'Operator' | 'Viewer',
  serverIds?: readonly string[],
): Promise<Signed & { readonly id: number }> => {
  const { id } = await admin.call('POST /users', {
    body: { username, email: `${username}@stockade.example`, password, role },
  })
  if (serverIds)
    await admin.call('PUT /users/{userId}/server-access', {
      params: { userId: id },
      body: { access_type: 'specific', server_ids: [...serverIds] },
    })
  const reply = await server.client().call('POST /auth/login', { body: { username, password } })
  if (!('access_token' in reply)) throw new Error('no token')
  return { id, token: reply.access_token, client: server.client(reply.access_token) }
}
