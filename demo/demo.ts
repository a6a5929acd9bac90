import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@stockade/client'
import type { Client } from '@stockade/client'
import { program } from '../packages/server/programs.cjs'
import { issueLicence, makeAuthority } from '../packages/server/src/features/license/document.ts'
import { drawing } from './attackers.ts'
import { enrolAll } from './hosts.ts'
import type { Host } from './hosts.ts'

/*
 * A whole instance to look at: twelve simulated servers, a month of history, and attacks that go on. The server is the
 * real one and knows nothing of this but that it is a demo; everything comes in through its interface.
 */

export const account = { username: 'demo', password: 'Look-around-42' } as const
const team = [
  { username: 'anna', email: 'anna@stockade.example', role: 'Admin' },
  { username: 'ben', email: 'ben@stockade.example', role: 'Operator' },
  { username: 'chloe', email: 'chloe@stockade.example', role: 'Viewer' },
] as const

export interface Demo {
  readonly url: string
  readonly admin: Client
  readonly hosts: readonly Host[]
  /** Bans of the history. */
  readonly bans: number
  /** Ends the hosts and the server, and removes everything. */
  close(): Promise<void>
}

/** Processes that the server forks must not report their modules to it: they would take the messages for answers. */
const forget = 'data:text/javascript,delete process.env.WATCH_REPORT_DEPENDENCIES'
const watching = ['--watch', '--watch-preserve-output', '--import', forget]

/** Starts the server of the demo; resolves when it listens. Watched, it runs from its sources and starts again when one changes. */
const startServer = async (dataDir: string, host: string, port: number, isWatched: boolean) => {
  const authority = makeAuthority()
  const licence = {
    tier: 'pro' as const,
    serverLimit: 50,
    registeredTo: 'Demo',
    issuedAt: Date.now() - 1000,
    expiresAt: Date.now() + 30 * 86_400_000,
  }
  const sources = fileURLToPath(new URL('../packages/server/src/main.ts', import.meta.url))
  const words = isWatched ? [...watching, sources] : [program('server/src/main')]
  const child = spawn(process.execPath, words, {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      STOCKADE_HOST: host,
      STOCKADE_PORT: String(port),
      STOCKADE_DATA_DIR: dataDir,
      STOCKADE_LOG_LEVEL: process.env.STOCKADE_LOG_LEVEL ?? 'warn',
      STOCKADE_RATE_LIMIT: '0',
      STOCKADE_RATE_LIMIT_SENSITIVE: '0',
      STOCKADE_DEMO: '1',
      STOCKADE_LICENSE_PUBLIC_KEY: authority.publicKey,
      STOCKADE_LICENSE_KEY: issueLicence(authority.privateKey, licence),
      STOCKADE_ADMIN_USERNAME: account.username,
      STOCKADE_ADMIN_EMAIL: 'demo@stockade.example',
      STOCKADE_ADMIN_PASSWORD: account.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', data => {
      output += String(data)
      if (output.includes('Stockade is ready')) resolve(`http://localhost:${port}`)
    })
    child.once('exit', () => reject(new Error(`The server did not start:\n${output}`)))
  })
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await exited
    },
  }
}

/** Takes syslog messages over TCP and forgets them: the receiver of a SIEM that is not there. */
const startReceiver = async (): Promise<{ port: number; server: Server }> => {
  const server = createServer(socket => socket.on('error', () => {}).resume())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const address = server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, server }
}

const banOnFleet = async (anna: Client, ben: Client): Promise<void> => {
  for (const [client, entry, reason, days] of [
    [anna, '2001:db8:bad::/48', 'Botnet range, abuse desk is silent', null],
    [ben, '198.51.100.204', 'Scraper, ticket 4411', null],
    [ben, '198.51.100.192/28', 'Credential stuffing on the shop', 5],
    [anna, '203.0.113.129', '157 bans since March', 30],
  ] as const)
    await client.call('POST /fleet/bans', {
      body: { entry, reason, target: { all: true }, duration: days === null ? -1 : days * 86_400 },
    })
}

/** One rule is on; the other one waits for somebody to look at its simulation. */
const writeRules = async (anna: Client): Promise<void> => {
  const { id } = await anna.call('POST /rules', {
    body: { name: 'SSH on 3 servers', min_servers: 3, within: 86_400, jails: ['sshd'], duration: 7 * 86_400 },
  })
  await anna.call('POST /rules/{id}/simulate', { params: { id }, body: {} })
  await anna.call('POST /rules/{id}/arm', { params: { id } })
  await anna.call('POST /rules', {
    body: { name: 'Web probes', jails: ['nginx-botsearch'], within: 3600, duration: 86_400, factor: 2 },
  })
}

