import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import type { ConditionKind } from '@stockade/contract'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import type { Config } from '../../config.ts'
import { day, hour, minute } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { aHost, aLicence, eventually, freshDatabase, movableClock, startServer } from '../../testing/index.ts'
import type { TestServer } from '../../testing/index.ts'
import { noBackupYet, writeBackupState } from '../backups/backups.store.ts'
import { createServiceConditions } from './service-conditions.ts'

/* Each condition of the installation, provoked: with its database, its licence, a certificate of openssl and a small disk. */

const clock = movableClock()
const folder = mkdtempSync(join(tmpdir(), 'stockade-conditions-'))
const smallDisk = mkdtempSync(join(tmpdir(), 'stockade-disk-'))
/** Needs root, and a machine that lets it mount. */
const mountSmallDisk = (): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'stockade-test', smallDisk], { stdio: 'ignore' })
    return true
  } catch {
    process.stderr.write('!!! No disk can be mounted here, so the test of a full one is skipped.\n')
    return false
  }
}
const isMounted = mountSmallDisk()
let server: TestServer
let admin: Client
let db: Database
let base: Config
let drop: (() => Promise<void>) | null = null

/** What the server says of an ordered move, asked over HTTP. */
const moves = {
  async failing() {
    const { servers } = await admin.call('GET /agents/address/servers', { query: {} })
    return servers.flatMap(({ server: of, reason }, index) => (reason ? [{ ...of, serverNo: index, reason }] : []))
  },
}

/** The titles that a kind has now; null where it could not look. */
const titles = async (kind: ConditionKind, config: Partial<Config> = {}, storage = db) => {
  const look = createServiceConditions({
    db: storage,
    clock,
    config: { ...base, ...config },
    license: { read: () => admin.call('GET /settings/license') as never },
    moves,
  })
  return (await look()).get(kind)?.map(({ title }) => title) ?? null
}

beforeAll(async () => {
  const database = await freshDatabase()
  drop = database?.drop ?? null
  const dataDir = join(folder, 'data')
  const env = { STOCKADE_BASE_URL: 'https://new.stockade.example' }
  server = await startServer({ clock, env, dataDir, ...(database ? { databaseUrl: database.url } : {}) })
  admin = (await server.setUp()).client
  base = readConfig({
    STOCKADE_DATA_DIR: dataDir,
    ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
  })
  db = await openStorage(base)
})
afterAll(async () => {
  await db.close()
  await server.close()
  await drop?.()
  if (isMounted) execFileSync('umount', ['--lazy', smallDisk])
  rmSync(smallDisk, { recursive: true })
  rmSync(folder, { recursive: true })
})

test('nothing is wrong with a new installation', async () => {
  const look = createServiceConditions({
    db,
    clock,
    config: base,
    license: { read: () => admin.call('GET /settings/license') as never },
    moves,
  })
  // The disk of the machine that runs the tests may be nearly full.
  const found = [...(await look())].filter(([kind]) => kind !== 'storage-full')
  expect(found.filter(([, findings]) => findings === null || findings.length > 0)).toEqual([])
  expect(found.map(([kind]) => kind).sort()).toEqual(
    [
      'notifications-stuck',
      'siem-stuck',
      'agent-not-moved',
      'storage-slow',
      'backup-missing',
      'licence-ending',
      'certificate-ending',
    ].sort(),
  )
})

test('a server that did not move is told until it has, also while it tries again', async () => {
  const host = await aHost(server, admin, 'web-01')
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
  const url = 'https://new.stockade.example'
  await admin.call('PUT /agents/address', { body: { url } })
  const told = ['web-01 did not move to the ordered address']
  const say = async (state: 'trying' | 'moved' | 'failed') => {
    const { version, whitelist, move } = await host.client.call('GET /agent/state')
    const body = { version, whitelist_version: whitelist.version, entry_count: 0 }
    const reason = state === 'failed' ? 'no answer' : null
    await host.client.call('POST /agent/state/ack', {
      body: { ...body, move: { revision: move?.revision ?? 0, state, reason } },
    })
  }
  await say('trying')
  expect(await titles('agent-not-moved')).toEqual([])
  for (const state of ['failed', 'trying', 'failed'] as const) {
    await say(state)
    expect(await titles('agent-not-moved')).toEqual(told)
  }
  await say('moved')
  expect(await titles('agent-not-moved')).toEqual([])
  await say('failed')
  expect(await titles('agent-not-moved')).toEqual(told)
  await admin.call('PUT /agents/address', { body: { url: null } })
  expect(await titles('agent-not-moved')).toEqual([])
})

test('a SIEM that takes nothing is stuck after five minutes, until it is switched off', async () => {
  const held: Socket[] = []
  let isHolding = false
  const refusing = createServer(socket => {
    if (isHolding) held.push(socket)
    else socket.destroy()
  })
  await new Promise<void>(resolve => refusing.listen(0, '127.0.0.1', resolve))
  const { port } = refusing.address() as AddressInfo
  const target = { format: 'json', host: '127.0.0.1', port, protocol: 'http' } as const
  const attempts = async () => (await admin.call('GET /siem/deliveries')).deliveries.length
  await admin.call('PATCH /siem/settings', {
    body: { ...target, events: ['whitelist_add'], enabled: true, batch_size: 1, flush_interval: 1 },
  })
  await admin.call('POST /whitelist', { body: { ip: '198.51.100.7' } })
  await eventually(async () => expect((await admin.call('GET /siem/status')).last_error).not.toBeNull())
  expect(await titles('siem-stuck')).toEqual([])
  isHolding = true
  clock.forward((6 * minute) / 1000)
  expect(await titles('siem-stuck')).toEqual(['The SIEM takes no events'])
  // An attempt is under way while it is switched off, and fails afterwards.
  await eventually(() => expect(held.length).toBeGreaterThan(0))
  const before = await attempts()
  await admin.call('PATCH /siem/settings', { body: { enabled: false } })
  isHolding = false
  for (const socket of held) socket.destroy()
  await eventually(async () => expect(await attempts()).toBeGreaterThan(before))
  expect(await titles('siem-stuck')).toEqual([])
  refusing.close()
})

