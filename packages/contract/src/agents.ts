import { Type } from 'typebox'
import { appliedMove, desiredMove } from './agent-moves.ts'
import { endpoint } from './endpoint.ts'
import { bounds, times } from './limits.ts'
import { desiredState, order, resultInput } from './commands.ts'
import { appliedShield, desiredShield } from './fleet-bans.ts'
import { heartbeatReport, jailCounts, label, reportVersion } from './host-report.ts'
import { port, protocols } from './portknock.ts'
import { count, id, message, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, openResource, resource, shape, text } from './shapes.ts'

const tag = 'Agent'
export const heartbeat = endpoint('POST /servers/heartbeat', {
  tag,
  summary: 'Say that the server is alive (agent)',
  description: 'Belongs to the server that the key is bound to. The answer may carry commands.',
  access: 'agent',
  leaves: null,
  inQuarantine: true,
  lenient: true,
  body: heartbeatReport,
  reply: shape({
    message: Type.String(),
    commands: field(Type.Array(order), 'Commands to execute now.'),
    desired_state: desiredState,
    heartbeat_interval: field(count, 'Seconds until the next heartbeat.'),
  }),
  refusals: [409],
})

export const enroll = endpoint('POST /agent/enroll', {
  tag,
  summary: 'Exchange an installation token for an agent key',
  description:
    'The token of one server works once, within 24 hours. An enrolment token makes a server for each host, as often and as long as it was made for; a host that asks again before it was heard of gets the same server.',
  access: 'public',
  leaves: { what: 'keys of an agent', most: 2, per: 'server' },
  rate: 'sensitive',
  lenient: true,
  body: Type.Object({
    token: field(text(1, 128), 'Installation token from the install command.'),
    hostname: text(1, bounds.hostname),
    os: Type.Optional(nullable(label)),
    engine_version: Type.Optional(nullable(label)),
    agent_version: Type.Optional(nullable(label)),
    agent_id: uuid,
    machine: field(
      Type.Optional(nullable(Type.String({ pattern: '^[0-9a-f]{32}$' }))),
      'Digest of the token and the machine id of the system, 32 hexadecimal digits; null where that has none.',
    ),
  }),
  status: 201,
  reply: shape({ server_id: uuid, api_key: Type.String() }),
  refusals: [401, 402, 403, 409],
})

/** A sequence as a host enforces it. `revision` is given back with what became of it. */
export const knockOrder = resource('KnockRule', {
  id,
  revision: field(count, 'Revision of the sequence; the acknowledgement repeats it.'),
  protected_port: port,
  knock_ports: Type.Array(port),
  protocol: oneOf(protocols),
  timeout: count,
  knock_timeout: count,
  max_attempts: count,
  block_duration: count,
})
/** An address that stands in a list of a sequence until then. */
const addressed = { sequence_id: id, ip: Type.String(), expires_at: field(timestamp, 'Time until which this holds.') }
const knockAddress = resource('KnockAddress', addressed)

const state = resource('AgentState', {
  version: field(Type.String(), 'Version of the whole state.'),
  whitelist: field(
    resource('WhitelistVersion', {
      version: field(Type.String(), 'Version of the whitelist.'),
      count: field(count, 'Number of entries.'),
      spread_seconds: field(count, 'Agents wait a random part of this time before they fetch a changed list.'),
    }),
    'The version of the whitelist. Agents fetch a changed list after a random part of `spread_seconds`.',
  ),
  portknock: field(
    resource('DesiredPortKnocking', {
      sequences: field(Type.Array(knockOrder), 'Sequences to enforce.'),
      openings: field(
        Type.Array(resource('DesiredOpening', { id: uuid, ...addressed })),
        'Ports to keep open for single addresses.',
      ),
      blocked: field(Type.Array(knockAddress), 'Addresses to block.'),
      cuts: field(
        Type.Array(knockAddress),
        'Addresses whose connections to the protected port are cut until `expires_at`.',
      ),
    }),
    'What the server should enforce for port knocking.',
  ),
  shield: field(desiredShield, 'What the server should hold in its shield.'),
  move: field(nullable(desiredMove), 'The URL of Stockade that the server should use; null without an order.'),
})

