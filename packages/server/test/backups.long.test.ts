import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { stockade } from '../src/testing/command.ts'
import { aHost, engine, eventually, freshDatabase, spawnServer } from '../src/testing/index.ts'
import type { Options, Signed } from '../src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-scheduled-'))
const drops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const drop of drops) await drop()
  rmSync(folder, { recursive: true, force: true })
})

let places = 0
const aPlace = async (env: Record<string, string> = {}) => {
  const name = join(folder, String(++places))
  const database = await freshDatabase()
  if (database) drops.push(database.drop)
  const backups = join(name, 'backups')
  const options: Options & { dataDir: string } = {
    dataDir: join(name, 'data'),
    ...(database ? { databaseUrl: database.url } : {}),
    env: { STOCKADE_BACKUP_DIR: backups, ...env },
  }
  return { backups, options }
}
type Place = Awaited<ReturnType<typeof aPlace>>
const audited = async ({ client }: Signed, action: string) =>
  (await client.call('GET /settings/audit', { query: { action } })).entries
/** Values of the gauges of backups. */
const gauges = async (url: string) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Object.fromEntries(
    [...text.matchAll(/^stockade_backup_(\w+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
  )
}
/** A process of low priority does the work: on a busy machine it takes its time. */
const inTime = (check: () => Promise<unknown>) => eventually(check)
/** Makes what is stored about backups say something else. */
const changeState = async ({ options }: Place, change: object) => {
  const { databaseUrl, dataDir } = options
  const db = databaseUrl
    ? await openPostgres(databaseUrl, () => {})
    : await openSqlite(join(dataDir, 'stockade.sqlite3'))
  const table = db.write.selectFrom('meta').select('value').where('key', '=', 'backups.state')
  const value = JSON.stringify({ ...JSON.parse((await table.executeTakeFirstOrThrow()).value), ...change })
  await db.write.updateTable('meta').set({ value }).where('key', '=', 'backups.state').execute()
  await db.close()
}

/** What the doctor says, as lines. */
const doctor = async ({ options: { dataDir, databaseUrl, env } }: Place) => {
  const storage: Record<string, string> = databaseUrl
    ? { STOCKADE_DATABASE_URL: databaseUrl, STOCKADE_SECRET_KEY: 'test-secret-of-thirty-two-characters' }
    : {}
  return (await stockade({ STOCKADE_DATA_DIR: dataDir, ...storage, ...env }, ['doctor'])).out
}

describe('a server with a folder for backups', () => {
  let place: Place
  beforeAll(async () => {
    place = await aPlace()
  })

  test('makes one at once, tries it out, and says so', async () => {
    const server = await spawnServer(place.options)
    try {
      const admin = await server.setUp()
      await inTime(async () => expect(await audited(admin, 'backup.verify')).toHaveLength(1))
      const [file = '', ...others] = readdirSync(place.backups)
      expect(others).toEqual([])
      expect(file).toMatch(/^stockade-\d{8}T\d{6}Z\.gz$/)
      const { size, mode } = statSync(join(place.backups, file))
      expect(mode & 0o777).toBe(0o600)
      expect(statSync(place.backups).mode & 0o777).toBe(0o700)
      const path = join(place.backups, file)
      expect(await audited(admin, 'backup.create')).toMatchObject([{ details: { file: path, bytes: size } }])
      const values = await gauges(server.url)
      expect(values).toMatchObject({ bytes: size })
      expect(values.last_success_timestamp_seconds).toBeGreaterThan(statSync(path).mtimeMs / 1000 - 600)
      expect(values.verified_timestamp_seconds).toBeGreaterThanOrEqual(values.last_success_timestamp_seconds ?? 0)
      expect(values.duration_seconds).toBeGreaterThan(0)
      expect(readdirSync(place.options.dataDir).filter(name => name.startsWith('stockade-verify-'))).toEqual([])
      const said = await doctor(place)
      expect(said).toMatch(/^warn {2}backups in .* are not encrypted: .*STOCKADE_BACKUP_RECIPIENT$/m)
      expect(said).toContain(`ok    the last scheduled backup is 0 h old: ${path}\n`)
      expect(said).toMatch(/^ok {4}a backup was restored on trial 0 h ago$/m)
      expect(said).toMatch(/^ok {4}.*backups has .* free; the next backup needs [\d.]+ kB$/m)
      if (engine === 'sqlite')
        expect(said).toMatch(/^ok {4}.*data has .* free; the copy before an upgrade needs [\d.]+ kB$/m)
    } finally {
      await server.close()
    }
  })
  test('makes none before its time, and keeps what it knows over a restart', async () => {
    const server = await spawnServer(place.options)
    try {
      await inTime(async () => expect((await gauges(server.url)).bytes).toBeGreaterThan(0))
      expect(readdirSync(place.backups)).toHaveLength(1)
    } finally {
      await server.close()
    }
  })
  test('is told by the doctor when the last one is old, or gone', async () => {
    const old = Date.now() - 3 * 86_400_000
    await changeState(place, { savedAt: old, verifiedAt: old - 6 * 86_400_000 })
    const said = await doctor(place)
    expect(said).toMatch(/^fail {2}the last scheduled backup is 3 days old: .*\. Does the server run\?$/m)
    expect(said).toMatch(/^warn {2}a backup was restored on trial 9 days ago$/m)
    await changeState(place, { savedAt: Date.now(), file: join(place.backups, 'gone.gz') })
    expect(await doctor(place)).toMatch(/^fail {2}the last scheduled backup .*gone\.gz, and the file is missing$/m)
  })
  test('makes the next one when its time has come, and removes what nothing keeps', async () => {
    const day = 86_400_000
    await changeState(place, { startedAt: Date.now() - 2 * day, endedAt: Date.now() - 2 * day })
    const nameOf = (age: number) =>
      `stockade-${new Date(Date.now() - age * day).toISOString().slice(0, 10).replaceAll('-', '')}T000000Z.gz`
    for (let age = 1; age <= 300; age++) writeFileSync(join(place.backups, nameOf(age)), 'old')
    writeFileSync(join(place.backups, 'stockade-20200101T000000Z.gz.part'), 'left by a kill')
    writeFileSync(join(place.backups, 'notes.txt'), 'not ours')
    const server = await spawnServer(place.options)
    try {
      await inTime(async () => expect(await audited(await server.signIn(), 'backup.create')).toHaveLength(2))
      const names = readdirSync(place.backups)
      expect(names).toContain('notes.txt')
      expect(names.filter(name => name.endsWith('.part'))).toEqual([])
      // Seven days, and at most three weeks and five months more.
      const ours = names.filter(name => name.startsWith('stockade-'))
      expect(ours.length).toBeGreaterThanOrEqual(12)
      expect(ours.length).toBeLessThanOrEqual(16)
      expect(ours).not.toContain(nameOf(300))
    } finally {
      await server.close()
    }
  })
  test('says when a backup cannot be restored', async () => {
    const server = await spawnServer(place.options)
    const admin = await server.signIn()
    const { details } = (await audited(admin, 'backup.create'))[0] ?? {}
    await server.stop()
    const file = String((details as { file: string }).file)
    truncateSync(file, 1000)
    await changeState(place, { triedAt: 0 })
    const again = await spawnServer(place.options)
    try {
      await inTime(async () =>
        expect(await audited(await again.signIn(), 'backup.verify_fail')).toMatchObject([
          { details: { file, reason: expect.stringContaining('This is no complete backup') } },
        ]),
      )
    } finally {
      await again.close()
    }
  })
})

test('a backup that fails is told with its reason, and the server goes on', async () => {
  const place = await aPlace()
  writeFileSync(join(folder, 'a file'), '')
  const env = { STOCKADE_BACKUP_DIR: join(folder, 'a file', 'backups') }
  const server = await spawnServer({ ...place.options, env })
  try {
    const admin = await server.setUp()
    await inTime(async () =>
      expect(await audited(admin, 'backup.fail')).toMatchObject([
        { details: { reason: expect.stringContaining('ENOTDIR') } },
      ]),
    )
    expect(await gauges(server.url)).toMatchObject({ last_success_timestamp_seconds: 0 })
    expect(await doctor({ ...place, options: { ...place.options, env } })).toMatch(
      /^fail {2}the last scheduled backup failed: ENOTDIR/m,
    )
    await aHost(server, admin.client)
  } finally {
    await server.close()
  }
})

test('an encrypted backup is tried out with the identity, and restored with it', async () => {
  const identity = await generateIdentity()
  const identityFile = join(folder, 'identity')
  writeFileSync(identityFile, `${identity}\n`)
  const place = await aPlace({
    STOCKADE_BACKUP_RECIPIENT: await identityToRecipient(identity),
    STOCKADE_BACKUP_IDENTITY_FILE: identityFile,
  })
  const server = await spawnServer(place.options)
  try {
    const admin = await server.setUp()
    await inTime(async () => expect(await audited(admin, 'backup.verify')).toHaveLength(1))
    const [file = ''] = readdirSync(place.backups)
    expect(file).toMatch(/\.age$/)
    expect(readFileSync(join(place.backups, file)).subarray(0, 21).toString()).toBe('age-encryption.org/v1')
    const restored = await stockade({ STOCKADE_DATA_DIR: join(folder, 'restored') }, [
      'restore',
      join(place.backups, file),
      '--identity',
      identityFile,
    ])
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(await doctor(place)).not.toContain('not encrypted')
  } finally {
    await server.close()
  }
})
