import { Type } from 'typebox'
import { lastSelfTest } from './command-types/self-test.ts'
import { bounds } from './limits.ts'
import { protectionSummary } from './protection.ts'
import { count, id, permission, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, text } from './shapes.ts'
import { serverTag } from './targets.ts'

export const serverStatus = oneOf(['pending', 'online', 'offline'], { title: 'ServerStatus' })
export const hostname = text(1, bounds.hostname)
export const description = text(0, bounds.description)
export const ipAddress = nullable(Type.String())

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
  other_ids: field(
    nullable(
      resource('OtherIds', {
        count: field(count, 'How many there are.'),
        ids: field(
          Type.Array(Type.String()),
          `Some of them as text, at most ${bounds.otherIds.perJail}; long ones are cut.`,
        ),
      }),
    ),
    "Ids that the jail bans now and that are no address, such as user names. They count as no bans and are nobody's address; null when there are none.",
  ),
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
export const quarantine = resource('Quarantine', {
  since: field(timestamp, 'Start of the quarantine.'),
  by: field(Type.String(), 'User who started the quarantine.'),
  reason: Type.String(),
})
const identityConflict = resource('IdentityConflict', {
  since: field(timestamp, 'Time at which the second machine was found.'),
  ip: field(ipAddress, 'Address of the machine that was refused then, or of the other one.'),
})
/** `server`: the `api_key` of its registration, `agent`: an agent's own, `user`: somebody's that is bound to this server. */
export const serverKey = resource('ServerKey', {
  id,
  name: Type.String(),
  kind: field(
    oneOf(['server', 'agent', 'user']),
    '`server`: the key from the registration. `agent`: the key of an enrolled agent. `user`: a key of a user that is bound to this server.',
  ),
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
  types: field(Type.Array(Type.String()), 'Classes of commands that need a signature.'),
  operators: field(
    Type.Array(resource('HostOperator', { name: Type.String(), kind: Type.String(), fingerprint: Type.String() })),
    'Operators whose signatures the server accepts.',
  ),
  error: nullable(Type.String()),
})
export const hostPolicy = resource('HostPolicy', {
  state: field(
    policyState,
    'State of the policy file. `unreadable`: the server refuses every command until the file is fixed.',
  ),
  error: nullable(Type.String()),
})
export const serverFields = {
  id: uuid,
  hostname: Type.String(),
  reported_hostname: field(
    nullable(Type.String()),
    'Host name that the machine reports; null before the first heartbeat.',
  ),
  ip_address: ipAddress,
  description: Type.String(),
  tags: field(Type.Array(serverTag), 'Tags of the server in alphabetical order.'),
  status: serverStatus,
  protection: field(
    protectionSummary,
    'Whether what is banned on the server does not get through. A server can be online and unprotected.',
  ),
  os: nullable(Type.String()),
  engine_version: nullable(Type.String()),
  agent_version: nullable(Type.String()),
  total_bans: count,
  active_jails: field(count, 'Number of jails that are switched on.'),
  current_bans: field(count, 'Number of bans in force on the server, over all jails, as it reported last.'),
  metrics: field(nullable(metrics), 'Load of the server at the last heartbeat; null before the first one.'),
  policy: field(
    nullable(hostPolicy),
    'What the server itself permits Stockade to do; null before the agent reports it.',
  ),
  sealed: field(
    nullable(hostSealed),
    'What the server accepts only with an operator signature; null when it asks for none.',
  ),
  last_heartbeat: field(nullable(timestamp), 'Time of the last heartbeat; null before the first one.'),
  /** Since when, by whom and why the server is in quarantine; null where it is not. */
  quarantined: nullable(quarantine),
  last_self_test: field(
    nullable(lastSelfTest),
    'Last test that a ban stops packets on this server; null before the first one since its enrolment.',
  ),
  clone: field(
    nullable(identityConflict),
    'Set while two machines report with the identity of this server. Neither gets commands until that is settled.',
  ),
  created_at: timestamp,
  updated_at: timestamp,
}
export const serverRow = resource('Server', {
  ...serverFields,
  bans_24h: field(
    Type.Optional(Type.Array(count)),
    'Bans in each of the last 24 hours (UTC), oldest first; the last hour is the running one. Only where `bans_24h` was asked for.',
  ),
})