export const agentState = endpoint('GET /agent/state', {
  tag,
  summary: 'What the server should hold (agent)',
  description: 'Answers 304 to a matching `If-None-Match`.',
  access: 'agent',
  inQuarantine: true,
  lenient: true,
  reply: state,
})

/** How an agent waits for news, in a query or in a body. */
const waitFields = {
  wait: field(
    Type.Optional(Type.Integer({ minimum: 0, maximum: times.longPollMaximum })),
    'Seconds to wait for a command.',
  ),
  state: field(
    Type.Optional(text(1, 128)),
    'Version of the state that the agent knows; a different one ends the wait at once.',
  ),
  with: field(
    Type.Optional(oneOf(['state'])),
    'With `state`, the answer also has the changed state itself, where that takes no further look-up.',
  ),
}
const newsFields = {
  commands: field(Type.Array(order), 'Commands to execute now.'),
  desired_state: desiredState,
  state: field(
    Type.Optional(state),
    'The state, as `GET /agent/state` answers it. Only with `with=state`, when its version is not that of `state`, and never for servers with port knocking.',
  ),
  whitelist: field(
    Type.Optional(
      resource('WhitelistText', {
        version: field(Type.String(), 'Version of the whitelist.'),
        text: field(Type.String(), 'The whitelist, as `GET /whitelist.txt` answers it.'),
      }),
    ),
    `The changed whitelist beside \`state\`, while it has at most ${bounds.whitelistInPoll} bytes.`,
  ),
  turns: field(
    Type.Optional(Type.Literal(true)),
    'With `with=state`: the next poll may be `POST /agent/turn`, which takes along what became of this answer.',
  ),
}
export const pendingCommands = endpoint('GET /servers/{serverId}/commands/pending', {
  tag,
  summary: 'Fetch commands (agent)',
  description: `With \`wait\` (seconds, 0 to ${times.longPollMaximum}) a long poll: answers as soon as there is a command or the desired state changed.`,
  access: 'agent',
  lenient: true,
  held: true,
  params: shape({ serverId: uuid }),
  query: shape(waitFields),
  reply: shape(newsFields),
})

const appliedState = openResource('AppliedState', {
  version: field(text(1, 128), 'Version of the state that the server applied.'),
  whitelist_version: field(
    Type.Optional(nullable(text(1, 128))),
    'Version of the whitelist that the server applied; null when it applied none.',
  ),
  entry_count: field(Type.Optional(nullable(count)), 'Number of whitelist entries that the agent read back.'),
  error: Type.Optional(nullable(text(0, bounds.description))),
  portknock: field(
    Type.Optional(
      openResource('AppliedPortKnocking', {
        sequences: field(
          Type.Array(
            openResource('AppliedKnockRule', {
              id,
              revision: field(count, 'Revision that the server applied or tried to apply.'),
              state: field(oneOf(['enforced', 'unsupported', 'failed']), 'The outcome.'),
              error: Type.Optional(nullable(text(0, bounds.description))),
            }),
            { maxItems: bounds.sequencesPerHost },
          ),
          'The outcome for each sequence of the state.',
        ),
        openings: field(
          Type.Array(uuid, { maxItems: bounds.openingsPerHost }),
          'Ids of the openings that are in force.',
        ),
      }),
    ),
    'What the server enforces for port knocking.',
  ),
  shield: field(Type.Optional(appliedShield), 'What the server holds in its shield; older agents leave it out.'),
  move: field(Type.Optional(appliedMove), 'What became of the ordered address; left out without an order.'),
})
export const acknowledgeState = endpoint('POST /agent/state/ack', {
  tag,
  summary: 'Say what was applied (agent)',
  access: 'agent',
  leaves: null,
  inQuarantine: true,
  lenient: true,
  bodyLimit: bounds.largeBody,
  body: appliedState,
  reply: message,
})

