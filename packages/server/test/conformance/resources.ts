import {
  anyObject,
  anyUuid,
  extended,
  id,
  integer,
  like,
  maybe,
  number,
  oneOf,
  orNull,
  text,
  time,
  uuid,
  yesNo,
} from './kinds.ts'

/*
 * Resources and their fields, as the interface was first published. Beside them what was added since, by page of docs/spec: `spec NAME`
 * (`spec endpoints`: what the dashboard's pages need), or `no page`: served, and described only by the server's own document.
 */

export const role = oneOf('Admin', 'Operator', 'Viewer')
export const permission = oneOf('read', 'write', 'admin')
/** `svc_` followed by 32 random characters (spec access). */
export const apiKey = like(/^svc_[A-Za-z0-9_-]{32}$/, 'svc_ and 32 characters')
export const serverRef = { id: uuid, hostname: text }

// User: `server_access` on the single read.
const userFields = {
  id,
  username: text,
  email: text,
  role,
  mfa_enabled: yesNo,
  oauth_provider: orNull(text),
  last_login: orNull(time),
  created_at: time,
  updated_at: time,
} as const
const userMore = { 'spec endpoints': { mfa_required: yesNo }, 'no page': { invite_expires_at: orNull(time) } } as const
export const user = extended(userFields, userMore)
export const oneUser = extended(
  { ...userFields, server_access: oneOf('all', 'specific') },
  { ...userMore, 'no page': { ...userMore['no page'], server_ids: [uuid], tags: [text] } },
)

export const passkey = {
  id,
  credential_id: text,
  name: text,
  created_at: time,
  last_used: orNull(time),
  backed_up: yesNo,
  fingerprint: like(/^SHA256:[\w+/]{43}$/, 'SHA256: and 43 characters'),
  operator_key: like(/^stockade-operator-key-v1:[\w-]+$/, 'a line for `stockade-agent trust add`'),
} as const

export const session = {
  id: uuid,
  ip_address: text,
  user_agent: text,
  created_at: time,
  last_activity: time,
  current: yesNo,
} as const

// API key: the whole key at creation only, later a prefix.
const keyLimits = { scopes: orNull([text]), source_networks: orNull([text]), tags: orNull([text]) } as const
export const listedKey = extended(
  { id, name: text, prefix: text, permissions: permission, last_used: orNull(time), created_at: time },
  {
    'spec endpoints': { server_id: orNull(uuid), expires_at: orNull(time), last_used_from: orNull(text) },
    'no page': keyLimits,
  },
)
export const newKey = extended(
  { id, name: text, key: apiKey, permissions: permission, created_at: time },
  { 'spec endpoints': { server_id: orNull(uuid), expires_at: orNull(time) }, 'no page': keyLimits },
)
export const newUserKey = extended(
  { id, name: text, key: apiKey, permissions: permission, expires_at: orNull(time), created_at: time },
  { 'spec endpoints': { server_id: orNull(uuid) }, 'no page': keyLimits },
)

// Jail
const jailSummary = { name: text, enabled: yesNo, current_bans: integer } as const
export const jailDetail = extended(
  {
    ...jailSummary,
    total_bans: integer,
    filter: orNull(text),
    logpath: orNull(text),
    maxretry: orNull(integer),
    bantime: orNull(integer),
    findtime: orNull(integer),
  },
  { 'no page': { template: orNull(anyObject), other_ids: orNull(anyObject) } },
)

// Server: `active_jails` in lists, `bans_today` and `jails` in the single read.
const metrics = {
  cpu_percent: orNull(number),
  memory_percent: orNull(number),
  disk_percent: orNull(number),
  uptime: orNull(integer),
} as const
const serverFields = {
  id: uuid,
  hostname: text,
  ip_address: orNull(text),
  description: text,
  status: oneOf('pending', 'online', 'offline'),
  os: orNull(text),
  engine_version: orNull(text),
  agent_version: orNull(text),
  total_bans: integer,
  active_jails: integer,
  current_bans: integer,
  metrics: orNull(metrics),
  last_heartbeat: orNull(time),
  created_at: time,
  updated_at: time,
} as const
const quarantined = {
  quarantined: orNull({ since: time, by: text, reason: text }),
  clone: orNull({ since: time, ip: orNull(text) }),
  last_self_test: orNull({ result: oneOf('proved', 'held', 'failed', 'untried'), at: time, command_id: uuid }),
} as const
/** What the host's own policy.json lets the server do. */
const policy = {
  policy: orNull({ state: oneOf('default', 'file', 'unreadable'), error: orNull(text) }),
  sealed: orNull(anyObject),
} as const
const level = oneOf('protected', 'degraded', 'unprotected', 'unknown')
const protection = {
  level,
  since: orNull(time),
  summary: orNull(text),
  reported_level: orNull(level),
  reported_at: orNull(time),
  problem: orNull(anyObject),
  marks: anyObject,
} as const
export const server = extended(serverFields, {
  'no page': { ...quarantined, ...policy, protection, reported_hostname: orNull(text), tags: [text] },
})
export const oneServer = extended(
  { ...serverFields, bans_today: integer, jails: [jailSummary] },
  {
    'spec endpoints': { key_rotated_at: orNull(time), install: anyObject },
    'no page': {
      ...quarantined,
      ...policy,
      keys: orNull([anyObject]),
      reported_hostname: orNull(text),
      tags: [text],
      protection: { ...protection, checks: [anyObject], counted: orNull(anyObject) },
    },
  },
)
const newServerFields = {
  id: uuid,
  hostname: text,
  ip_address: orNull(text),
  description: text,
  api_key: apiKey,
  install_command: text,
  status: 'pending',
  created_at: time,
} as const
export const newServer = extended(newServerFields, { 'no page': { api_key_id: id } })

