import { expect, test } from 'vitest'
import type { Database } from '../../db/database.ts'
import { withDatabase } from '../../testing/scene.ts'
import { createRegistry } from './registry.ts'
import type { Registry } from './registry.ts'

/* Two registries over one storage stand for two processes. */

let db: Database
withDatabase(opened => (db = opened))

const addServer = async (): Promise<number> => {
  const row = { id: crypto.randomUUID(), hostname: 'web-01', description: '', created_at: 1, updated_at: 1 }
  const inserted = db.write.insertInto('servers').values({ ...row, status: 'online' })
  return (await inserted.returning('no').executeTakeFirstOrThrow()).no
}
const boot = crypto.randomUUID()
const now = Date.now()
const counts = { total_banned: null, current_failed: null, total_failed: null }
const details = {
  ...counts,
  ...{ filter: null, logpath: null, maxretry: null, bantime: null, findtime: null, template: null },
}
const sshd = { ...details, name: 'sshd', enabled: true, current_bans: 1 }
const nginx = { ...sshd, name: 'nginx' }
const report = (
  registry: Registry,
  no: number,
  number: number,
  jails: readonly (typeof sshd)[],
  receivedAt = now + number,
) => registry.receive(no, { version: { boot, number }, receivedAt, metrics: null, jails })
/** Writes a host's jails as one transaction, and takes the result over as its caller does after the commit. */
const save = async (registry: Registry, no: number, template?: string) => {
  const saved = await db.write
    .transaction()
    .execute(sql =>
      registry.writeJails(sql, no, template ? jails => jails.map(jail => ({ ...jail, template })) : undefined),
    )
  registry.take(no, saved.after)
}
const stored = async (no: number) => {
  const row = await db.read.selectFrom('heartbeats').selectAll().where('server_no', '=', no).executeTakeFirstOrThrow()
  return { at: row.last_heartbeat, jails: JSON.parse(row.jails) as unknown }
}

test('reading an older row does not take back what a heartbeat said', async () => {
  const no = await addServer()
  const registry = await createRegistry(db, Date.now)
  report(registry, no, 1, [sshd])
  await save(registry, no)
  report(registry, no, 2, [nginx])
  await db.write.transaction().execute(async sql => {
    await registry.writeJails(sql, no)
    // Another change of the server makes every process read the row, which still has the first report.
    await registry.refresh(no)
    expect(registry.byNo(no)?.jails).toEqual([nginx])
  })
  await registry.refresh(no)
  expect(registry.byNo(no)?.jails).toEqual([nginx])
})

test('of two processes the one with the later report wins, whichever writes last', async () => {
  const no = await addServer()
  const one = await createRegistry(db, Date.now)
  const two = await createRegistry(db, Date.now)
  // The clock of the process that received the later report is behind.
  report(two, no, 2, [nginx], now - 60_000)
  report(one, no, 1, [sshd])
  await two.flush()
  await one.flush()
  expect((await stored(no)).jails).toEqual([nginx])
  expect(one.byNo(no)?.jails).toEqual([nginx])
  await save(one, no)
  await two.refresh(no)
  expect((await stored(no)).jails).toEqual([nginx])
  expect(two.byNo(no)?.jails).toEqual([nginx])
})

test('reports without a version are ordered by their receipt', async () => {
  const no = await addServer()
  const one = await createRegistry(db, Date.now)
  const two = await createRegistry(db, Date.now)
  const unversioned = { version: undefined, metrics: null }
  one.receive(no, { ...unversioned, receivedAt: now, jails: [sshd] })
  two.receive(no, { ...unversioned, receivedAt: now + 1, jails: [nginx] })
  await two.flush()
  await one.flush()
  expect(await stored(no)).toEqual({ at: now + 1, jails: [nginx] })
  // Within one millisecond, and with a clock that was set back, the later one still wins.
  for (const [receivedAt, jail] of [
    [now + 1, sshd],
    [now - 5000, nginx],
  ] as const) {
    expect(two.receive(no, { ...unversioned, receivedAt, jails: [jail] })).toBe(true)
    await two.flush()
    expect(await stored(no)).toEqual({ at: receivedAt, jails: [jail] })
  }
})

test('heartbeats that are written later keep the details that another process wrote', async () => {
  const no = await addServer()
  const one = await createRegistry(db, Date.now)
  const two = await createRegistry(db, Date.now)
  report(one, no, 1, [sshd])
  await save(one, no)
  report(two, no, 2, [{ ...sshd, current_bans: 2 }])
  await save(one, no, 'sshd')
  await two.flush()
  const deployed = { ...sshd, template: 'sshd' }
  expect(await stored(no)).toEqual({ at: now + 2, jails: [{ ...deployed, current_bans: 2 }] })
  expect(two.byNo(no)?.jails).toEqual([{ ...deployed, current_bans: 2 }])
  await one.refresh(no)
  expect(one.byNo(no)?.jails).toEqual([{ ...deployed, current_bans: 2 }])
})

test('a transaction that is rolled back leaves memory and storage as they were', async () => {
  const no = await addServer()
  const registry = await createRegistry(db, Date.now)
  report(registry, no, 1, [sshd])
  await save(registry, no)
  const broken = db.write.transaction().execute(async sql => {
    await registry.writeJails(sql, no, jails => jails.map(jail => ({ ...jail, template: 'sshd' })))
    throw new Error('broken')
  })
  await expect(broken).rejects.toThrow('broken')
  report(registry, no, 2, [{ ...sshd, current_bans: 5 }])
  await registry.flush()
  expect(await stored(no)).toEqual({ at: now + 2, jails: [{ ...sshd, current_bans: 5 }] })
})

test('a read that began before a commit does not bring back the row that the commit replaced', async () => {
  const no = await addServer()
  const registry = await createRegistry(db, Date.now)
  for (let round = 0; round < 50; round++) {
    const refreshed = registry.refresh(no)
    const row = await db.write
      .updateTable('servers')
      .set({ machine: `machine ${round}` })
      .where('no', '=', no)
      .returningAll()
      .executeTakeFirstOrThrow()
    registry.put(row)
    await refreshed
    expect(registry.byNo(no)?.row.machine).toBe(`machine ${round}`)
  }
})

test('servers stay in the order of their names while they come, are renamed and go', async () => {
  const registry = await createRegistry(db, Date.now)
  const rename = async (no: number, hostname: string, deleted_at: number | null = null) => {
    const set = { hostname, deleted_at }
    registry.put(
      await db.write.updateTable('servers').set(set).where('no', '=', no).returningAll().executeTakeFirstOrThrow(),
    )
  }
  const inOrder = () => {
    const names = registry.all().map(({ row }) => row.hostname.toLowerCase())
    expect(names).toEqual([...names].sort())
    return names.filter(name => name.startsWith('order'))
  }
  inOrder()
  const [one, two, three] = [await addServer(), await addServer(), await addServer()]
  await rename(one, 'order-b')
  await rename(two, 'Order-A')
  await rename(three, 'order-b')
  expect(inOrder()).toEqual(['order-a', 'order-b', 'order-b'])
  expect(registry.hasName('ORDER-B')).toBe(true)
  await rename(one, 'order-c')
  expect(inOrder()).toEqual(['order-a', 'order-b', 'order-c'])
  await rename(three, 'order-b', 1)
  await rename(two, 'order-d')
  registry.remove(two)
  expect(inOrder()).toEqual(['order-c'])
  for (const name of ['order-a', 'order-b', 'order-d', 'order']) expect(registry.hasName(name), name).toBe(false)
})
