import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { partly } from './changes.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, ip, listOf, message, paging, period, rowsUnder, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

const knocking = { tag: 'Port knocking', licence: 'port_knocking' } as const
const params = shape({ sequenceId: id })
const name = text(1, bounds.name)
export const port = Type.Integer({ minimum: 1, maximum: 65_535 })
export const protocols = ['tcp', 'udp'] as const
export const knockStatus = oneOf(['success', 'failed', 'blocked'], { title: 'KnockStatus' })

/** Seconds and tries of a sequence, each with its bounds and what it is unless said. */
const patience = {
  /** How long the port then stays open for the address. */
  timeout: { minimum: 1, maximum: 86_400, default: 30 },
  /** In which the whole sequence must be done. */
  knock_timeout: { minimum: 1, maximum: 300, default: 10 },
  /** Wrong sequences within `block_duration` after which the address is blocked for as long. */
  max_attempts: { minimum: 1, maximum: 100, default: 5 },
  block_duration: { minimum: 1, maximum: bounds.seconds, default: 3600 },
}
const bounded = ({ minimum, maximum }: { minimum: number; maximum: number }) => Type.Integer({ minimum, maximum })
/** Two to ten ports, no two neighbours equal, the protected port not among them (checked by the service). */
const knockPorts = Type.Array(port, { minItems: 2, maxItems: 10 })
const serverIds = Type.Array(uuid, { maxItems: 10_000 })
/** What is allowed and weak all the same. */
const warnings = Type.Array(Type.String())

export const sequence = resource('KnockSequence', {
  id,
  name: Type.String(),
  protected_port: port,
  knock_ports: field(
    nullable(Type.Array(port)),
    'Ports to knock, in order; null for callers with read permission, because they are a secret.',
  ),
  protocol: oneOf(protocols),
  timeout: Type.Integer(),
  knock_timeout: Type.Integer(),
  max_attempts: Type.Integer(),
  block_duration: Type.Integer(),
  servers: field(
    Type.Array(
      resource('SequenceServer', {
        id: uuid,
        hostname: Type.String(),
        state: field(oneOf(['enforced', 'pending', 'unsupported', 'failed']), 'State of the sequence on this server.'),
        error: nullable(Type.String()),
      }),
    ),
    'Servers of the sequence, and whether it is in force there.',
  ),
  created_at: timestamp,
  updated_at: timestamp,
})
export type Sequence = Static<typeof sequence>

/** A list that comes whole, with its length. */
const whole = <K extends string, T extends TSchema>(key: K, row: T) => shape({ ...rowsUnder(key, row), total: count })

export const listSequences = endpoint('GET /portknock/sequences', {
  ...knocking,
  summary: 'List knock sequences',
  description:
    '`knock_ports` is a secret: null with `read`. Each server says whether the sequence is in force there, and why not.',
  access: 'read',
  reply: whole('sequences', sequence),
})

export const getSequence = endpoint('GET /portknock/sequences/{sequenceId}', {
  ...knocking,
  summary: 'Read one sequence',
  description: '`knock_ports` is null with `read`.',
  access: 'read',
  params,
  reply: sequence,
  refusals: [404],
})

export const createSequence = endpoint('POST /portknock/sequences', {
  ...knocking,
  summary: 'Create a sequence',
  description:
    'The port closes on a server only once its agent has confirmed the rules, and never for whitelisted addresses. `timeout`: seconds that the port then stays open for the address; `knock_timeout`: seconds for the whole sequence; after `max_attempts` wrong ones within `block_duration` seconds the address is blocked for as long.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'sequences', most: bounds.sequences, per: 'fleet' },
  fleet: true,
  body: shape({
    name,
    protected_port: port,
    knock_ports: knockPorts,
    protocol: Type.Optional(oneOf(protocols, { default: 'tcp' })),
    timeout: Type.Optional(Type.Integer(patience.timeout)),
    knock_timeout: Type.Optional(Type.Integer(patience.knock_timeout)),
    max_attempts: Type.Optional(Type.Integer(patience.max_attempts)),
    block_duration: Type.Optional(Type.Integer(patience.block_duration)),
    server_ids: serverIds,
  }),
  status: 201,
  reply: shape({
    id,
    name: Type.String(),
    protected_port: port,
    knock_ports: Type.Array(port),
    created_at: timestamp,
    warnings,
  }),
  refusals: [409],
})

export const updateSequence = endpoint('PATCH /portknock/sequences/{sequenceId}', {
  ...knocking,
  summary: 'Change a sequence',
  description: '`server_ids` replaces the list; a server that is taken out keeps no rule of it.',
  access: 'admin',
  lasts: true,
  fleet: true,
  params,
  body: partly({
    name,
    protected_port: port,
    knock_ports: knockPorts,
    protocol: oneOf(protocols),
    timeout: bounded(patience.timeout),
    knock_timeout: bounded(patience.knock_timeout),
    max_attempts: bounded(patience.max_attempts),
    block_duration: bounded(patience.block_duration),
    server_ids: serverIds,
  }),
  reply: shape({
    id,
    name: Type.String(),
    knock_ports: Type.Array(port),
    timeout: Type.Integer(),
    updated_at: timestamp,
    warnings,
  }),
  refusals: [404, 409],
})