// Command: `exit_code` and `started_at` in the single read.
export const commandStatus = oneOf('pending', 'running', 'completed', 'failed', 'timeout')
const commandFields = {
  id: uuid,
  type: text,
  server: serverRef,
  params: anyObject,
  status: commandStatus,
  initiated_by: text,
  retry_of: orNull(uuid),
  created_at: time,
  completed_at: orNull(time),
} as const
const commandMore = { 'spec commands': { cancelled: yesNo }, 'spec endpoints': { batch_id: orNull(uuid) } } as const
export const command = extended(
  {
    ...commandFields,
    result: orNull(extended({ success: yesNo, output: text }, { 'no page': { exit_code: orNull(integer) } })),
  },
  { ...commandMore, 'no page': { started_at: orNull(time) } },
)
export const oneCommand = extended(
  {
    ...commandFields,
    started_at: orNull(time),
    result: orNull({ success: yesNo, output: text, exit_code: orNull(integer) }),
  },
  commandMore,
)

// Ban: `expires_at` and `reputation_score` in the single read.
const banFields = {
  id,
  ip: text,
  jail: text,
  server: serverRef,
  country: orNull(like(/^[A-Z]{2}$/, 'a country code')),
  country_name: orNull(text),
  city: orNull(text),
  latitude: orNull(number),
  longitude: orNull(number),
  asn: orNull(like(/^AS\d+$/, 'AS and a number')),
  asn_org: orNull(text),
  log_lines: text,
  banned_at: time,
  ban_duration: orNull(integer),
  reported_to_reputation_db: yesNo,
} as const
const banMore = {
  'spec bans': { unbanned_at: orNull(time), active: yesNo, banned_by: text, event_id: orNull(anyUuid), wide: yesNo },
  'no page': { origin: orNull('adopted'), dropped_packets: orNull(integer), dropped_at: orNull(time) },
} as const
export const ban = extended(banFields, {
  ...banMore,
  'spec endpoints': {
    expires_at: orNull(time),
    whitelisted: yesNo,
    // Not in the live feed and in what goes to a SIEM.
    occurrences: maybe(integer),
    reputation_score: maybe(orNull(integer)),
  },
  'no page': { ...banMore['no page'], reason: maybe(orNull(anyObject)) },
})
export const oneBan = extended(
  { ...banFields, expires_at: orNull(time), reputation_score: orNull(integer) },
  {
    ...banMore,
    'spec endpoints': { whitelisted: yesNo },
    'no page': { ...banMore['no page'], reason: orNull(anyObject) },
  },
)
export const reportedBan = {
  id,
  ip: text,
  jail: text,
  server_id: uuid,
  country: orNull(text),
  banned_at: time,
  reported_to_reputation_db: yesNo,
} as const

// Whitelist entry
export const entry = extended(
  { id, ip: text, description: text, created_by: text, created_at: time, updated_at: time },
  { 'spec endpoints': { expires_at: orNull(time) } },
)

// Template: lists leave the two texts out.
const templateFields = {
  id,
  name: text,
  display_name: text,
  description: text,
  category: oneOf('common', 'web', 'mail', 'custom'),
  type: oneOf('builtin', 'custom'),
  default_enabled: yesNo,
  settings: {
    maxretry: orNull(integer),
    bantime: orNull(integer),
    findtime: orNull(integer),
    logpath: orNull(text),
  },
  required_files: [text],
  compatible_os: [text],
} as const
export const template = extended(templateFields, { 'no page': { deployed_on: integer, own_on: integer } })
export const oneTemplate = extended({ ...templateFields, jail_config: text, filter_config: text }, {})

// Port knocking
export const sequence = extended(
  {
    id,
    name: text,
    protected_port: integer,
    knock_ports: orNull([integer]),
    protocol: oneOf('tcp', 'udp'),
    timeout: integer,
    knock_timeout: integer,
    max_attempts: integer,
    block_duration: integer,
    // spec portknock: `state` and `error` of each server.
    servers: [{ ...serverRef, state: oneOf('enforced', 'pending', 'unsupported', 'failed'), error: orNull(text) }],
    created_at: time,
    updated_at: time,
  },
  {},
)
export const opening = extended(
  {
    id: anyUuid,
    server: serverRef,
    sequence_name: text,
    ip: text,
    protected_port: integer,
    opened_at: time,
    expires_at: time,
  },
  { 'spec portknock': { confirmed: yesNo } },
)
export const knock = {
  id,
  server: serverRef,
  sequence_name: text,
  ip: text,
  status: oneOf('success', 'failed', 'blocked'),
  reason: orNull(text),
  timestamp: time,
} as const
export const blockedIp = {
  ip: text,
  server_id: uuid,
  sequence_name: text,
  failed_attempts: integer,
  blocked_at: time,
  expires_at: time,
} as const