export const putJails = endpoint('PUT /agent/jails', {
  tag,
  summary: 'Report the jails in detail (agent)',
  access: 'agent',
  leaves: { what: 'jails', most: bounds.jailsPerHost, per: 'server' },
  lenient: true,
  body: Type.Object({
    jails: field(
      Type.Array(
        openResource('JailDetailReport', {
          name: text(1, bounds.jail),
          enabled: Type.Boolean(),
          ...jailCounts,
          filter: Type.Optional(nullable(text(0, 256))),
          logpath: Type.Optional(nullable(text(0, 4096))),
          maxretry: Type.Optional(nullable(Type.Integer())),
          bantime: Type.Optional(nullable(Type.Integer())),
          findtime: Type.Optional(nullable(Type.Integer())),
          template: field(
            Type.Optional(nullable(text(0, 64))),
            'Name of the template whose jail the agent manages; null for none. If it is left out, the stored value stays.',
          ),
        }),
        { maxItems: bounds.jailsPerHost },
      ),
      'All jails of the server.',
    ),
    report: reportVersion,
  }),
  reply: message,
})

export const farewell = endpoint('POST /agent/farewell', {
  tag,
  summary: 'Say that the agent is being removed on purpose (agent)',
  description:
    'The server is `pending` from then on, as before the first heartbeat, so that nobody is told of its silence. Its key goes on: a heartbeat makes it `online` again.',
  access: 'agent',
  leaves: null,
  lenient: true,
  body: Type.Object({}),
  reply: message,
})

const resultReports = field(
  Type.Array(openResource('CommandResultReport', { id: uuid, ...resultInput }), { maxItems: bounds.results }),
  'The results.',
)
const takenResults = field(
  Type.Array(resource('ResultAcknowledgement', { id: uuid, error: nullable(Type.String()) })),
  'What became of each result, in the order of the request.',
)
export const reportResults = endpoint('POST /agent/results', {
  tag,
  summary: 'Report the results of many commands (agent)',
  access: 'agent',
  leaves: null,
  inQuarantine: true,
  lenient: true,
  bodyLimit: bounds.largeBody,
  body: Type.Object({ results: resultReports }),
  reply: shape({ results: takenResults }),
})

export const takeTurn = endpoint('POST /agent/turn', {
  tag,
  summary: 'Report what an answer led to, and wait for the next one (agent)',
  description:
    'Takes in `applied` as `POST /agent/state/ack` and `results` as `POST /agent/results` do. Then it waits and answers as `GET /servers/{serverId}/commands/pending` does. A change for all is one request of each agent this way. An agent that gets no answer repeats what it said.',
  access: 'agent',
  leaves: null,
  inQuarantine: true,
  lenient: true,
  held: true,
  bodyLimit: bounds.largeBody,
  body: Type.Object({
    ...waitFields,
    applied: field(Type.Optional(appliedState), 'What was applied.'),
    results: Type.Optional(resultReports),
  }),
  reply: shape({ ...newsFields, results: takenResults }),
})

export const reportKnocks = endpoint('POST /agent/knocks', {
  tag,
  summary: 'Report port knocks (agent)',
  description: 'Taken in whatever the licence says: what happened on a server must not wait there for ever.',
  access: 'agent',
  leaves: { what: 'reports a day', most: bounds.reportsPerDay, per: 'server' },
  lenient: true,
  body: Type.Object({
    events: field(
      Type.Array(
        openResource('KnockReport', {
          event_id: uuid,
          sequence_id: Type.Integer({ minimum: 1 }),
          ip: text(1, 64),
          status: oneOf(['success', 'failed', 'blocked']),
          reason: field(Type.Optional(nullable(text(0, bounds.reason))), 'Why the attempt failed or was blocked.'),
          timestamp,
        }),
        { maxItems: bounds.batch },
      ),
      'The knock attempts.',
    ),
  }),
  reply: shape({
    results: field(
      Type.Array(
        resource('KnockReportResult', {
          event_id: uuid,
          ok: field(Type.Boolean(), 'Whether the report is stored.'),
          error: nullable(Type.String()),
        }),
      ),
      'What became of each report, in the order of the request.',
    ),
  }),
})
