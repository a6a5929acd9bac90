import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { aRecordedShield } from './recorded-shield.ts'
import type { ReportedBan, ReportedJail, ServerUnderTest } from './server.ts'
import { freePort } from '../../packages/server/src/testing/free-port.ts'
import { sight } from '../../packages/server/src/testing/waiting.ts'

type Row = { -readonly [K in keyof ReportedBan]: ReportedBan[K] } & {
  event_id: string
  deliveries: number
  command_id: string | null
}
interface Order {
  readonly id: string
  readonly serverId: string
  readonly type: string
  readonly params: Record<string, unknown>
  readonly template: unknown
  readonly seal: unknown
  handedOut: number
  result: { success: boolean; output: string } | null
  resultDeliveries: number
}

export interface Acknowledged {
  readonly at: number
  readonly version: string
  readonly whitelist_version: string | null
  readonly entry_count: number
  readonly error: string | null
  readonly sequences: readonly Record<string, unknown>[]
  readonly shield?: {
    readonly bans: {
      readonly held: number
      readonly refused: readonly { readonly id: number; readonly reason: string }[]
    }
    readonly lists?: readonly { readonly id: number; readonly held: number; readonly error: string | null }[]
  }
}

/** What the recorder does instead of answering. */
export type Mischief =
  | 'html'
  | 'wrong-types'
  | 'truncated'
  | 'huge'
  | 'reset'
  | 'slow'
  | 'error-500'
  | 'unauthorized'
  | null

/**
 * A small peer that speaks the agent's part of the interface and remembers what it was told. It checks the shape of what
 * it gets: anything that the real server would refuse makes `complaints` grow.
 */
