import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../../packages/client/src/index.ts'
import { freePort, sight, spawnServer } from '../../packages/server/src/testing/index.ts'
import type { SpawnedServer } from '../../packages/server/src/testing/index.ts'
import type { ReportedBan, ServerUnderTest } from '../engine/server.ts'

export interface RealServer extends ServerUnderTest {
  readonly admin: () => Client
  readonly token: () => string
  readonly port: number
  readonly dataDir: string
}

/** The server as a user's: a process of its own, on all addresses, that can be killed and started where it was. */
export const aRealServer = async (more: (port: number) => Record<string, string> = () => ({})): Promise<RealServer> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-e2e-'))
  const port = await freePort()
  const options = {
    dataDir,
    port,
    env: { STOCKADE_HOST: '0.0.0.0', STOCKADE_HEARTBEAT_INTERVAL: '5', STOCKADE_OFFLINE_AFTER: '20', ...more(port) },
  }
  let server: SpawnedServer = await spawnServer(options)
  let signed = await server.setUp()
  /** When each ban was first seen here; the interface has no such time. */
  const seen = new Map<number, number>()

  return {
    port,
    dataDir,
    admin: () => signed.client,
    token: () => signed.token,
    url: host => `http://${host.gateway}:${port}`,
    async addServer(hostname) {
      const made = await signed.client.call('POST /servers', { body: { hostname } })
      return { serverId: made.id, token: made.install_command.split(' ').at(-1) ?? '' }
    },
    async bans(serverId): Promise<ReportedBan[]> {
      const rows: ReportedBan[] = []
      for (let page = 1; ; page++) {
        const { bans, total } = await signed.client.call('GET /bans', {
          query: { server_id: serverId, limit: 100, page },
        })
        for (const ban of bans) {
          const { ip, jail, log_lines, ban_duration, banned_at, unbanned_at } = ban
          const received_at = seen.get(ban.id) ?? Date.now()
          seen.set(ban.id, received_at)
          rows.push({ ip, jail, log_lines, ban_duration, banned_at, unbanned_at, received_at })
        }
        if (page * 100 >= total) return sight('the bans', rows.reverse())
      }
    },
    async engineVersion(serverId) {
      const found = await signed.client.call('GET /servers/{serverId}', { params: { serverId } })
      return sight('the server', found).status === 'pending' ? null : (found.engine_version ?? '')
    },
    async jails(serverId) {
      return (await signed.client.call('GET /servers/{serverId}', { params: { serverId } })).jails
    },
    async order(serverId, type, params = {}) {
      if (type === 'ban-ip' && params.jail === undefined) {
        const queued = await signed.client.call('POST /servers/{serverId}/bans', {
          params: { serverId },
          body: params as { ip: string },
        })
        return queued.command_id
      }
      const made = await signed.client.call('POST /servers/{serverId}/commands', {
        params: { serverId },
        body: { type: type as 'ban-ip', params },
      })
      return made.id
    },
    async outcome(commandId) {
      const command = await signed.client.call('GET /commands/{commandId}', { params: { commandId } })
      return sight('the command', command).result
    },
    down: () => server.kill(),
    async up() {
      server = await spawnServer(options)
      signed = await server.signIn()
    },
    async close() {
      await server.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
