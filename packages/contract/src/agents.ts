import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { desiredState, order, resultInput } from './commands.ts'
import { port, protocols } from './portknock.ts'
import { sealBounds } from './seal.ts'
import { policyState } from './servers.ts'
import { count, id, message, nullable, oneOf, openResource, resource, shape, text, timestamp, uuid } from './shapes.ts'

const tag = 'Agent'
/** What hosts say of themselves: kept short, never trusted. */
const label = text(0, 200)
const percent = nullable(Type.Number({ minimum: 0, maximum: 100 }))

/**
 * The agent's own clock of reports: an id for each of its starts, and a counter that rises with every heartbeat and report of
 * jails. A report that arrives after a later one of the same start is answered and ignored.
 */
const reportVersion = Type.Optional(openResource('ReportVersion', { boot: uuid, number: id }))

export const jailReport = openResource('JailReport', {
  name: text(1, 64),
  enabled: Type.Boolean(),
  current_bans: Type.Optional(nullable(count)),
})
export const heartbeat = endpoint({
  method: 'POST',
  path: '/servers/heartbeat',
  tag,
  summary: 'Say that the host is alive (agent)',
  description: 'Belongs to the server that the key is bound to. The answer may carry commands.',
  access: 'agent',
  lenient: true,
  body: Type.Object({
    hostname: text(1, bounds.hostname),
    os: Type.Optional(nullable(label)),
    engine_version: Type.Optional(nullable(label)),
    agent_version: Type.Optional(nullable(label)),
    agent_id: Type.Optional(uuid),
    report: reportVersion,
    metrics: Type.Optional(
      nullable(
        openResource('MetricsReport', {
          cpu_percent: Type.Optional(percent),
          memory_percent: Type.Optional(percent),
          disk_percent: Type.Optional(percent),
          uptime: Type.Optional(nullable(Type.Number({ minimum: 0 }))),
        }),
      ),
    ),
    jails: Type.Optional(Type.Array(jailReport, { maxItems: bounds.jailsPerHost })),
    capabilities: Type.Optional(openResource('HostCapabilities', { nftables: Type.Optional(Type.Boolean()) })),
    sealed: Type.Optional(
      nullable(
        openResource('SealPolicyReport', {
          types: Type.Array(text(1, 40), { maxItems: 64 }),
          operators: Type.Array(
            openResource('HostOperatorReport', {
              name: text(1, sealBounds.name),
              kind: text(1, 16),
              fingerprint: text(1, 64),
            }),
            { maxItems: sealBounds.operators },
          ),
          error: Type.Optional(nullable(text(0, 1000))),
        }),
      ),
    ),
    policy: Type.Optional(
      nullable(
        openResource('HostPolicyReport', {
          state: policyState,
          error: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
        }),
      ),
    ),
  }),
  status: 200,
  reply: shape({
    message: Type.String(),
    commands: Type.Array(order),
    desired_state: desiredState,
    heartbeat_interval: count,
  }),
  refusals: [409],
})

export const enroll = endpoint({
  method: 'POST',
  path: '/agent/enroll',
  tag,
  summary: 'Exchange an installation token for an agent key',
  description: 'The token works once, within 24 hours.',
  access: 'public',
  rate: 'sensitive',
  lenient: true,
  body: Type.Object({
    token: text(1, 128),
    hostname: text(1, bounds.hostname),
    os: Type.Optional(nullable(label)),
    engine_version: Type.Optional(nullable(label)),
    agent_version: Type.Optional(nullable(label)),
    agent_id: uuid,
  }),
  status: 201,
  reply: shape({ server_id: uuid, api_key: Type.String() }),
  refusals: [401],
})

/** A sequence as a host enforces it. `revision` is given back with what became of it. */
export const knockOrder = resource('KnockRule', {
  id,
  revision: count,
  protected_port: port,
  knock_ports: Type.Array(port),
  protocol: oneOf(protocols),
  timeout: count,
  knock_timeout: count,
  max_attempts: count,
  block_duration: count,
})
/** An address that stands in a list of a sequence until then. */
const addressed = { sequence_id: id, ip: Type.String(), expires_at: timestamp }
const knockAddress = resource('KnockAddress', addressed)

