import { execFileSync } from 'node:child_process'
import { X509Certificate, createHash, createPublicKey } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { stockade, stockadeProcess } from '../testing/command.ts'
import { aHost, engine, freshDatabase, spawnServer } from '../testing/index.ts'
import type { EnrolledHost, SpawnedServer } from '../testing/index.ts'

const secretKey = 'test-secret-of-thirty-two-characters'
const folder = mkdtempSync(join(tmpdir(), 'stockade-backup-'))
const drops: (() => Promise<void>)[] = []

interface Place {
  readonly dataDir: string
  readonly databaseUrl: string | null
}
let places = 0
const aPlace = async (kind = engine): Promise<Place> => {
  const database = kind === 'postgres' ? await freshDatabase() : null
  if (database) drops.push(database.drop)
  return { dataDir: join(folder, `data-${++places}`), databaseUrl: database?.url ?? null }
}
const envOf = ({ dataDir, databaseUrl }: Place): Record<string, string> => ({
  STOCKADE_DATA_DIR: dataDir,
  ...(databaseUrl ? { STOCKADE_DATABASE_URL: databaseUrl, STOCKADE_SECRET_KEY: secretKey } : {}),
})
const start = ({ dataDir, databaseUrl }: Place): Promise<SpawnedServer> =>
  spawnServer({
    dataDir,
    ...(databaseUrl
      ? { databaseUrl, env: { STOCKADE_SECRET_KEY: secretKey } }
      : { env: { STOCKADE_DATABASE_URL: '', STOCKADE_SECRET_KEY: '' } }),
  })
const run = (place: Place, ...args: string[]) => stockade(envOf(place), args)
/** In a folder: a relative path means a file there. */
const runIn = (cwd: string, place: Place, ...args: string[]) => stockadeProcess(envOf(place), args, cwd)

/** What a server that was stopped at once leaves: a ban and an end that are not summed yet. */
const leaveWaiting = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client
    .query(
      `insert into unsummed_bans (ban_id, server_no, jail_id, country_id, ip, banned_at, active) values (1, 1, 1, 0, '\\x01', 1, 1);
        insert into unsummed_ends (server_no, n) values (1, 3)`,
    )
    .finally(() => client.end())
}

let first: Place
let server: SpawnedServer
let admin: Client
let key: string
let host: EnrolledHost
const file = join(folder, 'saved.gz')
const passphraseFile = join(folder, 'passphrase')
/** What a caller sees; the same before and after. */
const picture = async (client: Client) => ({
  bans: (await client.call('GET /bans', { query: { to: until, limit: 100 } })).bans,
  total: (await client.call('GET /bans', { query: { to: until } })).total,
  ofJail: (await client.call('GET /bans', { query: { jail: 'sshd', to: until } })).total,
  users: (await client.call('GET /users', {})).users.map(({ username, role }) => [username, role]),
  whitelist: (await client.call('GET /whitelist', {})).whitelist,
  commands: (await client.call('GET /commands', {})).commands,
  settings: await client.call('GET /settings/reputation', {}),
})
let until: string
let before: Awaited<ReturnType<typeof picture>>
const event_id = crypto.randomUUID()

beforeAll(async () => {
  first = await aPlace()
  writeFileSync(passphraseFile, 'correct horse battery staple\n')
  server = await start(first)
  const signed = await server.setUp()
  key = (await signed.client.call('POST /keys', { body: { name: 'backup test', permissions: 'admin' } })).key
  admin = server.client(key)
  host = await aHost(server, admin, 'web-01')
  await admin.call('POST /whitelist', { body: { ip: '2001:db8::/32', description: 'Büro; "quoted"\nand a line' } })
  await admin.call('POST /servers/{serverId}/commands', { params: { serverId: host.id }, body: { type: 'reload-all' } })
  await admin.call('PATCH /settings/reputation', { body: { api_key: 'a sealed secret', rate_limit: 77 } })
  await host.client.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd', event_id } })
  for (let n = 0; n < 5; n++)
    await host.client.call('POST /bans/batch', {
      body: {
        bans: Array.from({ length: 300 }, (_, m) => ({
          ip: m % 2 === 0 ? `11.${n}.${m >> 8}.${m & 255}` : `2001:db8:${n}::${m}`,
          jail: m % 3 === 0 ? 'nginx' : 'sshd',
          ban_duration: m % 5 === 0 ? -1 : 86_400,
          log_lines: 'tab\there, "quotes" and ünïcode',
        })),
      },
    })
  until = new Date().toISOString()
  before = await picture(admin)
})
afterAll(async () => {
  await server.close()
  for (const drop of drops) await drop()
  rmSync(folder, { recursive: true, force: true })
})