export const deleteSequence = endpoint('DELETE /portknock/sequences/{sequenceId}', {
  ...knocking,
  summary: 'Delete a sequence',
  access: 'admin',
  lasts: true,
  fleet: true,
  params,
  reply: message,
  refusals: [404],
})

export const knock = endpoint('POST /portknock/knock', {
  ...knocking,
  summary: 'Open the port for the caller',
  description:
    'Without a knock, for the address that the request comes from. Waits up to 2 s for the agent; `confirmed` says whether it has opened the port. 404 where the sequence is not on that server, 409 where that server has as many openings as there can be.',
  access: 'write',
  lasts: false,
  leaves: { what: 'openings', most: bounds.openingsPerHost, per: 'server' },
  forServerKeys: true,
  body: shape({ server_id: uuid, sequence_name: name }),
  reply: shape({
    message: Type.String(),
    ip: Type.String(),
    protected_port: port,
    expires_at: field(timestamp, 'Time at which the port closes.'),
    confirmed: Type.Boolean(),
  }),
  refusals: [404, 409],
})

export const opening = resource('Opening', {
  id: uuid,
  server: serverRef,
  sequence_name: Type.String(),
  ip: Type.String(),
  protected_port: port,
  opened_at: field(timestamp, 'Time at which the port was opened.'),
  expires_at: field(timestamp, 'Time at which the port closes.'),
  /** False while the host has not said that the port is open. */
  confirmed: Type.Boolean(),
})
export type Opening = Static<typeof opening>

export const listOpenings = endpoint('GET /portknock/active', {
  ...knocking,
  summary: 'List what is open now',
  access: 'read',
  query: shape({ server_id: Type.Optional(uuid) }),
  reply: whole('openings', opening),
})

export const closeOpening = endpoint('DELETE /portknock/active/{openingId}', {
  ...knocking,
  summary: 'Close an opening',
  description: 'Connections that are open already survive, unless `cut=true`.',
  access: 'write',
  lasts: false,
  forServerKeys: true,
  params: shape({ openingId: field(uuid, 'Id of the opening.') }),
  query: shape({ cut: field(Type.Optional(Type.Boolean()), 'Whether to cut open connections too.') }),
  reply: message,
  refusals: [404],
})

export const listKnocks = endpoint('GET /portknock/history', {
  ...knocking,
  summary: 'List knocks',
  description: 'Newest first. `from` is inclusive, `to` exclusive.',
  access: 'read',
  query: shape({
    server_id: Type.Optional(uuid),
    sequence_id: Type.Optional(id),
    ip: Type.Optional(ip),
    status: Type.Optional(knockStatus),
    from: Type.Optional(timestamp),
    to: Type.Optional(timestamp),
    ...paging(pages.knocks),
  }),
  reply: listOf(
    'history',
    resource('Knock', {
      id,
      server: serverRef,
      sequence_name: Type.String(),
      ip: Type.String(),
      status: knockStatus,
      reason: field(nullable(Type.String()), 'Why the attempt failed or was blocked; null when it succeeded.'),
      timestamp,
    }),
  ),
})

export const listBlocked = endpoint('GET /portknock/blocked', {
  ...knocking,
  summary: 'List blocked addresses',
  access: 'read',
  reply: whole(
    'blocked',
    resource('BlockedAddress', {
      ip: Type.String(),
      server_id: uuid,
      sequence_name: Type.String(),
      failed_attempts: field(count, 'Number of wrong sequences.'),
      blocked_at: field(timestamp, 'Time at which the address was blocked.'),
      expires_at: field(timestamp, 'Time at which the block ends.'),
    }),
  ),
})

export const unblock = endpoint('DELETE /portknock/blocked/{ip}', {
  ...knocking,
  summary: 'Unblock an address',
  description: 'On the server of `server_id`, without it on all of them.',
  access: 'write',
  lasts: false,
  forServerKeys: true,
  params: shape({ ip }),
  query: shape({ server_id: Type.Optional(uuid) }),
  reply: message,
  refusals: [404],
})

export const knockStats = endpoint('GET /portknock/stats', {
  ...knocking,
  summary: 'Statistics of knocks',
  access: 'read',
  query: shape({ period: Type.Optional(period) }),
  reply: shape({
    period,
    total_attempts: field(count, 'Number of attempts.'),
    successful: field(count, 'Attempts that opened the port.'),
    failed: field(count, 'Attempts with a wrong sequence.'),
    blocked: field(count, 'Attempts from blocked addresses.'),
    by_sequence: field(
      Type.Array(
        resource('SequenceKnocks', {
          name: Type.String(),
          attempts: count,
          success_rate: nullable(Type.Number({ examples: [97.5] })),
        }),
      ),
      'Attempts for each sequence.',
    ),
    by_server: field(
      Type.Array(resource('ServerKnocks', { hostname: Type.String(), attempts: count })),
      'Attempts for each server.',
    ),
    top_ips: field(
      Type.Array(resource('AddressKnocks', { ip: Type.String(), attempts: count })),
      'Addresses with the most attempts.',
    ),
  }),
})