export const agentState = endpoint({
  method: 'GET',
  path: '/agent/state',
  tag,
  summary: 'What the host should hold (agent)',
  description: 'Answers 304 to a matching `If-None-Match`.',
  access: 'agent',
  lenient: true,
  status: 200,
  reply: shape({
    version: Type.String(),
    /** An agent fetches a changed list after a random part of `spread_seconds`, so that a large one does not leave all at once. */
    whitelist: resource('WhitelistVersion', { version: Type.String(), count, spread_seconds: count }),
    portknock: resource('DesiredPortKnocking', {
      sequences: Type.Array(knockOrder),
      openings: Type.Array(resource('DesiredOpening', { id: uuid, ...addressed })),
      blocked: Type.Array(knockAddress),
      /** Whose live connections to the protected port are cut until `expires_at`. */
      cuts: Type.Array(knockAddress),
    }),
  }),
})

export const acknowledgeState = endpoint({
  method: 'POST',
  path: '/agent/state/ack',
  tag,
  summary: 'Say what was applied (agent)',
  access: 'agent',
  lenient: true,
  body: Type.Object({
    version: text(1, 128),
    whitelist_version: Type.Optional(nullable(text(1, 128))),
    entry_count: Type.Optional(nullable(count)),
    error: Type.Optional(nullable(text(0, bounds.description))),
    portknock: Type.Optional(
      openResource('AppliedPortKnocking', {
        /** What became of each sequence of the state; `revision` is the one that was applied, or tried. */
        sequences: Type.Array(
          openResource('AppliedKnockRule', {
            id,
            revision: count,
            state: oneOf(['enforced', 'unsupported', 'failed']),
            error: Type.Optional(nullable(text(0, bounds.description))),
          }),
          { maxItems: bounds.sequencesPerHost },
        ),
        /** The openings of the state that are open now. */
        openings: Type.Array(uuid, { maxItems: bounds.openingsPerHost }),
      }),
    ),
  }),
  status: 200,
  reply: message,
})

export const putJails = endpoint({
  method: 'PUT',
  path: '/agent/jails',
  tag,
  summary: 'Report the jails in detail (agent)',
  access: 'agent',
  lenient: true,
  body: Type.Object({
    jails: Type.Array(
      openResource('JailDetailReport', {
        name: text(1, 64),
        enabled: Type.Boolean(),
        current_bans: Type.Optional(nullable(count)),
        filter: Type.Optional(nullable(text(0, 256))),
        logpath: Type.Optional(nullable(text(0, 4096))),
        maxretry: Type.Optional(nullable(Type.Integer())),
        bantime: Type.Optional(nullable(Type.Integer())),
        findtime: Type.Optional(nullable(Type.Integer())),
        /** The template whose stanza the agent keeps on the host; a template's jail has its name. Null: none; left out: as it was. */
        template: Type.Optional(nullable(text(0, 64))),
      }),
      { maxItems: bounds.jailsPerHost },
    ),
    report: reportVersion,
  }),
  status: 200,
  reply: message,
})

export const reportResults = endpoint({
  method: 'POST',
  path: '/agent/results',
  tag,
  summary: 'Report the results of many commands (agent)',
  access: 'agent',
  lenient: true,
  bodyLimit: bounds.largeBody,
  body: Type.Object({
    results: Type.Array(openResource('CommandResultReport', { id: uuid, ...resultInput }), {
      maxItems: bounds.results,
    }),
  }),
  status: 200,
  reply: shape({
    results: Type.Array(resource('ResultAcknowledgement', { id: uuid, error: nullable(Type.String()) })),
  }),
})

export const reportKnocks = endpoint({
  method: 'POST',
  path: '/agent/knocks',
  tag,
  summary: 'Report port knocks (agent)',
  description: 'Taken in whatever the licence says: what happened on a host must not wait there for ever.',
  access: 'agent',
  lenient: true,
  body: Type.Object({
    events: Type.Array(
      openResource('KnockReport', {
        event_id: uuid,
        sequence_id: Type.Integer({ minimum: 1 }),
        ip: text(1, 64),
        status: oneOf(['success', 'failed', 'blocked']),
        reason: Type.Optional(nullable(text(0, bounds.reason))),
        timestamp,
      }),
      { maxItems: bounds.batch },
    ),
  }),
  status: 200,
  reply: shape({
    results: Type.Array(
      resource('KnockReportResult', { event_id: uuid, ok: Type.Boolean(), error: nullable(Type.String()) }),
    ),
  }),
})
