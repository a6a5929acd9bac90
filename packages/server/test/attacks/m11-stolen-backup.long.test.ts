import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, raw, spawnServer } from '../../src/testing/index.ts'
import type { Signed, SpawnedServer } from '../../src/testing/index.ts'

/* A backup was plain text with the key of all secrets and the ids of live sessions: enough to sign in as anybody. */

const launcher = fileURLToPath(new URL('../../../../scripts/stockade.cjs', import.meta.url))
const secret = 'test-secret-of-thirty-two-characters'
const folder = mkdtempSync(join(tmpdir(), 'stockade-m11-'))
const dataDir = join(folder, 'data')
let database: Awaited<ReturnType<typeof freshDatabase>> = null
let env: Record<string, string> = {}
let server: SpawnedServer
let admin: Signed
beforeAll(async () => {
  database = await freshDatabase()
  const shared: Record<string, string> = database
    ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: secret }
    : {}
  env = { STOCKADE_DATA_DIR: dataDir, STOCKADE_CALLED_FROM: folder, ...shared }
  server = await spawnServer({ dataDir, env: shared, ...(database ? { databaseUrl: database.url } : {}) })
  admin = await server.setUp()
})
afterAll(async () => {
  await server.close()
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>(resolve =>
    execFile(
      process.execPath,
      [launcher, ...args],
      { env: { PATH: process.env.PATH, ...env }, cwd: folder },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
const at = (name: string) => join(folder, name)

test('nothing is written in the clear unless it is said', async () => {
  expect(await run('backup', at('a.gz'))).toMatchObject({ code: 2, err: expect.stringContaining('--plain') })
  expect(await run('backup', at('a.gz'), '--recipient', 'age1nonsense')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no recipient'),
  })
  expect(existsSync(at('a.gz'))).toBe(false)
})
test('sessions are in no backup, not even in a plain one', async () => {
  expect(await run('backup', at('plain.gz'), '--plain')).toMatchObject({ code: 0 })
  const text = gunzipSync(readFileSync(at('plain.gz'))).toString('utf8')
  const me = await admin.client.call('GET /auth/me')
  const { sessions } = await admin.client.call('GET /users/{userId}/sessions', { params: { userId: me.id } })
  expect(sessions.length).toBeGreaterThan(0)
  expect(text).toContain('"table":"users"')
  expect(text).not.toContain('"table":"sessions"')
})
test('to a recipient and to a passphrase: only those open it, and nobody changes it', async () => {
  const identity = await generateIdentity()
  writeFileSync(at('key.txt'), `# made for a test\n${identity}\n`)
  writeFileSync(at('other.txt'), `${await generateIdentity()}\n`)
  writeFileSync(at('pass'), 'a long passphrase of five words\n')
  const made = await run('backup', at('to.age'), '--recipient', await identityToRecipient(identity))
  expect(made).toMatchObject({ code: 0, err: '', out: expect.stringContaining('is encrypted') })
  expect(await run('backup', at('by.age'), '--passphrase-file', at('pass'))).toMatchObject({ code: 0 })
  expect(readFileSync(at('to.age'), 'latin1')).toMatch(/^age-encryption\.org\/v1\n/)
  const sealed = readFileSync(at('to.age'))
  sealed.writeUInt8(sealed.readUInt8(sealed.length - 40) ^ 1, sealed.length - 40)
  writeFileSync(at('changed.age'), sealed)
  await server.stop()
  const restore = (...args: string[]) => run('restore', ...args, '--replace')
  expect(await restore(at('to.age'))).toMatchObject({ code: 1, err: expect.stringContaining('is encrypted') })
  expect(await restore(at('to.age'), '--identity', at('other.txt'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('does not open'),
  })
  expect(await restore(at('by.age'), '--passphrase-file', at('key.txt'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('does not open'),
  })
  expect(await restore(at('changed.age'), '--identity', at('key.txt'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('cut or changed'),
  })
  // A plain file, put in place of the encrypted one by somebody who can write the folder.
  const plain = { code: 1, err: expect.stringContaining('is not encrypted, though a key or passphrase was given') }
  expect(await restore(at('plain.gz'), '--identity', at('key.txt'))).toMatchObject(plain)
  expect(await restore(at('plain.gz'), '--passphrase-file', at('pass'))).toMatchObject(plain)
  expect(await run('backup', 'verify', at('plain.gz'), '--identity', at('key.txt'))).toMatchObject(plain)
  copyFileSync(at('plain.gz'), at('forged.age'))
  expect(await restore(at('forged.age'), '--identity', at('key.txt'))).toMatchObject(plain)
  // So is a copy of an SQLite database, which `restore` takes too.
  new DatabaseSync(at('copy.sqlite3')).exec('create table kysely_migration (name text)')
  expect(await restore(at('copy.sqlite3'), '--identity', at('key.txt'))).toMatchObject(plain)
  expect(await restore(at('by.age'), '--passphrase-file', at('pass'))).toMatchObject({ code: 0, err: '' })
  expect(await restore(at('to.age'), '--identity', at('key.txt'))).toMatchObject({ code: 0, err: '' })
})
test('after a restore everybody signs in again', async () => {
  const shared: Record<string, string> = database
    ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: secret }
    : {}
  const again = await spawnServer({ dataDir, env: shared, ...(database ? { databaseUrl: database.url } : {}) })
  try {
    expect((await raw(again, 'GET', '/api/v1/auth/me', { token: admin.token })).status).toBe(401)
    expect((await again.signIn()).token).not.toBe(admin.token)
  } finally {
    await again.close()
  }
})