// SIEM settings; the token itself is never given.
export const siemSettings = extended(
  {
    enabled: yesNo,
    format: oneOf('syslog', 'cef', 'leef', 'json', 'collector'),
    host: orNull(text),
    port: integer,
    protocol: oneOf('tcp', 'udp', 'http', 'https'),
    tls_enabled: yesNo,
    events: [text],
    min_severity: integer,
    batch_size: integer,
    flush_interval: integer,
  },
  {
    'spec siem': { token_set: yesNo, path: orNull(text), tls_verify: yesNo, ca_cert: orNull(text) },
    'no page': { framing: text },
  },
)

// System settings
export const systemSettings = {
  service: { site_name: text, site_url: text, timezone: text },
  security: extended(
    { session_timeout: integer, mfa_required: yesNo, password_min_length: integer },
    { 'no page': { passkey_required: text, refuse_common_passwords: yesNo, own_unban: yesNo, self_tests: text } },
  ),
  notifications: { chat_enabled: yesNo, email_enabled: yesNo, daily_summary: yesNo, daily_summary_hour: integer },
  integrations: { reputation_enabled: yesNo, reputation_rate_limit: integer },
} as const
const delivery = { last_sent: orNull(time), last_error: orNull(text), failing_since: orNull(time) } as const
export const chatSettings = extended(
  {
    enabled: yesNo,
    webhook_url: orNull(text),
    notify_bans: yesNo,
    notify_syncs: yesNo,
    notify_errors: yesNo,
    daily_summary: yesNo,
    daily_summary_hour: integer,
  },
  { 'no page': delivery },
)
export const emailSettings = extended(
  {
    enabled: yesNo,
    smtp_host: orNull(text),
    smtp_port: integer,
    smtp_user: orNull(text),
    smtp_tls: yesNo,
    from_address: orNull(text),
    recipients: [text],
    daily_summary: yesNo,
    daily_summary_hour: integer,
  },
  {
    'spec settings': { notify_bans: yesNo, notify_syncs: yesNo, notify_errors: yesNo, smtp_pass_set: yesNo },
    'no page': delivery,
  },
)
export const reputationSettings = extended(
  { enabled: yesNo, api_key_set: yesNo, rate_limit: integer, reports_today: integer, last_report: orNull(time) },
  { 'no page': { paused_until: orNull(time), paused_because: orNull(text) } },
)
export const features = {
  reputation: yesNo,
  custom_templates: yesNo,
  siem: yesNo,
  terminal: yesNo,
  port_knocking: yesNo,
} as const
export const licence = extended(
  {
    tier: oneOf('personal', 'pro'),
    server_limit: integer,
    servers_used: integer,
    features,
    expires_at: orNull(time),
    registered_to: orNull(text),
  },
  { 'no page': { state: text, authority_set: yesNo, self_issue: yesNo } },
)
// spec settings: GETs show `*_set` in place of secrets.
const secretSet = { client_secret_set: yesNo } as const
export const oauthSettings = extended(
  {
    provider_a: {
      enabled: yesNo,
      client_id_set: yesNo,
      allowed_users: [text],
      allowed_org: orNull(text),
      ...secretSet,
    },
    provider_b: { enabled: yesNo, client_id_set: yesNo, allowed_domains: [text], ...secretSet },
    default_role: role,
    local_login_disabled: yesNo,
  },
  {},
)

export const auditEntry = {
  id,
  user: text,
  action: like(/^[a-z]+(\.[a-z_]+)+$/, 'a dotted name'),
  details: anyObject,
  ip_address: orNull(text),
  timestamp: time,
} as const

/** The body of a login (spec access): `mfa_setup_required` where a second factor is still to be made. */
export const signedIn = {
  access_token: like(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'a JWT'),
  refresh_token: text,
  expires_in: 3600,
  user: { id, username: text, email: text, role },
} as const

/** A page of a list (spec conventions), as it stands where nothing was asked for. */
export const onePage = (limit: number) => ({ total: integer, page: 1, limit }) as const

/** The refusal of a command that hosts accept only with a signature. */
export const sealRequired = {
  error: 'Conflict',
  message: text,
  reason: 'signature-required',
  seal_required: { servers: [text] },
} as const
/** The refusal of a whitelist that covers too much of the Internet. */
export const coverageRefused = {
  error: 'Conflict',
  reason: 'share-confirmation-required',
  message: text,
  coverage: { family: oneOf('ipv4', 'ipv6'), percent: number, limit_percent: number },
} as const
