import { Type } from 'typebox'
import { windowFields } from './bans.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import {
  count,
  id,
  ip,
  listOf,
  message,
  nullable,
  oneOf,
  paging,
  period,
  permission,
  resource,
  searchText,
  serverRef,
  shape,
  text,
  timestamp,
  uuid,
} from './shapes.ts'

const tag = 'Servers'
const params = shape({ serverId: uuid })
export const serverStatus = oneOf(['pending', 'online', 'offline'], { title: 'ServerStatus' })
const hostname = text(1, bounds.hostname)
const description = text(0, bounds.description)
const ipAddress = nullable(Type.String())

export const metrics = resource('ServerMetrics', {
  cpu_percent: nullable(Type.Number()),
  memory_percent: nullable(Type.Number()),
  disk_percent: nullable(Type.Number()),
  uptime: nullable(Type.Integer()),
})
export const jailSummary = resource('JailSummary', {
  name: Type.String(),
  enabled: Type.Boolean(),
  current_bans: count,
})
export const jailDetail = resource('Jail', {
  name: Type.String(),
  enabled: Type.Boolean(),
  current_bans: count,
  total_bans: count,
  filter: nullable(Type.String()),
  logpath: nullable(Type.String()),
  maxretry: nullable(Type.Integer()),
  bantime: nullable(Type.Integer()),
  findtime: nullable(Type.Integer()),
  /** The template that put it on the host; null for the host's own. */
  template: nullable(Type.String()),
})
/** Why a server's reports are refused and its commands withheld. */
const quarantine = resource('Quarantine', { since: timestamp, by: Type.String(), reason: Type.String() })
/** `server`: the `api_key` of its registration, `agent`: an agent's own, `user`: somebody's that is bound to this server. */
const serverKey = resource('ServerKey', {
  id,
  name: Type.String(),
  kind: oneOf(['server', 'agent', 'user']),
  prefix: Type.String(),
  permissions: permission,
  last_used: nullable(timestamp),
  last_used_from: nullable(Type.String()),
  expires_at: nullable(timestamp),
  created_at: timestamp,
})
/** `unreadable`: the host refuses every command until its policy.json is put right; `error` says why. */
export const policyState = oneOf(['default', 'file', 'unreadable'], { title: 'PolicyState' })
/** `types` are classes of commands (docs/spec/sealed-commands.md); with `error` the host refuses every command. */
export const hostSealed = resource('SealPolicy', {
  types: Type.Array(Type.String()),
  operators: Type.Array(
    resource('HostOperator', { name: Type.String(), kind: Type.String(), fingerprint: Type.String() }),
  ),
  error: nullable(Type.String()),
})
export const hostPolicy = resource('HostPolicy', { state: policyState, error: nullable(Type.String()) })
const serverFields = {
  id: uuid,
  hostname: Type.String(),
  ip_address: ipAddress,
  description: Type.String(),
  status: serverStatus,
  os: nullable(Type.String()),
  engine_version: nullable(Type.String()),
  agent_version: nullable(Type.String()),
  total_bans: count,
  active_jails: count,
  metrics: nullable(metrics),
  /** What the host's own policy lets the server do; null before its agent says so. */
  policy: nullable(hostPolicy),
  /** What the host takes only with an operator's signature; null where it asks for none. */
  sealed: nullable(hostSealed),
  last_heartbeat: nullable(timestamp),
  /** Since when, by whom and why the server is in quarantine; null where it is not. */
  quarantined: nullable(quarantine),
  created_at: timestamp,
  updated_at: timestamp,
}
export const serverRow = resource('Server', serverFields)

export const listServers = endpoint({
  method: 'GET',
  path: '/servers',
  tag,
  summary: 'List servers',
  description: 'By hostname. `search` looks in hostname and address.',
  access: 'read',
  query: shape({
    status: Type.Optional(oneOf(['online', 'offline', 'pending', 'all'])),
    search: Type.Optional(text(1, bounds.hostname)),
    q: searchText,
    ...paging(pages.servers),
  }),
  status: 200,
  reply: listOf('servers', serverRow),
})

export const summariseServers = endpoint({
  method: 'GET',
  path: '/servers/summary',
  tag,
  summary: 'Name and state of every server, unpaged',
  access: 'read',
  status: 200,
  reply: shape({
    servers: Type.Array(resource('ServerSummary', { id: uuid, hostname: Type.String(), status: serverStatus })),
    counts: resource('ServerCounts', { online: count, offline: count, pending: count }),
  }),
})

export const listJailsOfName = endpoint({
  method: 'GET',
  path: '/servers/jails',
  tag,
  summary: 'List the jails of one name on all servers',
  description:
    'As the hosts reported them, by hostname, unpaged: what a name means differs from host to host. Names are compared by letter case, as the engine does.',
  access: 'read',
  query: shape({ name: text(1, 64, { examples: ['sshd'] }) }),
  status: 200,
  reply: shape({
    jails: Type.Array(
      resource('ServerJail', {
        server: serverRef,
        name: Type.String(),
        enabled: Type.Boolean(),
        filter: nullable(Type.String()),
        template: nullable(Type.String()),
      }),
    ),
  }),
})

