import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, freshDatabase } from '../../../testing/index.ts'
import { openPostgres } from '../../../db/postgres.ts'
import type { Postgres } from '../../../db/postgres.ts'
import { appendBans } from '../append.ts'
import type { BanEnd, NewBan } from '../ban-input.ts'
import { removeOldBanChanges } from '../bans.store.ts'
import { groupColumns } from './group.ts'
import { followPostgres } from './load.postgres.ts'

/* Columns follow a PostgreSQL whose transactions end in another order than they began. */

const now = Date.UTC(2026, 10, 22, 12)
let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Postgres
let followed: Awaited<ReturnType<typeof followPostgres>>
let events = 0
const addressOf = (n: number) => (n % 5 === 4 ? Uint8Array.from({ length: 16 }, () => n) : Uint8Array.of(192, 0, 2, n))
const aBan = (n: number, more: Partial<NewBan> = {}): NewBan => ({
  kind: 'ban',
  serverNo: 1,
  jail: 'sshd',
  country: 'DE',
  ip: addressOf(n),
  prefix: null,
  bannedAt: now - n * 60_000,
  duration: 86_400,
  asn: 4_200_000_000,
  asnOrg: 'Example',
  city: 'Rome',
  latitude: null,
  longitude: null,
  logLines: '',
  bannedBy: null,
  eventId: Buffer.from((++events).toString(16).padStart(32, '0'), 'hex'),
  ...more,
})
const endOf = ({ serverNo, jail, ip }: NewBan): BanEnd => ({ kind: 'end', serverNo, jail, ip, prefix: null, at: now })
const add = (...items: (NewBan | BanEnd)[]) => db.run(appendBans, { items, now })

beforeAll(async () => {
  if (engine !== 'postgres') return
  database = await freshDatabase()
  db = await openPostgres(database?.url ?? '', () => {})
  await add(aBan(1), aBan(2), aBan(4), endOf(aBan(2)))
  followed = await followPostgres(database?.url ?? '')
})
afterAll(async () => {
  await followed?.close()
  await db?.close()
  await database?.drop()
})
const textOf = (ip: Uint8Array) => Buffer.from(ip).toString('hex')
const every = {
  ...{ servers: null, server: null, jail: null, country: null, asn: null, range: null, active: null },
  ...{ from: null, to: null, tree: null },
}
/** Address, bans and active bans of each, as the columns have them and as SQL has them; both after a look. */
const both = async () => {
  await followed.catchUp()
  const { rows } = groupColumns(followed.columns, {
    ...{ filter: every, now, sort: 'last', descending: true, offset: 0, limit: 100 },
  })
  const known = await sql<{ ip: Buffer; bans: number; active: number }>`
    select ip, count(*)::int as bans, (count(*) filter (where unbanned_at is null))::int as active from bans group by ip`.execute(
    db.read,
  )
  return {
    columns: rows.map(({ ip, bans, activeBans }) => `${textOf(ip)} ${bans} ${activeBans}`).sort(),
    stored: known.rows.map(({ ip, bans, active }) => `${textOf(ip)} ${bans} ${active}`).sort(),
  }
}
const agree = async (addresses: number) => {
  const { columns, stored } = await both()
  expect(columns).toEqual(stored)
  expect(stored).toHaveLength(addresses)
}

test.runIf(engine === 'postgres')('all bans are read, with their ends', () => agree(3))

test.runIf(engine === 'postgres')('a ban whose transaction ends after a later one is not missed', async () => {
  const late = new pg.Client({ connectionString: database?.url })
  await late.connect()
  await late.query('begin')
  await appendBans.postgres(late as unknown as pg.PoolClient, { items: [aBan(10), endOf(aBan(1))], now })
  await add(aBan(11))
  await agree(4)
  await add(aBan(12), endOf(aBan(11)))
  await agree(5)
  await late.query('commit')
  await late.end()
  await agree(6)
  await agree(6)
})

test.runIf(engine === 'postgres')('bans that come without an event, and those that go, are followed', async () => {
  await add(aBan(20, { isAdopted: true }), aBan(21))
  await agree(8)
  await sql`delete from bans where ip in (${Buffer.from(addressOf(20))}, ${Buffer.from(addressOf(4))})`.execute(
    db.write,
  )
  await agree(6)
  const gone = new pg.Client({ connectionString: database?.url })
  await gone.connect()
  await gone.query('begin')
  await gone.query('delete from bans where ip = $1', [Buffer.from(addressOf(21))])
  await add(aBan(22, { isAdopted: true }))
  await agree(7)
  await gone.query('commit')
  await gone.end()
  await agree(6)
  followed.columns.settle()
  await agree(6)
})

test.runIf(engine === 'postgres')('changes are forgotten after an hour, and not before', async () => {
  const count = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from ban_changes`.execute(db.read)).rows[0]?.n
  expect(await count()).toBeGreaterThan(1)
  await sql`update ban_changes set at = now() - interval '61 minutes'`.execute(db.write)
  await sql`delete from bans where ip = ${Buffer.from(addressOf(22))}`.execute(db.write)
  await removeOldBanChanges(db.write)
  expect(await count()).toBe(1)
})

test.runIf(engine === 'postgres')('which bans were lifted early', async () => {
  const [ban] = await add(aBan(30), aBan(31, { duration: 60 }), endOf(aBan(30)))
  const ids = [ban?.id ?? 0, (ban?.id ?? 0) + 1]
  expect(await followed.liftedAmong(ids)).toEqual([ban?.id])
  expect(await followed.liftedAmong([])).toEqual([])
})

test.runIf(engine === 'postgres')('a connection that falls silent is an error, not an endless wait', async () => {
  const { hostname, port } = new URL(database?.url ?? '')
  let isSilent = false
  const sockets: Socket[] = []
  const between = createServer(near => {
    const far = connect(Number(port), hostname)
    sockets.push(near, far)
    near.on('data', data => isSilent || far.write(data))
    far.on('data', data => isSilent || near.write(data))
    for (const each of [near, far]) each.on('error', () => {})
  })
  await once(between.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(database?.url ?? '')
  url.port = String((between.address() as AddressInfo).port)
  const cut = await followPostgres(url.href, 2000)
  isSilent = true
  await expect(Promise.resolve(cut.catchUp())).rejects.toThrow('timeout')
  for (const socket of sockets) socket.destroy()
  between.close()
})