test('a storage that takes a second for an empty query is slow', async () => {
  const ping = async () => {
    await new Promise(resolve => setTimeout(resolve, 1100))
    await db.ping()
  }
  expect(await titles('storage-slow', {}, { ...db, ping })).toEqual(['The storage is slow'])
  expect(await titles('storage-slow')).toEqual([])
})

test.skipIf(!isMounted)('a disk with less than a tenth free is nearly full', async () => {
  expect(await titles('storage-full', { dataDir: smallDisk })).toEqual([])
  writeFileSync(join(smallDisk, 'rows'), Buffer.alloc(1_000_000))
  expect(await titles('storage-full', { dataDir: smallDisk })).toEqual(['The disk is nearly full'])
  rmSync(join(smallDisk, 'rows'))
  expect(await titles('storage-full', { dataDir: smallDisk })).toEqual([])
  expect(await titles('storage-full', { dataDir: join(smallDisk, 'gone') })).toBeNull()
})

test('a backup that is older than 26 hours is missing, where backups are scheduled', async () => {
  const config = { backups: readConfig({ STOCKADE_BACKUP_DIR: join(folder, 'backups') }).backups }
  expect(await titles('backup-missing', config)).toEqual(['There is no recent backup'])
  await writeBackupState(db.write, { ...noBackupYet, savedAt: clock() })
  expect(await titles('backup-missing', config)).toEqual([])
  clock.forward((26 * hour) / 1000 + 1)
  expect(await titles('backup-missing', config)).toEqual(['There is no recent backup'])
  expect(await titles('backup-missing')).toEqual([])
})

test('a certificate of the operator is told two weeks before its end, and one of our own never', async () => {
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'cert.key')
  const make = (days: number) =>
    execFileSync(
      'openssl',
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=stockade.example -days ${days}`
        .split(' ')
        .concat('-keyout', keyFile, '-out', certFile),
      { stdio: 'ignore' },
    )
  // The certificate starts at the time of the machine; the clock of the test is ahead by then.
  const ahead = Math.ceil((clock() - Date.now()) / day)
  make(ahead + 20)
  expect(await titles('certificate-ending', { tls: { certFile, keyFile, isOwn: false, acme: null } })).toEqual([])
  make(ahead + 10)
  const [ending] = (await titles('certificate-ending', { tls: { certFile, keyFile, isOwn: false, acme: null } })) ?? []
  expect(ending).toMatch(/^The certificate ends in (9|10|11) days$/)
  expect(await titles('certificate-ending', { tls: { certFile, keyFile, isOwn: true, acme: null } })).toEqual([])
  clock.forward((12 * day) / 1000)
  expect(await titles('certificate-ending', { tls: { certFile, keyFile, isOwn: false, acme: null } })).toEqual([
    'The certificate has ended',
  ])
  writeFileSync(certFile, 'no certificate')
  expect(await titles('certificate-ending', { tls: { certFile, keyFile, isOwn: false, acme: null } })).toBeNull()
})

test('a certificate that is fetched is told when none could be fetched, and in the last quarter of its life', async () => {
  const place = mkdtempSync(join(folder, 'acme-'))
  const files = { certFile: join(place, 'acme.pem'), keyFile: join(place, 'acme.key') }
  const acme = { directory: 'https://ca.example/dir', names: ['stockade.example'], email: null, caFile: null }
  const tls = { ...files, isOwn: false, acme }
  expect(await titles('certificate-ending', { tls })).toEqual([])
  const state = { directory: acme.directory, account: null, triedAt: 1, failures: 1, error: 'no such name' }
  writeFileSync(join(place, 'acme.json'), JSON.stringify(state))
  expect(await titles('certificate-ending', { tls })).toEqual(['No certificate could be fetched'])
  const ahead = Math.ceil((clock() - Date.now()) / day)
  execFileSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=stockade.example -days ${ahead + 10}`
      .split(' ')
      .concat('-keyout', files.keyFile, '-out', files.certFile),
    { stdio: 'ignore' },
  )
  // Its life, as openssl made it, began at the time of the machine.
  const inLastQuarter = 10 < (ahead + 10) / 4
  expect((await titles('certificate-ending', { tls }))?.length).toBe(inLastQuarter ? 1 : 0)
  clock.forward((9 * day) / 1000)
  expect(await titles('certificate-ending', { tls })).toEqual([
    expect.stringMatching(/^The certificate ends in [012] days$/),
  ])
})

test('a licence is told two weeks before its end', async () => {
  const { client } = await server.signIn()
  admin = client
  const ending = (days: number) => aLicence({ issuedAt: clock() + days, expiresAt: clock() + days * day })
  await admin.call('POST /settings/license', { body: { license_key: ending(20) } })
  expect(await titles('licence-ending')).toEqual([])
  await admin.call('POST /settings/license', { body: { license_key: ending(10) } })
  clock.forward(1)
  expect(await titles('licence-ending')).toEqual(['The licence ends in 10 days'])
})