export const getServer = endpoint({
  method: 'GET',
  path: '/servers/{serverId}',
  tag,
  summary: 'Read one server',
  access: 'read',
  params,
  status: 200,
  reply: resource('ServerDetail', {
    ...serverFields,
    bans_today: count,
    /** Keys of the server's own, without what opens anything; null for whoever is no administrator. DELETE /keys/{keyId} ends one. */
    keys: nullable(Type.Array(serverKey)),
    /** When the newest agent's key was first used, with which the keys before it ended; null until then. */
    key_rotated_at: nullable(timestamp),
    jails: Type.Array(jailSummary),
    install: resource('InstallProgress', {
      token_expires_at: nullable(timestamp),
      token_used_at: nullable(timestamp),
      token_used_from: nullable(Type.String()),
      script_fetched_at: nullable(timestamp),
      first_heartbeat_at: nullable(timestamp),
      first_ban_at: nullable(timestamp),
    }),
  }),
  refusals: [404],
})

export const createServer = endpoint({
  method: 'POST',
  path: '/servers',
  stepUp: true,
  tag,
  summary: 'Register a server',
  description:
    'Answers the command that installs the agent on the host, and an API key for hosts that bring their own client. Both are shown once. An `api_key` that was never used ends when an enrolled agent is first heard of.',
  access: 'admin',
  fleet: true,
  body: shape({ hostname, ip_address: Type.Optional(nullable(ip)), description: Type.Optional(description) }),
  status: 201,
  reply: resource('RegisteredServer', {
    id: uuid,
    hostname: Type.String(),
    ip_address: ipAddress,
    description: Type.String(),
    api_key: Type.String(),
    /** The number of `api_key`, with which it is listed and revoked. */
    api_key_id: id,
    install_command: Type.String(),
    status: serverStatus,
    created_at: timestamp,
  }),
  refusals: [402],
})

export const updateServer = endpoint({
  method: 'PATCH',
  path: '/servers/{serverId}',
  tag,
  summary: 'Rename or describe a server',
  access: 'admin',
  params,
  body: shape({ hostname: Type.Optional(hostname), description: Type.Optional(description) }),
  status: 200,
  reply: shape({ id: uuid, hostname: Type.String(), description: Type.String(), updated_at: timestamp }),
  refusals: [404],
})

export const deleteServer = endpoint({
  method: 'DELETE',
  path: '/servers/{serverId}',
  tag,
  summary: 'Remove a server',
  description: 'Its keys stop at once and its pending commands are cancelled; its bans stay in history.',
  access: 'admin',
  params,
  status: 200,
  reply: message,
  refusals: [404],
})

export const regenerateToken = endpoint({
  method: 'POST',
  path: '/servers/{serverId}/regenerate-token',
  stepUp: true,
  tag,
  summary: 'Make a new installation token',
  description:
    'The old token is void at once. An agent that is already enrolled goes on: its key ends when the key of the new one is first used, at most 24 hours after that was given; `key_rotated_at` of the server tells when.',
  access: 'admin',
  params,
  status: 200,
  reply: shape({ install_command: Type.String() }),
  refusals: [404],
})

export const quarantineServer = endpoint({
  method: 'POST',
  path: '/servers/{serverId}/quarantine',
  tag,
  summary: 'Put a server in quarantine',
  description:
    'For a host whose agent or key may be in wrong hands. Its reports are refused with 403, its commands are withheld and new ones refused with 409, its bans leave the statistics of the fleet and are not reported to the reputation database. Heartbeats go on, and nothing is deleted.',
  access: 'admin',
  params,
  body: shape({ reason: text(1, bounds.reason) }),
  status: 200,
  reply: shape({ message: Type.String(), quarantined: quarantine }),
  refusals: [404, 409],
})

export const releaseServer = endpoint({
  method: 'DELETE',
  path: '/servers/{serverId}/quarantine',
  tag,
  summary: 'Release a server from quarantine',
  description: 'Its reports are taken again, its commands go out and its bans count again.',
  access: 'admin',
  params,
  status: 200,
  reply: message,
  refusals: [404, 409],
})

export const forgetReports = endpoint({
  method: 'POST',
  path: '/servers/{serverId}/forget-reports',
  stepUp: true,
  tag,
  summary: "Delete a server's reports since a moment",
  description:
    'Deletes every ban that the server reported since then, by the time of its arrival here, and takes it out of all statistics. What the bans brought about on hosts stays as it is. The server must be in quarantine. It can not be undone.',
  access: 'admin',
  params,
  body: shape({ since: timestamp }),
  status: 200,
  reply: shape({ message: Type.String(), forgotten: count }),
  refusals: [404, 409],
})

export const listJails = endpoint({
  method: 'GET',
  path: '/servers/{serverId}/jails',
  tag,
  summary: "List a server's jails",
  access: 'read',
  params,
  status: 200,
  reply: shape({ jails: Type.Array(jailDetail) }),
  refusals: [404],
})

const ranked = resource('NamedCount', { name: Type.String(), count })
export const serverStats = endpoint({
  method: 'GET',
  path: '/servers/{serverId}/stats',
  tag,
  summary: "Statistics of one server's bans",
  access: 'read',
  params,
  query: shape({ period: Type.Optional(period) }),
  status: 200,
  reply: shape({
    total_bans: count,
    bans_period: count,
    unique_ips: count,
    top_jails: Type.Array(ranked),
    top_countries: Type.Array(resource('ServerCountryBanCount', { code: Type.String(), name: Type.String(), count })),
    bans_by_hour: Type.Array(resource('ServerHourBanCount', { hour: Type.String({ examples: ['00:00'] }), count })),
    ...windowFields,
  }),
  refusals: [404],
})
