import { asFields, asInteger, asList, asText, type Fields } from './json.ts'
import type { SealReport } from './seal/gate.ts'
import type { PolicyState } from './policy/policy.ts'
import { cleanText } from './text.ts'
import { ServerError, type Fresh, type Transport } from './transport.ts'

/** The requests of the agent as they go over the wire; names are the interface's. */

export interface BanReport {
  readonly event_id: string
  readonly ip: string
  readonly jail: string
  readonly log_lines: string
  /** Seconds, -1 for permanent, null for an end that is not known yet. */
  readonly ban_duration: number | null
  readonly banned_at: string
  readonly command_id?: string
  readonly source?: 'manual'
}

export interface UnbanReport {
  readonly event_id: string
  readonly ip: string
  readonly jail: string
  readonly unbanned_at: string
}

export interface KnockReport {
  readonly event_id: string
  readonly sequence_id: number
  readonly ip: string
  readonly status: 'success' | 'failed' | 'blocked'
  readonly reason: string | null
  readonly timestamp: string
}

/** What became of the knock sequences, and which openings of the state are open. */
export interface KnockAcknowledgement {
  readonly sequences: readonly {
    readonly id: number
    readonly revision: number
    readonly state: 'enforced' | 'unsupported' | 'failed'
    readonly error: string | null
  }[]
  readonly openings: readonly string[]
}

export interface Heartbeat {
  readonly hostname: string
  readonly os: string
  readonly engine_version: string
  readonly agent_version: string
  readonly agent_id: string
  readonly capabilities: { readonly nftables: boolean }
  readonly metrics: { cpu_percent: number; memory_percent: number; disk_percent: number; uptime: number }
  readonly jails: readonly { name: string; enabled: boolean; current_bans: number }[]
  /** What holds of the host's own policy. */
  readonly policy: PolicyState
  /** Whose signature this host asks for, and for what; null: for nothing. */
  readonly sealed: SealReport | null
  readonly report: ReportVersion
}
/** The agent's own clock of reports: an id for each of its starts, and a counter since then. */
export interface ReportVersion {
  readonly boot: string
  readonly number: number
}

export interface JailDetail {
  readonly name: string
  readonly enabled: boolean
  readonly current_bans: number
  readonly filter: string
  readonly logpath: string
  readonly maxretry: number | null
  readonly bantime: number | null
  readonly findtime: number | null
  /** The template whose stanza is kept on this host; null for a jail of the host's own. */
  readonly template: string | null
}

export interface Command {
  readonly id: string
  readonly type: string
  readonly params: Fields
  /** An operator's signature as it came, not yet judged. */
  readonly seal?: unknown
}

export interface CommandResult {
  readonly success: boolean
  readonly output: string
  readonly exit_code: number | null
}

export interface RowResult {
  readonly id: string
  readonly error: string | null
}

/** What the host should hold, as far as this agent knows it. */
export interface DesiredState {
  readonly version: string
  /** `count` entries; a changed list is fetched after a random part of `spread` seconds. */
  readonly whitelist: { readonly version: string; readonly count: number; readonly spread: number }
  /** As the server said it, not yet judged; null from a server that knows of no port knocking. */
  readonly portknock: unknown
}

/** What came of a desired state. `entries` of the list are proved to hold; `error` is one sentence or null. */
export interface Acknowledgement {
  readonly version: string
  readonly whitelistVersion: string
  readonly entries: number
  readonly error: string | null
  readonly portknock?: KnockAcknowledgement | undefined
}

/** 100,000 of the longest entries, and room for as many again. */
const LIST_BYTES = 16 * 1024 * 1024
const SPREAD = 60

export type Wire = ReturnType<typeof createWire>