/** What people did before: users, whitelist, knocks, a SIEM, templates, commands. */
const furnish = async (
  admin: Client,
  as: (username: string) => Promise<Client>,
  hosts: readonly Host[],
  siemPort: number,
) => {
  await admin.call('PATCH /settings', { body: { service: { site_name: 'Stockade demo' } } })
  for (const { username, email, role } of team)
    await admin.call('POST /users', { body: { username, email, role, password: account.password } })
  const anna = await as('anna')
  const ben = await as('ben')
  for (const [ip, description] of [
    ['192.0.2.0/26', 'Office'],
    ['2001:db8:ffff::/48', 'Office, IPv6'],
    ['10.10.0.0/16', 'Own networks'],
    ['198.51.100.250', 'Uptime checks'],
  ] as const)
    await anna.call('POST /whitelist', { body: { ip, description } })
  await banOnFleet(anna, ben)
  await writeRules(anna)
  await anna.call('PATCH /siem/settings', {
    body: { enabled: true, format: 'syslog', host: '127.0.0.1', port: siemPort, protocol: 'tcp', flush_interval: 5 },
  })
  const up = hosts.filter(({ plan }) => plan.up)
  const named = (name: string) => hosts.filter(({ plan }) => plan.hostname.startsWith(name)).map(({ id }) => id)
  await anna.call('POST /portknock/sequences', {
    body: {
      name: 'SSH of the databases',
      protected_port: 22,
      knock_ports: [7021, 8214, 9377],
      timeout: 3600,
      server_ids: named('db-'),
    },
  })
  const { templates } = await ben.call('GET /templates')
  const template = (name: string) => templates.find(found => found.name === name)?.id
  for (const [name, ids] of [
    ['nginx-limit-req', named('web-')],
    ['postfix', named('mail-')],
  ] as const) {
    const templateId = template(name)
    if (templateId !== undefined)
      await ben.call('POST /templates/{templateId}/deploy', {
        params: { templateId: String(templateId) },
        body: { server_ids: ids },
      })
  }
  await ben.call('POST /commands/batch', { body: { server_ids: up.map(({ id }) => id), type: 'reload-all' } })
  await ben.call('POST /commands/batch', { body: { server_ids: named('db-'), type: 'service-restart' } })
  for (const serverId of [...named('web-01'), ...named('mail-01')])
    await ben.call('POST /servers/{serverId}/commands', {
      params: { serverId },
      body: { type: 'jail-status', params: { jail: 'sshd' } },
    })
  await ben.call('POST /commands/batch', {
    body: {
      server_ids: up.map(({ id }) => id),
      type: 'ban-ip',
      params: { ip: '203.0.113.66', jail: 'stockade', duration: 86_400, reason: 'Scans the whole network' },
    },
  })
}

/**
 * Starts everything: `days` of history, hosts that live on. The same seed gives the same history. `isWatched`: the server starts
 * again, on the same data, when one of its sources changes.
 */
export const startDemo = async (
  options: { host?: string; port?: number; days?: number; seed?: number; isWatched?: boolean } = {},
): Promise<Demo> => {
  const { host = '127.0.0.1', port = 8420, days = 30, seed = 8420, isWatched = false } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-demo-'))
  const ending = new AbortController()
  let server: Awaited<ReturnType<typeof startServer>> | null = null
  let receiver: Server | null = null
  const living: Promise<void>[] = []
  const close = async () => {
    ending.abort()
    await Promise.all(living)
    await server?.stop()
    receiver?.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    server = await startServer(dataDir, host, port, isWatched)
    const { url } = server
    const as = async (username: string): Promise<Client> => {
      const reply = await createClient({ baseUrl: url }).call('POST /auth/login', {
        body: { username, password: account.password },
      })
      if (!('access_token' in reply)) throw new Error('The demo asks for no second factor.')
      return createClient({ baseUrl: url, token: reply.access_token })
    }
    const admin = await as(account.username)
    const draw = drawing(seed)
    const hosts = await enrolAll(url, admin, draw)
    let bans = 0
    for (const each of hosts) bans += await each.history(days)
    for (const each of hosts) living.push(each.live(ending.signal))
    const { port: siemPort, server: listening } = await startReceiver()
    receiver = listening
    await furnish(admin, as, hosts, siemPort)
    return { url, admin, hosts, bans, close }
  } catch (error) {
    await close()
    throw error
  }
}
