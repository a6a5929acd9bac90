import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aHost, eventually, freePort, freshDatabase, spawnServer } from '../src/testing/index.ts'

/** Kills the server with SIGKILL in the middle of writes of 64 connections: what was acknowledged is there afterwards. */
test('every acknowledged ban survives kill -9, once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-kill-'))
  const database = await freshDatabase()
  const options = { dataDir, port: await freePort(), ...(database ? { databaseUrl: database.url } : {}) }
  let server = await spawnServer(options)
  const acknowledged = new Map<string, number>()
  try {
    let admin = await server.setUp()
    const hosts = await Promise.all(Array.from({ length: 4 }, (_, n) => aHost(server, admin.client, `kill-${n}`)))
    for (let round = 0; round < 3; round++) {
      let stopped = false
      const writers = Array.from({ length: 64 }, async (_, n) => {
        const host = hosts[n % hosts.length]
        while (!stopped && host) {
          const event_id = crypto.randomUUID()
          const ip = `10.${n}.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`
          try {
            const { id } = await host.client.call('POST /bans', {
              body: { ip, jail: 'sshd', event_id, ban_duration: -1 },
            })
            acknowledged.set(event_id, id)
          } catch {
            // Cut off or refused: not acknowledged, so nothing was promised.
            return
          }
        }
      })
      const before = acknowledged.size
      await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 500))
      await server.kill()
      stopped = true
      await Promise.all(writers)
      server = await spawnServer(options)
      admin = await server.signIn()
    }
    const found = new Map<string, number[]>()
    for (const host of hosts)
      for (let page = 1, more = true; more; page++) {
        const { bans } = await admin.client.call('GET /bans', { query: { server_id: host.id, limit: 100, page } })
        for (const ban of bans) found.set(ban.event_id ?? '', [...(found.get(ban.event_id ?? '') ?? []), ban.id])
        more = bans.length === 100
      }
    const lost = [...acknowledged].filter(([event_id, id]) => !found.get(event_id)?.includes(id))
    expect(lost).toEqual([])
    expect([...found.values()].filter(rows => rows.length > 1)).toEqual([])
    expect(acknowledged.size).toBeGreaterThan(1500)
    // The counters were written with the rows.
    expect((await admin.client.call('GET /bans')).total).toBe(found.size)
    expect((await admin.client.call('GET /bans', { query: { active: true } })).total).toBe(found.size)
  } finally {
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
    await database?.drop()
  }
})

test('a graceful stop finishes what it accepted and ends with 0', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-stop-'))
  const database = await freshDatabase()
  const options = { dataDir, ...(database ? { databaseUrl: database.url } : {}) }
  const server = await spawnServer(options)
  try {
    const admin = await server.setUp()
    const host = await aHost(server, admin.client)
    let accepted = 0
    let stopping = false
    const writers = Array.from({ length: 16 }, async () => {
      while (!stopping)
        try {
          await host.client.call('POST /bans', { body: { ip: '203.0.113.1', jail: 'sshd' } })
          accepted++
        } catch {
          return
        }
    })
    const poll = host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
      query: { wait: 50 },
    })
    await eventually(() => expect(accepted).toBeGreaterThan(50))
    const code = await server.stop()
    stopping = true
    expect(code).toBe(0)
    // Whoever waited for a command was let go, not cut off.
    expect(await poll).toMatchObject({ commands: [] })
    await Promise.all(writers)
    const again = await spawnServer({ ...options, dataDir })
    const { client } = await again.signIn()
    expect((await client.call('GET /bans')).total).toBe(accepted)
    await again.close()
  } finally {
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
    await database?.drop()
  }
})