describe('a backup', () => {
  test('is made while bans come in, and is of one moment', async () => {
    let writing = true
    const flood = (async () => {
      for (let n = 0; writing; n++) {
        await host.client.call('POST /bans', { body: { ip: `12.0.${n >> 8}.${n & 255}`, jail: 'flood' } })
        await setTimeout(5)
      }
    })()
    const saved = await runIn(folder, first, 'backup', 'saved.gz', '--plain')
    writing = false
    await flood
    expect(saved).toMatchObject({ code: 0, err: '' })
    expect(saved.out).toContain('It holds secrets')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.part`)).toBe(false)
  })
  test('never takes the place of a file', async () => {
    const before = readFileSync(file)
    expect(await run(first, 'backup', file, '--plain')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/saved\.gz is there already\. Choose another name/),
    })
    expect(readFileSync(file).equals(before)).toBe(true)
  })
  test('goes to the standard output, and what is said about it elsewhere', async () => {
    const { out, err, code } = await run(first, 'backup', '-', '--passphrase-file', passphraseFile)
    expect(code).toBe(0)
    expect(out.startsWith('age-encryption.org/v1\n')).toBe(true)
    expect(err).toMatch(/rows of \d+ tables are in the output\. It holds secrets, and is encrypted\.\n$/)
    expect(existsSync(join(folder, '-'))).toBe(false)
  })
  test('is verified by restoring it, which leaves nothing behind', async () => {
    const nowhere = await aPlace('sqlite')
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const verify = (...args: string[]) =>
      stockade({ ...envOf(nowhere), TMPDIR: temporary }, ['backup', 'verify', ...args])
    const good = await verify(file)
    expect(good).toMatchObject({ code: 0, err: '' })
    expect(good.out).toMatch(/^This backup of 20.*Z \(Stockade .*\) can be restored: [\d,]+ rows of \d+ tables\.\n$/)
    const text = gunzipSync(readFileSync(file)).toString()
    // A sum that differs from the bans, in a file that is whole.
    const lines = text.trimEnd().split('\n').slice(0, -1)
    const at = lines.findIndex(line => line.startsWith('{"table":"rolled_ban_cube"')) + 1
    const cell = JSON.parse(lines[at] ?? '') as number[]
    lines[at] = JSON.stringify([...cell.slice(0, -1), (cell.at(-1) ?? 0) + 5])
    const body = `${lines.join('\n')}\n`
    const rows = lines.filter(line => line.startsWith('[')).length
    const end = JSON.stringify({ end: true, rows, sha256: createHash('sha256').update(body).digest('hex') })
    writeFileSync(join(folder, 'wrong.gz'), gzipSync(`${body}${end}\n`))
    const wrong = await verify(join(folder, 'wrong.gz'))
    expect(wrong.code).toBe(1)
    expect(wrong.out).toMatch(/^ban_cube holds \d+ in all, and the bans make \d+\./m)
    writeFileSync(join(folder, 'cut.gz'), readFileSync(file).subarray(0, 2000))
    expect(await verify(join(folder, 'cut.gz'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('no complete backup'),
    })
    expect(readdirSync(temporary)).toEqual([])
    expect(existsSync(nowhere.dataDir)).toBe(false)
  })
  test.runIf(process.getuid?.() === 0)('onto a disk that runs full leaves nothing behind', async () => {
    const disk = join(folder, 'small disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk])
    try {
      expect(await run(first, 'backup', join(disk, 'saved.gz'), '--plain')).toMatchObject({
        code: 1,
        err: `stockade: The disk ran full: ${join(disk, 'saved.gz')} was not written.\n`,
      })
      expect(readdirSync(disk)).toEqual([])
    } finally {
      execFileSync('umount', [disk])
    }
  })
  test('of nothing is refused', async () => {
    const nowhere = await aPlace('sqlite')
    expect(await run(nowhere, 'backup', join(folder, 'nothing.gz'), '--plain')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no database'),
    })
    expect(existsSync(join(folder, 'nothing.gz'))).toBe(false)
  })
})

/** The restored installation answers as the first did, lets the same key in, and goes on from there. */
const answersAlike = async (place: Place) => {
  const restored = await start(place)
  try {
    const client = restored.client(key)
    expect(await picture(client)).toEqual(before)
    const all = (await client.call('GET /bans', {})).total
    const stats = await client.call('GET /bans/stats', {})
    expect(stats.total_bans).toBe(all)
    expect(stats.bans_by_jail.reduce((sum, { count }) => sum + count, 0)).toBe(all)
    // Nothing comes twice, and new rows get new ids.
    const agent = restored.client(host.key)
    const again = await agent.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd', event_id } })
    expect(again.banned_at).toBe((await client.call('GET /bans', { query: { ip: '203.0.113.9' } })).bans[0]?.banned_at)
    const fresh = await agent.call('POST /bans', { body: { ip: '203.0.113.200', jail: 'sshd' } })
    expect(fresh.id).toBeGreaterThan(Math.max(...before.bans.map(({ id }) => id)))
    expect((await client.call('GET /bans', {})).total).toBe(all + 1)
    await restored.stop()
  } finally {
    await restored.close()
  }
}

describe('a restore', () => {
  test('into an empty installation brings everything back', async () => {
    const place = await aPlace()
    const done = await run(place, 'restore', file)
    expect(done).toMatchObject({ code: 0, err: '' })
    await answersAlike(place)
  })
  // The PostgreSQL of the tests is there for the project of that engine only.
  test.runIf(engine === 'postgres')('goes from one engine to the other and back', async () => {
    const lite = await aPlace('sqlite')
    expect(await run(lite, 'restore', file)).toMatchObject({ code: 0, err: '' })
    // The key of the installation comes from its environment there.
    writeFileSync(join(lite.dataDir, 'secret.key'), `${secretKey}\n`, { mode: 0o600 })
    expect(await run(lite, 'backup', join(folder, 'lite.gz'), '--plain')).toMatchObject({ code: 0 })
    await answersAlike(lite)
    const back = await aPlace('postgres')
    expect(await run(back, 'restore', join(folder, 'lite.gz'))).toMatchObject({ code: 0, err: '' })
    await answersAlike(back)
  })
  test('brings the keys that hosts and the audit log rely on', async () => {
    const lite = await aPlace('sqlite')
    const tls = { STOCKADE_TLS: 'self', STOCKADE_DATABASE_URL: '', STOCKADE_SECRET_KEY: '' }
    // Makes a key for https; nobody asks it anything, as the tests' client does not know the certificate.
    const original = await spawnServer({ dataDir: lite.dataDir, env: tls })
    await original.stop()
    expect(await run(lite, 'backup', join(folder, 'keys.gz'), '--plain')).toMatchObject({ code: 0 })
    const other = await aPlace('sqlite')
    const stranger = await spawnServer({ dataDir: other.dataDir, env: tls })
    await stranger.stop()
    const keyOf = (place: Place, name: string) => readFileSync(join(place.dataDir, name), 'utf8')
    expect(keyOf(other, 'tls.key')).not.toBe(keyOf(lite, 'tls.key'))
    expect(await run(other, 'restore', join(folder, 'keys.gz'), '--replace')).toMatchObject({ code: 0, err: '' })
    for (const name of ['tls.key', 'audit.key', 'secret.key']) {
      expect(keyOf(other, name)).toBe(keyOf(lite, name))
      expect(statSync(join(other.dataDir, name)).mode & 0o777).toBe(0o600)
    }
    // It serves with a certificate of that key, and what it had before is set aside.
    const again = await spawnServer({ dataDir: other.dataDir, env: tls })
    await again.stop()
    const publicOf = (pem: string | Buffer) => createPublicKey(pem).export({ type: 'spki', format: 'pem' })
    expect(
      publicOf(new X509Certificate(keyOf(other, 'tls.pem')).publicKey.export({ type: 'spki', format: 'pem' })),
    ).toBe(publicOf(keyOf(lite, 'tls.key')))
    expect(readdirSync(other.dataDir).filter(name => name.startsWith('tls.key.before-restore-'))).toHaveLength(1)
  })
  test('over an installation in use needs to be meant', async () => {
    const place = await aPlace()
    const other = await start(place)
    await other.setUp()
    if (place.databaseUrl === null)
      expect(await run(place, 'restore', file, '--replace')).toMatchObject({
        code: 1,
        err: expect.stringContaining('Stop it first'),
      })
    await other.stop()
    if (place.databaseUrl !== null) await leaveWaiting(place.databaseUrl)
    expect(await run(place, 'restore', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('--replace'),
    })
    expect(await run(place, 'restore', file, '--replace')).toMatchObject({ code: 0 })
    await answersAlike(place)
    expect(await run(place, 'admin', 'recount')).toMatchObject({ code: 0, out: 'All sums are as the bans say.\n' })
  })
  test('of an older version has sums that are now made of the bans', async () => {
    const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n')
    const rows = Number(/"rows":(\d+)/.exec(lines.pop() ?? '')?.[1])
    const text = [...lines, '{"table":"rolled_ip_hours","columns":["bucket","n"]}', '[0,7]', ''].join('\n')
    const end = { end: true, rows: rows + 1, sha256: createHash('sha256').update(text).digest('hex') }
    writeFileSync(join(folder, 'older.gz'), gzipSync(`${text}${JSON.stringify(end)}\n`))
    const place = await aPlace()
    expect(await run(place, 'restore', join(folder, 'older.gz'))).toMatchObject({ code: 0, err: '' })
    expect(await run(place, 'admin', 'recount')).toMatchObject({ code: 0, out: 'All sums are as the bans say.\n' })
  })
  test('of a damaged file changes nothing', async () => {
    const place = await aPlace()
    const whole = readFileSync(file)
    const text = gunzipSync(whole).toString()
    const bad: Record<string, Buffer> = {
      cut: whole.subarray(0, whole.length - 20),
      half: whole.subarray(0, whole.length / 2),
      'without end': gzipSync(text.split('\n').slice(0, -2).join('\n')),
      changed: gzipSync(text.replace('203.0.113', '203.0.114').replace('"sshd"', '"sshx"')),
      'of a later schema': gzipSync(
        text.replace(/"migrations":\[/, '$&"9999-later",').replace(/"min_reader":"[^"]*"/, '"min_reader":"9999-later"'),
      ),
      'of a later version': gzipSync(text.replace('"stockade_backup":1', '"stockade_backup":2')),
      'no backup': Buffer.from('hello'),
      empty: gzipSync(''),
    }
    for (const [name, content] of Object.entries(bad)) {
      writeFileSync(join(folder, 'bad.gz'), content)
      const refused = await run(place, 'restore', join(folder, 'bad.gz'))
      expect({ name, code: refused.code }).toEqual({ name, code: 1 })
      expect(refused.err).toMatch(/^stockade: (This is no complete backup|This backup is of a newer)/)
    }
    expect(existsSync(join(place.dataDir, 'stockade.sqlite3'))).toBe(false)
  })
})