export async function aRecorder() {
  const servers = new Map<
    string,
    { key: string; hostname: string; beats: Record<string, unknown>[]; jails: Record<string, unknown>[] }
  >()
  const tokens = new Map<string, string>()
  const rows: (Row & { serverId: string })[] = []
  const rowById = new Map<string, Row>()
  const unbanIds = new Set<string>()
  const adopted = new Set<string>()
  const orders: Order[] = []
  const complaints: string[] = []
  const farewells: string[] = []
  const requests: { at: number; path: string }[] = []
  const waiting = new Set<() => void>()
  /** Nothing is offered until a test whitelists something: as with a server that is older than the agent. */
  const desired = {
    offered: false,
    list: 0,
    round: 0,
    whitelist: [] as readonly string[],
    claimed: null as number | null,
    sequences: [] as readonly Record<string, unknown>[],
  }
  const shield = aRecordedShield()
  const acks: Acknowledged[] = []
  let mischief: Mischief = null
  /** While it is down, no connection of another program gets this port. */
  const port = await freePort()
  let http: Server | null = null

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    requests.push({ at: Date.now(), path })
    const body = await readBody(request)
    if (mischief !== null && misbehave(mischief, response)) return
    const route = `${request.method} ${path}`
    if (route === 'GET /api/v1/health') return reply(response, 200, { status: 'ok', version: 'recorder' })
    if (route === 'POST /api/v1/agent/enroll') {
      const serverId = tokens.get(String(body['token']))
      if (!serverId) return reply(response, 401, { error: 'Unauthorized', message: 'unknown token' })
      tokens.delete(String(body['token']))
      if (typeof body['agent_id'] !== 'string' || typeof body['hostname'] !== 'string')
        complaints.push('enroll without agent_id or hostname')
      return reply(response, 201, { server_id: serverId, api_key: servers.get(serverId)?.key })
    }
    const key = (request.headers.authorization ?? '').replace('Bearer ', '')
    const [serverId, server] = [...servers].find(([, candidate]) => candidate.key === key) ?? []
    if (!serverId || !server) return reply(response, 401, { error: 'Unauthorized', message: 'unknown key' })
    if (route === 'POST /api/v1/servers/heartbeat') {
      server.beats.push(body)
      return reply(response, 200, {
        message: 'ok',
        commands: handOut(serverId),
        ...(desired.offered ? { desired_state: { version: stateVersion() } } : {}),
        heartbeat_interval: 3,
      })
    }
    if (route === `GET /api/v1/servers/${serverId}/commands/pending`) {
      const wait = Number(new URLSearchParams((request.url ?? '').split('?')[1]).get('wait'))
      const known = new URLSearchParams((request.url ?? '').split('?')[1]).get('state')
      const news = (): boolean => desired.offered && known !== stateVersion()
      if (!news() && !orders.some(order => order.serverId === serverId && order.handedOut === 0))
        await wake(wait * 1000, response)
      return reply(response, 200, {
        commands: handOut(serverId),
        ...(desired.offered ? { desired_state: { version: stateVersion() } } : {}),
      })
    }
    if (desired.offered && route === 'GET /api/v1/agent/state') {
      if (request.headers['if-none-match'] === `"${stateVersion()}"`) return void response.writeHead(304).end()
      return reply(response, 200, {
        version: stateVersion(),
        whitelist: {
          version: whitelistVersion(),
          count: desired.claimed ?? desired.whitelist.length,
          spread_seconds: 0,
        },
        portknock: { sequences: desired.sequences, openings: [], blocked: [] },
        ...shield.state(),
      })
    }
    const banned = desired.offered ? shield.answer(route) : null
    if (banned !== null)
      return void response
        .writeHead(200, { 'content-type': 'application/json', etag: `"${banned.version}"` })
        .end(banned.text)
    if (desired.offered && route === 'GET /api/v1/whitelist.txt') {
      const version = whitelistVersion()
      const sent = request.headers['if-none-match']
      if (sent === `"${version}"` || sent === `"${version}-gz"`) return void response.writeHead(304).end()
      const packed = (request.headers['accept-encoding'] ?? '').includes('gzip')
      const text = `# Stockade whitelist\n# ${desired.whitelist.length} entries\n${desired.whitelist.map(ip => `${ip}\n`).join('')}`
      return void response
        .writeHead(200, {
          'content-type': 'text/plain; charset=utf-8',
          etag: `"${version}${packed ? '-gz' : ''}"`,
          ...(packed ? { 'content-encoding': 'gzip' } : {}),
        })
        .end(packed ? gzipSync(text) : text)
    }
    if (desired.offered && route === 'POST /api/v1/agent/state/ack') {
      if (typeof body['version'] !== 'string' || !Number.isInteger(body['entry_count']))
        complaints.push(`not an acknowledgement: ${JSON.stringify(body)}`)
      const { portknock, ...ack } = body as Omit<Acknowledged, 'at' | 'sequences'> & {
        portknock?: Pick<Acknowledged, 'sequences'>
      }
      acks.push({ at: Date.now(), sequences: portknock?.sequences ?? [], ...ack })
      return reply(response, 200, { message: 'ok' })
    }
    if (route === 'POST /api/v1/bans/batch') return reply(response, 200, { results: take(serverId, body) })
    if (route === 'PUT /api/v1/agent/adopted') {
      const results = take(serverId, { bans: adoptedBans(body) }, true)
      for (const { event_id } of results) adopted.add(String(event_id))
      return reply(response, 200, { results })
    }
    if (route === 'POST /api/v1/agent/results') {
      const results = (
        body['results'] as { id: string; success: boolean; output: string; exit_code: number | null }[]
      ).map(result => {
        const order = orders.find(({ id }) => id === result.id)
        if (!order) return { id: result.id, error: 'unknown command' }
        order.resultDeliveries += 1
        if (order.result && order.result.output !== result.output)
          return { id: result.id, error: 'it has another result' }
        order.result = { success: result.success, output: result.output }
        return { id: result.id, error: null }
      })
      return reply(response, 200, { results })
    }
    if (route === 'PUT /api/v1/agent/active') {
      const ids = (body['bans'] as { event_id: string }[]).map(({ event_id }) => event_id)
      if (Number.isNaN(Date.parse(String(body['as_of']))))
        complaints.push(`not a comparison: ${JSON.stringify(body).slice(0, 200)}`)
      return reply(response, 200, { unknown: ids.filter(id => !rowById.has(id)), ended: 0, pending: 0 })
    }
    if (route === 'POST /api/v1/agent/farewell') {
      farewells.push(server.hostname)
      return reply(response, 200, { message: 'Noted.' })
    }
    if (route === 'PUT /api/v1/agent/jails') {
      server.jails = body['jails'] as Record<string, unknown>[]
      return reply(response, 200, { message: 'ok' })
    }
    complaints.push(`no such endpoint: ${route}`)
    reply(response, 404, { error: 'Not Found', message: 'unknown path' })
  }

  const whitelistVersion = (): string => `w${desired.list}`
  const stateVersion = (): string => `s${desired.list}.${desired.round}.${shield.version()}`

  function handOut(serverId: string) {
    // The interface names at most 100 commands in one reply.
    const due = orders.filter(order => order.serverId === serverId && order.handedOut === 0).slice(0, 100)
    for (const order of due) order.handedOut += 1
    return due.map(({ id, type, params, template, seal }) => ({
      id,
      type,
      params,
      ...(template ? { template } : {}),
      ...(seal ? { seal } : {}),
    }))
  }

  /** `isHeld`: the host holds these bans, so that it says how long they last now. */
  function take(serverId: string, body: Record<string, unknown>, isHeld = false) {
    const bans = (body['bans'] ?? []) as Record<string, unknown>[]
    const unbans = (body['unbans'] ?? []) as Record<string, unknown>[]
    if (bans.length + unbans.length > 1000) complaints.push('more than 1000 in a batch')
    const results: { event_id: unknown; id: number | null; error: string | null }[] = []
    for (const ban of bans) {
      const id = String(ban['event_id'])
      if (!/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))
        complaints.push(`not a UUIDv8: ${id}`)
      if (Number.isNaN(Date.parse(String(ban['banned_at'])))) complaints.push(`not a time: ${String(ban['banned_at'])}`)
      if (!Number.isInteger(ban['ban_duration'] ?? 0)) complaints.push(`not a duration: ${String(ban['ban_duration'])}`)
      // oxlint-disable-next-line no-control-regex -- they must not arrive
      if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(String(ban['log_lines'])))
        complaints.push('control characters in log lines')
      const known = rowById.get(id)
      if (known) {
        // Another length is news, and nothing that was told before.
        if (isHeld && known.ban_duration !== ban['ban_duration']) known.ban_duration = ban['ban_duration'] as number
        else known.deliveries += 1
      } else {
        const row = {
          serverId,
          event_id: id,
          deliveries: 1,
          ip: String(ban['ip']),
          jail: String(ban['jail']),
          log_lines: String(ban['log_lines']),
          ban_duration: ban['ban_duration'] as number,
          banned_at: String(ban['banned_at']),
          unbanned_at: null,
          received_at: Date.now(),
          command_id: (ban['command_id'] as string | undefined) ?? null,
        }
        rows.push(row)
        rowById.set(id, row)
      }
      results.push({ event_id: id, id: rows.length, error: null })
    }
    for (const unban of unbans) {
      const id = String(unban['event_id'])
      const at = String(unban['unbanned_at'])
      if (!unbanIds.has(id)) {
        unbanIds.add(id)
        const open = rows.filter(
          row =>
            row.serverId === serverId &&
            row.ip === unban['ip'] &&
            row.jail === unban['jail'] &&
            row.unbanned_at === null,
        )
        if (open.length === 0)
          complaints.push(`an unban of nothing: ${String(unban['ip'])} in ${String(unban['jail'])}`)
        for (const row of open) row.unbanned_at = at
      }
      results.push({ event_id: id, id: null, error: null })
    }
    return results
  }

  /** True when it has answered (or will never). */
  function misbehave(kind: Exclude<Mischief, null>, response: ServerResponse): boolean {
    switch (kind) {
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>It works!</body></html>')
        return true
      case 'wrong-types':
        reply(response, 200, {
          commands: { 0: 'rm' },
          results: 'yes',
          heartbeat_interval: 'soon',
          desired_state: [],
        } as never)
        return true
      case 'truncated':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        response.write('{"commands": [')
        setTimeout(() => response.destroy(), 20)
        return true
      case 'huge':
        response.writeHead(200, { 'content-type': 'application/json' })
        response.on('error', () => undefined)
        for (let i = 0; i < 12; i += 1) response.write(' '.repeat(1024 * 1024))
        response.end('{}')
        return true
      case 'reset':
        response.socket?.resetAndDestroy()
        return true
      case 'slow':
        setTimeout(() => reply(response, 503, { error: 'Service Unavailable', message: 'slow' }), 3000)
        return true
      case 'error-500':
        reply(response, 500, { error: 'Internal Server Error', message: 'request 1' })
        return true
      case 'unauthorized':
        reply(response, 401, { error: 'Unauthorized', message: 'no' })
        return true
    }
  }

  function wake(ms: number, response: ServerResponse): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      response.on('close', done)
      waiting.add(done)
    })
  }

  async function up(): Promise<void> {
    const server = createServer((request, response) => {
      answer(request, response).catch((error: unknown) => {
        complaints.push(`recorder: ${String(error)}`)
        response.destroy()
      })
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '0.0.0.0', resolve))
    http = server
  }

  async function down(): Promise<void> {
    const server = http
    http = null
    for (const end of [...waiting]) end()
    server?.closeAllConnections()
    await new Promise<void>(resolve => (server ? server.close(() => resolve()) : resolve()))
  }

  await up()
  const recorder = {
    url: host => `http://${host.gateway}:${port}`,
    addServer(hostname) {
      const serverId = randomUUID()
      const token = `token-${randomUUID()}`
      servers.set(serverId, { key: `svc_${randomUUID().replaceAll('-', '')}`, hostname, beats: [], jails: [] })
      tokens.set(token, serverId)
      return Promise.resolve({ serverId, token })
    },
    bans: serverId => Promise.resolve(sight('the reported bans', rows).filter(row => row.serverId === serverId)),
    engineVersion: serverId =>
      Promise.resolve((servers.get(serverId)?.beats.at(-1)?.['engine_version'] as string | undefined) ?? null),
    jails: serverId => Promise.resolve((servers.get(serverId)?.beats.at(-1)?.['jails'] ?? []) as ReportedJail[]),
    order(serverId, type, params = {}) {
      const { template, seal, ...rest } = params
      const order: Order = {
        id: randomUUID(),
        serverId,
        type,
        params: rest,
        template,
        seal,
        handedOut: 0,
        result: null,
        resultDeliveries: 0,
      }
      orders.push(order)
      for (const end of [...waiting]) end()
      return Promise.resolve(order.id)
    },
    outcome: id => Promise.resolve(sight('the orders', orders).find(order => order.id === id)?.result ?? null),
    down,
    up,
    close: down,
  } satisfies ServerUnderTest

  return {
    ...recorder,
    get rows() {
      return sight('the reported bans', rows)
    },
    /** Event ids of the bans that were reported as there already. */
    adopted,
    complaints,
    /** The names of hosts whose agent was removed on purpose. */
    farewells,
    get requests() {
      return sight('the requests', requests)
    },
    heartbeats: (serverId: string) => sight('the last heartbeat', servers.get(serverId)?.beats ?? []),
    jailDetails: (serverId: string) => servers.get(serverId)?.jails ?? [],
    key: (serverId: string) => servers.get(serverId)?.key ?? '',
    /** The same order once more, as after a lost answer. */
    redeliver(id: string): void {
      const order = orders.find(candidate => candidate.id === id)
      if (order) order.handedOut = 0
      for (const end of [...waiting]) end()
    },
    get acks() {
      return sight('the acknowledgements', acks)
    },
    /** Replaces the whitelist. `claimed`: how many entries the state says there are, when that is to be a lie. */
    whitelist(entries: readonly string[], claimed: number | null = null): void {
      Object.assign(desired, { offered: true, list: desired.list + 1, whitelist: entries, claimed })
      for (const end of [...waiting]) end()
    },
    /** Wants these knock sequences, in a new state. */
    knock(sequences: readonly Record<string, unknown>[]): void {
      Object.assign(desired, { offered: true, round: desired.round + 1, sequences })
      for (const end of [...waiting]) end()
    },
    /** Wants these entries banned, as fleet bans with ids from 1. */
    fleetBans(entries: readonly string[]): void {
      desired.offered = true
      shield.ban(entries)
      for (const end of [...waiting]) end()
    },
    /** Wants these blocklists held. */
    lists(lists: Parameters<typeof shield.list>[0]): void {
      desired.offered = true
      shield.list(lists)
      for (const end of [...waiting]) end()
    },
    /** A new state with the same list: somebody wants it to be applied again. */
    sync(): void {
      desired.round += 1
      for (const end of [...waiting]) end()
    },
    /** The acknowledgement of the present state without an error, else null. */
    agreed: (since = 0): Acknowledged | null =>
      sight('the acknowledgements', acks).find(
        ack =>
          ack.at >= since &&
          ack.version === stateVersion() &&
          ack.whitelist_version === whitelistVersion() &&
          ack.error === null,
      ) ?? null,
    resultDeliveries: (id: string) => orders.find(order => order.id === id)?.resultDeliveries ?? 0,
    misbehave(kind: Mischief): void {
      mischief = kind
      for (const end of [...waiting]) end()
    },
  }
}

export type Recorder = Awaited<ReturnType<typeof aRecorder>>

/** With the fields of a report; a page holds at most 1,000. */
function adoptedBans(body: Record<string, unknown>): Record<string, unknown>[] {
  return (body['bans'] as Record<string, unknown>[]).map(ban => ({ ...ban, log_lines: '' }))
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString('utf8')
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}
