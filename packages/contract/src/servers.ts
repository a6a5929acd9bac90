import { Type } from 'typebox'
import { windowFields } from './bans.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { protection, protectionLevel, protectionLevels, protectionProblem } from './protection.ts'
import {
  serverStatus,
  hostname,
  description,
  ipAddress,
  jailSummary,
  jailDetail,
  quarantine,
  serverKey,
  serverFields,
  serverRow,
} from './server-fields.ts'
import { count, id, ip, listOf, message, paging, period, searchText, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { serverTag, serverTags } from './targets.ts'

export * from './server-fields.ts'

const tag = 'Servers'
const params = shape({ serverId: uuid })
export const listServers = endpoint('GET /servers', {
  tag,
  summary: 'List servers',
  description: 'By hostname. `search` looks in hostname and address.',
  access: 'read',
  query: shape({
    status: Type.Optional(oneOf(['online', 'offline', 'pending', 'all'])),
    protection: field(Type.Optional(oneOf(protectionLevels)), 'Returns only servers of this level of protection.'),
    tag: field(Type.Optional(serverTag), 'Returns only servers with this tag.'),
    search: Type.Optional(text(1, bounds.hostname)),
    q: searchText,
    bans_24h: field(Type.Optional(Type.Boolean()), 'Whether each server carries its bans of the last 24 hours.'),
    ...paging(pages.servers),
  }),
  reply: listOf('servers', serverRow),
})

export const summariseServers = endpoint('GET /servers/summary', {
  tag,
  summary: 'Name and state of every server, unpaged',
  access: 'read',
  reply: shape({
    servers: field(
      Type.Array(
        resource('ServerSummary', {
          id: uuid,
          hostname: Type.String(),
          status: serverStatus,
          tags: field(Type.Array(Type.String()), 'Tags of the server.'),
          protection: field(protectionLevel, 'Whether what is banned on the server does not get through.'),
          since: field(nullable(timestamp), 'Time since which the level holds; null before the first report.'),
          problem: field(
            nullable(protectionProblem),
            'The worst check that was not fine at the last report; null when all were fine.',
          ),
        }),
      ),
      'All servers by host name.',
    ),
    counts: field(
      resource('ServerCounts', {
        online: field(count, 'Servers that are online.'),
        offline: field(count, 'Servers that are offline.'),
        pending: field(count, 'Servers that never sent a heartbeat.'),
      }),
      'Number of servers for each status.',
    ),
    protection: field(
      resource('ProtectionLevelCounts', {
        protected: field(count, 'Servers whose checks are fine.'),
        degraded: field(count, 'Servers on which some bans do not hold.'),
        unprotected: field(count, 'Servers on which nothing is banned in truth.'),
        unknown: field(count, 'Servers that are pending, offline, or say nothing of it.'),
      }),
      'Number of servers for each level of protection.',
    ),
  }),
})

export const listJailsOfName = endpoint('GET /servers/jails', {
  tag,
  summary: 'List the jails of one name on all servers',
  description:
    'As the servers reported them, by hostname, unpaged: what a name means differs from server to server. Names are compared by letter case, as the engine does.',
  access: 'read',
  query: shape({ name: field(text(1, bounds.jail, { examples: ['sshd'] }), 'Name of the jail.') }),
  reply: shape({
    jails: field(
      Type.Array(
        resource('ServerJail', {
          server: serverRef,
          name: Type.String(),
          enabled: Type.Boolean(),
          filter: nullable(Type.String()),
          template: nullable(Type.String()),
        }),
      ),
      'The jails by host name of their server.',
    ),
  }),
})

export const listServerTags = endpoint('GET /servers/tags', {
  tag,
  summary: 'List the tags of servers',
  description: 'In alphabetical order, of the servers that the caller sees. A tag without a server is not listed.',
  access: 'read',
  forServerKeys: false,
  reply: shape({
    tags: field(
      Type.Array(
        resource('ServerTagCount', {
          tag: field(serverTag, 'The tag.'),
          servers: field(count, 'Number of servers that have it and that the caller sees.'),
          grants_access: field(
            Type.Boolean(),
            'Whether the access of a user or of an API key depends on it; only administrators change which servers have it.',
          ),
        }),
      ),
      'The tags.',
    ),
  }),
})

export const changeServerTags = endpoint('POST /servers/tags', {
  tag,
  summary: 'Add tags to servers and remove tags from them',
  description:
    'All or nothing. A tag that a server has already, or does not have, changes nothing. What is aimed at a tag, such as a fleet ban, follows. A tag that the access of a user or of an API key depends on is changed only by administrators with access to all servers; else 403.',
  access: 'write',
  lasts: false,
  leaves: { what: 'tags', most: bounds.tagsPerServer, per: 'server' },
  body: shape({
    server_ids: field(Type.Array(uuid, { minItems: 1, maxItems: bounds.targets }), 'The servers.'),
    add: field(Type.Optional(serverTags), 'Tags that the servers get.'),
    remove: field(Type.Optional(serverTags), 'Tags that the servers lose.'),
  }),
  reply: shape({ message: Type.String(), changed: field(count, 'Number of servers whose tags changed.') }),
})

export const getServer = endpoint('GET /servers/{serverId}', {
  tag,
  summary: 'Read one server',
  access: 'read',
  forAgents: true,
  params,
  reply: resource('ServerDetail', {
    ...serverFields,
    protection: field(protection, 'The same with the checks that are not fine.'),
    bans_today: field(count, 'Number of bans since midnight UTC.'),
    keys: field(
      nullable(Type.Array(serverKey)),
      'API keys of the server, without their secrets; null unless the caller is an administrator.',
    ),
    key_rotated_at: field(
      nullable(timestamp),
      'Time of the first use of the newest agent key, which ended the keys before it; null until then.',
    ),
    jails: field(Type.Array(jailSummary), 'Jails of the server.'),
    install: field(
      resource('InstallProgress', {
        token_expires_at: field(
          nullable(timestamp),
          'Time at which the installation token expires; null without a token.',
        ),
        token_used_at: field(nullable(timestamp), 'Time at which the token was used; null before.'),
        token_used_from: field(nullable(Type.String()), 'Address that used the token; null before.'),
        script_fetched_at: field(nullable(timestamp), 'Time at which the install script was downloaded; null before.'),
        first_heartbeat_at: field(nullable(timestamp), 'Time of the first heartbeat; null before.'),
        first_ban_at: field(nullable(timestamp), 'Time of the first reported ban; null before.'),
      }),
      'Progress of the installation of the agent.',
    ),
  }),
  refusals: [404],
})

export const createServer = endpoint('POST /servers', {
  tag,
  summary: 'Register a server',
  description:
    'Answers the command that installs the agent on the machine, and an API key for servers that bring their own client. Both are shown once. An `api_key` that was never used ends when an enrolled agent is first heard of.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'servers', most: bounds.licensedServers, per: 'fleet' },
  fleet: true,
  body: shape({
    hostname,
    ip_address: Type.Optional(nullable(ip)),
    description: Type.Optional(description),
    tags: field(Type.Optional(serverTags), 'Tags of the server; duplicates are removed.'),
  }),
  status: 201,
  reply: resource('RegisteredServer', {
    id: uuid,
    hostname: Type.String(),
    ip_address: ipAddress,
    description: Type.String(),
    api_key: Type.String(),
    api_key_id: field(id, 'Id of `api_key`, to list and revoke it.'),
    install_command: Type.String(),
    status: serverStatus,
    created_at: timestamp,
  }),
  refusals: [402],
})

export const updateServer = endpoint('PATCH /servers/{serverId}', {
  tag,
  summary: 'Rename, describe or tag a server',
  access: 'admin',
  lasts: false,
  params,
  body: shape({
    hostname: Type.Optional(hostname),
    description: Type.Optional(description),
    tags: field(Type.Optional(serverTags), 'All tags that the server should have; duplicates are removed.'),
  }),
  reply: shape({
    id: uuid,
    hostname: Type.String(),
    description: Type.String(),
    tags: field(Type.Array(serverTag), 'Tags of the server in alphabetical order.'),
    updated_at: timestamp,
  }),
  refusals: [404],
})

export const deleteServer = endpoint('DELETE /servers/{serverId}', {
  tag,
  summary: 'Remove a server',
  description: 'Its keys stop at once and its pending commands are cancelled; its bans stay in history.',
  access: 'admin',
  lasts: true,
  params,
  reply: message,
  refusals: [404],
})

export const regenerateToken = endpoint('POST /servers/{serverId}/regenerate-token', {
  tag,
  summary: 'Make a new installation token',
  description:
    'The old token is void at once. An agent that is already enrolled goes on: its key ends when the key of the new one is first used, at most 24 hours after that was given; `key_rotated_at` of the server tells when.',
  access: 'admin',
  lasts: true,
  leaves: null,
  params,
  reply: shape({ install_command: Type.String() }),
  refusals: [404],
})

export const quarantineServer = endpoint('POST /servers/{serverId}/quarantine', {
  tag,
  summary: 'Put a server in quarantine',
  description:
    'For a server whose agent or key may be in wrong hands. Its reports are refused with 403, its commands are withheld and new ones refused with 409, its bans leave the statistics of the fleet and are not reported to the reputation database. Heartbeats go on, and nothing is deleted.',
  access: 'admin',
  lasts: false,
  leaves: null,
  params,
  body: shape({ reason: text(1, bounds.reason) }),
  reply: shape({ message: Type.String(), quarantined: quarantine }),
  refusals: [404, 409],
})

export const releaseServer = endpoint('DELETE /servers/{serverId}/quarantine', {
  tag,
  summary: 'Release a server from quarantine',
  description: 'Its reports are taken again, its commands go out and its bans count again.',
  access: 'admin',
  lasts: false,
  params,
  reply: message,
  refusals: [404, 409],
})

export const settleClone = endpoint('DELETE /servers/{serverId}/clone', {
  tag,
  summary: 'Settle that two machines reported for a server',
  description:
    'For an administrator who has switched off the second machine or enrolled it on its own. Commands go out again. If both machines still report, the server is marked again within two heartbeats. Enrolling a server with a new install command settles it as well.',
  access: 'admin',
  lasts: false,
  params,
  reply: message,
  refusals: [404, 409],
})

export const forgetReports = endpoint('POST /servers/{serverId}/forget-reports', {
  tag,
  summary: "Delete a server's reports since a moment",
  description:
    'Deletes every ban that the server reported since then, by the time of its arrival at Stockade, and takes it out of all statistics. What the bans brought about on servers stays as it is. The server must be in quarantine. It can not be undone.',
  access: 'admin',
  lasts: true,
  leaves: null,
  params,
  body: shape({ since: field(timestamp, 'Deletes reports that arrived at or after this time.') }),
  reply: shape({ message: Type.String(), forgotten: field(count, 'Number of bans that were deleted.') }),
  refusals: [404, 409],
})

export const listJails = endpoint('GET /servers/{serverId}/jails', {
  tag,
  summary: "List a server's jails",
  access: 'read',
  params,
  reply: shape({ jails: field(Type.Array(jailDetail), 'Jails of the server.') }),
  refusals: [404],
})

const ranked = resource('NamedCount', { name: Type.String(), count })
export const serverStats = endpoint('GET /servers/{serverId}/stats', {
  tag,
  summary: "Statistics of one server's bans",
  access: 'read',
  params,
  query: shape({ period: Type.Optional(period) }),
  reply: shape({
    total_bans: count,
    bans_period: field(count, 'Number of bans in the window.'),
    unique_ips: count,
    top_jails: field(Type.Array(ranked), 'Jails with the most bans.'),
    top_countries: field(
      Type.Array(
        resource('ServerCountryBanCount', {
          code: Type.String(),
          name: field(Type.String(), 'Name of the country.'),
          count,
        }),
      ),
      'Countries with the most bans.',
    ),
    bans_by_hour: Type.Array(resource('ServerHourBanCount', { hour: Type.String({ examples: ['00:00'] }), count })),
    ...windowFields,
  }),
  refusals: [404],
})
