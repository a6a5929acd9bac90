import { randomUUID } from 'node:crypto'
import type { Client } from '@stockade/client'
import type { TestServer } from '@stockade/server/testing'

/** A stand-in beats once: a test on a slow machine lasts longer than a host is believed to be online without. */
export const staysOnline = { STOCKADE_OFFLINE_AFTER: '86400' } as const

/** A stand-in for a host's agent, which speaks the interface as the real one does. */
export interface Host {
  readonly id: string
  readonly client: Client
  beat(jails?: readonly string[]): Promise<void>
  /** Reports that it is protected, or the one check that says why not. */
  protect(problem?: string): Promise<void>
  /** Reports a ban; resolves to its id. */
  ban(ip: string, given?: { jail?: string; log_lines?: string; ban_duration?: number }): Promise<number>
  /** Takes the waiting commands, as a poll does. */
  orders(): Promise<readonly { readonly id: string; readonly type: string; readonly params: Record<string, unknown> }[]>
  answer(commandId: string, success?: boolean, output?: string): Promise<void>
  /** Confirms that its firewall holds every fleet ban that is for it. */
  hold(): Promise<void>
}

/** Registers a server and enrols it. */
export const aNewHost = async (server: Pick<TestServer, 'client'>, admin: Client, hostname: string): Promise<Host> => {
  const { install_command } = await admin.call('POST /servers', { body: { hostname } })
  return enrol(server, install_command, hostname)
}

/** Enrols with the token of an install command. */
export const enrol = async (
  server: Pick<TestServer, 'client'>,
  installCommand: string,
  hostname = 'web-01',
): Promise<Host> => {
  const agentId = randomUUID()
  const about = {
    os: 'Debian GNU/Linux 12 (bookworm)',
    engine_version: '1.0.2',
    agent_version: '0.1.0',
    agent_id: agentId,
  }
  const enrolled = await server.client().call('POST /agent/enroll', {
    body: { token: installCommand.trim().split(' ').at(-1) ?? '', hostname, ...about },
  })
  const client = server.client(enrolled.api_key)
  const id = enrolled.server_id
  return {
    id,
    client,
    async beat(jails = ['sshd']) {
      await client.call('POST /servers/heartbeat', {
        body: {
          hostname,
          ...about,
          metrics: { cpu_percent: 12, memory_percent: 41, disk_percent: 83, uptime: 86_400 },
          jails: jails.map(name => ({ name, enabled: true, current_bans: 0 })),
        },
      })
    },
    async protect(problem) {
      const since = new Date().toISOString()
      await client.call('POST /servers/heartbeat', {
        body: {
          hostname,
          ...about,
          protection: {
            level: problem === undefined ? 'protected' : 'unprotected',
            since,
            summary: problem ?? 'All checks are fine.',
            checks:
              problem === undefined ? [] : [{ id: 'engine', subject: null, state: 'bad', since, detail: problem }],
            counted: { ok: 8, not_ok: problem === undefined ? 0 : 1, unknown: 0 },
          },
        },
      })
    },
    async ban(ip, given = {}) {
      const { id: banId } = await client.call('POST /bans', {
        body: { ip, jail: 'sshd', ban_duration: 3600, log_lines: '', event_id: randomUUID(), ...given },
      })
      return banId
    },
    async hold() {
      await client.call('POST /servers/heartbeat', {
        body: {
          hostname,
          ...about,
          capabilities: {
            nftables: true,
            shield: { supported: true, mode: 'stateful', owned: true, driver: 'netlink', reason: null },
          },
        },
      })
      const { version, whitelist, shield } = await client.call('GET /agent/state')
      const { version: bansVersion, count: held, digest } = shield.bans
      await client.call('POST /agent/state/ack', {
        body: {
          ...{ version, whitelist_version: whitelist.version, entry_count: whitelist.count },
          shield: { bans: { version: bansVersion, held, digest, refused: [] } },
        },
      })
    },
    async orders() {
      return (await client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: id } })).commands
    },
    async answer(commandId, success = true, output = 'ok') {
      await client.call('POST /commands/{commandId}/result', {
        params: { commandId },
        body: { success, output, exit_code: success ? 0 : 1 },
      })
    },
  }
}
