import { expect, test } from 'vitest'
import { describeHosts, loudly, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { ended, reported } from '../engine/scenarios.ts'
import type { Scene } from '../engine/scenarios.ts'
import type { RealServer } from './real-server.ts'
import { withAgent } from './scene.ts'

/* The whitelist from the server's API to every jail of a real fail2ban and back. */
describeHosts('the whitelist, end to end', () => {
  let server: RealServer
  let host: Host
  let scene: Scene
  withAgent(made => ({ server, host } = scene = made))

  const ignored = async (jail: string): Promise<string[]> =>
    (await host.client('get', jail, 'ignoreip')).match(/(?<=- )\S+/g) ?? []
  const status = async () => (await server.admin().call('GET /whitelist/sync-status', {})).servers[0]
  const isActive = async (ip: string) =>
    (await server.admin().call('GET /bans', { query: { ip, active: true } })).total > 0
  const entries: { id: number; ip: string }[] = []

  test('an entry is in every jail, proved, and the bans that it covers are lifted', async () => {
    await until(async () => (await status())?.sync_status === 'synced', 'the empty list')
    for (const ip of ['203.0.113.41', '2001:db8:41::1']) {
      await host.attack(ip)
      await reported(scene, ip)
      await until(() => host.bannedInNft(ip), 'the ban in the firewall')
    }
    const asked = Date.now()
    for (const ip of ['203.0.113.32/27', '2001:db8:41::/64'])
      entries.push(await server.admin().call('POST /whitelist', { body: { ip, description: 'office' } }))
    await until(async () => {
      const now = await status()
      return now?.sync_status === 'synced' && now.entry_count === 2
    }, 'the host to hold the list')
    loudly(`from the first entry to both of them proved on the host: ${Date.now() - asked} ms`)
    for (const jail of ['sshd', 'stockade'])
      expect(await ignored(jail)).toEqual(expect.arrayContaining(['203.0.113.32/27', '2001:db8:41::/64']))
    for (const ip of ['203.0.113.41', '2001:db8:41::1']) {
      await until(async () => !(await host.bannedInNft(ip)), `${ip} to leave the firewall`)
      await ended(scene, ip)
      expect(await isActive(ip)).toBe(false)
    }
  })

  test('an attack from it is not banned, nor is it by order', async () => {
    for (const [listed, other] of [
      ['203.0.113.42', '203.0.113.90'],
      ['2001:db8:41::2', '2001:db8:90::2'],
    ] as const) {
      await host.attack(listed)
      await host.attack(other)
      await reported(scene, other)
      expect(await host.bannedInEngine('sshd', listed)).toBe(false)
      await expect(
        server.admin().call('POST /servers/{serverId}/bans', {
          params: { serverId: scene.serverId },
          body: { ip: listed, force: true },
        }),
      ).rejects.toMatchObject({ status: 409 })
    }
  })

  test('what a command did comes with the next poll', async () => {
    const { key } = await server.admin().call('POST /keys', {
      body: { name: 'metrics', permissions: 'read', scopes: ['metrics'] },
    })
    /** Turns that were answered so far. */
    const turns = async () => {
      const headers = { authorization: `Bearer ${key}` }
      const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers })).text()
      return Number(
        /stockade_http_requests_total\{endpoint="POST \/agent\/turn",status="200"\} (\d+)/.exec(text)?.[1] ?? 0,
      )
    }
    const before = await turns()
    // Work that takes the host longer than a poll waits for it is reported by a request of its own, and an order ends the turn of the one before.
    await until(async () => {
      const id = await server.order(scene.serverId, 'jail-status', { jail: 'sshd' })
      await until(async () => (await server.outcome(id)) !== null, 'the result')
      return (await turns()) > before
    }, 'a result that came with a poll')
  })

  test('it holds over a restart of fail2ban, and an entry that is taken off can be banned again', async () => {
    await host.stopEngine()
    await host.startEngine()
    await until(async () => (await ignored('sshd')).includes('203.0.113.32/27'), 'the list after the restart')
    for (const { id } of entries) await server.admin().call('DELETE /whitelist/{id}', { params: { id } })
    await until(async () => {
      const now = await status()
      return now?.sync_status === 'synced' && now.entry_count === 0
    }, 'the host to let go of the list')
    expect(await ignored('sshd')).not.toContain('203.0.113.32/27')
    await host.attack('203.0.113.43')
    await reported(scene, '203.0.113.43')
  })
})