export function createWire(transport: Transport, serverId: string) {
  return {
    async heartbeat(beat: Heartbeat, signal: AbortSignal) {
      const answer = asFields(
        await transport.json('POST', '/api/v1/servers/heartbeat', { body: beat, urgency: 'heartbeat', signal }),
      )
      const interval = asInteger(answer['heartbeat_interval'], 30)
      return {
        commands: commandsOf(answer['commands']),
        interval: interval >= 1 && interval <= 3600 ? interval : 30,
        stateVersion: stateVersionOf(answer),
      }
    },
    /** Answers when there is something to do or another state than `state` is wanted, else after `wait` seconds. */
    async pending(wait: number, state: string | null, signal: AbortSignal) {
      const known = state === null ? '' : `&state=${encodeURIComponent(state)}`
      const path = `/api/v1/servers/${encodeURIComponent(serverId)}/commands/pending?wait=${wait}${known}`
      const answer = asFields(
        await transport.json('GET', path, { timeout: (wait + 20) * 1000, urgency: 'poll', signal }),
      )
      return { commands: commandsOf(answer['commands']), stateVersion: stateVersionOf(answer) }
    },
    /** What the host should hold; null when that still is the `known` version. */
    async state(known: string | null): Promise<DesiredState | null> {
      const answer = await transport.fresh('/api/v1/agent/state', known, { urgency: 'heartbeat' })
      return answer === null ? null : desiredStateOf(answer.text)
    },
    /** The whitelist as text, with its version; null when it still is the `known` one. */
    async whitelist(known: string | null): Promise<Fresh | null> {
      return transport.fresh('/api/v1/whitelist.txt', known, { timeout: 60_000, maxBytes: LIST_BYTES })
    },
    async acknowledge(done: Acknowledgement): Promise<void> {
      const body = {
        version: done.version,
        whitelist_version: done.whitelistVersion === '' ? null : done.whitelistVersion,
        entry_count: done.entries,
        error: done.error === null ? null : cleanText(done.error).slice(0, 1000),
        ...(done.portknock ? { portknock: done.portknock } : {}),
      }
      await transport.json('POST', '/api/v1/agent/state/ack', { body, urgency: 'heartbeat' })
    },
    /** One row for each event that the server has decided about, by event id. */
    async report(bans: readonly BanReport[], unbans: readonly UnbanReport[]): Promise<RowResult[]> {
      const answer = await transport.json('POST', '/api/v1/bans/batch', { body: { bans, unbans }, timeout: 60_000 })
      return rowsOf(answer, 'event_id')
    },
    async knocks(events: readonly KnockReport[]): Promise<RowResult[]> {
      const answer = await transport.json('POST', '/api/v1/agent/knocks', { body: { events }, timeout: 60_000 })
      return rowsOf(answer, 'event_id')
    },
    /** Whether the server still answers, asked over a connection of its own. */
    async answers(): Promise<boolean> {
      const ask = { urgency: 'heartbeat', timeout: 10_000, alone: true } as const
      return transport.fresh('/api/v1/agent/state', null, ask).then(
        () => true,
        (error: unknown) => error instanceof ServerError && error.status > 0,
      )
    },
    async results(results: readonly (CommandResult & { id: string })[]): Promise<RowResult[]> {
      const answer = await transport.json('POST', '/api/v1/agent/results', { body: { results }, urgency: 'heartbeat' })
      return rowsOf(answer, 'id')
    },
    async jails(jails: readonly JailDetail[], report: ReportVersion): Promise<void> {
      await transport.json('PUT', '/api/v1/agent/jails', { body: { jails, report } })
    },
  }
}

export async function enroll(
  transport: Transport,
  request: {
    token: string
    hostname: string
    os: string
    engine_version: string
    agent_version: string
    agent_id: string
  },
): Promise<{ server_id: string; api_key: string }> {
  const answer = asFields(await transport.json('POST', '/api/v1/agent/enroll', { body: request }))
  const enrolled = { server_id: asText(answer['server_id']), api_key: asText(answer['api_key']) }
  if (!/^[A-Za-z0-9-]{1,64}$/.test(enrolled.server_id) || !/^[\x21-\x7e]{8,256}$/.test(enrolled.api_key)) {
    throw new Error('the server answered the enrolment with something else than an id and a key')
  }
  return enrolled
}

/** Null: the server does not say (an older one), so there is nothing to hold. */
function stateVersionOf(answer: Fields): string | null {
  const version = asFields(answer['desired_state'])['version']
  return typeof version === 'string' && /^[\x21-\x7e]{1,128}$/.test(version) ? version : null
}

function desiredStateOf(text: string): DesiredState {
  const answer = asFields(JSON.parse(text) as unknown)
  const whitelist = asFields(answer['whitelist'])
  const state = {
    version: asText(answer['version']),
    whitelist: {
      version: asText(whitelist['version']),
      count: asInteger(whitelist['count'], -1),
      spread: Math.min(SPREAD, Math.max(0, asInteger(whitelist['spread_seconds'], 0))),
    },
    portknock: answer['portknock'] ?? null,
  }
  if (state.version === '' || state.whitelist.version === '' || state.whitelist.count < 0)
    throw new Error('the server describes the desired state in a way that this agent does not understand')
  return state
}

function commandsOf(value: unknown): Command[] {
  return asList(value)
    .slice(0, 200)
    .map(asFields)
    .map(item => ({ id: asText(item['id']), type: asText(item['type']), params: asFields(item['params']), item }))
    .filter(({ id, type }) => /^[A-Za-z0-9_-]{1,100}$/.test(id) && /^[a-z-]{1,40}$/.test(type))
    .map(({ id, type, params, item }) => ({
      id,
      type,
      params: 'template' in item ? { ...params, template: item['template'] } : params,
      ...('seal' in item ? { seal: item['seal'] } : {}),
    }))
}

function rowsOf(answer: unknown, key: 'event_id' | 'id'): RowResult[] {
  return asList(asFields(answer)['results'])
    .map(asFields)
    .filter(row => typeof row[key] === 'string')
    .map(row => ({ id: asText(row[key]), error: typeof row['error'] === 'string' ? row['error'] : null }))
}
