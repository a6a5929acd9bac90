/*
 * Every endpoint of the interface as it was first published, with who may use it (docs/spec/access.md). `spec NAME` is docs/spec/NAME.md.
 * Written down by hand; nothing here is read from the server's own table.
 */

/**
 * `nobody`: no credential; `session`: a user, no API key; `oneself`: the user of the path, or an administrator;
 * `fleet`: write, but not with a key that is bound to one server; `agent`: only a key bound to a server, with write.
 */
export type Needs = 'nobody' | 'session' | 'read' | 'write' | 'fleet' | 'admin' | 'oneself' | 'agent'
export interface Row {
  readonly page: string
  readonly endpoint: string
  readonly needs: Needs
}

const section = (page: string, rows: Record<string, Needs>): Row[] =>
  Object.entries(rows).map(([endpoint, needs]) => ({ page, endpoint, needs }))

export const endpoints: readonly Row[] = [
  ...section('spec access', {
    'POST /auth/login': 'nobody',
    'POST /auth/mfa/verify': 'nobody',
    'POST /auth/refresh': 'nobody',
    'POST /auth/logout': 'session',
    'GET /auth/me': 'session',
    'GET /users/me': 'session',
    'POST /auth/mfa/enable': 'session',
    'POST /auth/mfa/confirm': 'session',
    'POST /auth/mfa/disable': 'session',
    'POST /auth/password': 'session',
    'GET /auth/provider_a': 'nobody',
    'GET /auth/provider_a/callback': 'nobody',
    'GET /auth/provider_b': 'nobody',
    'GET /auth/provider_b/callback': 'nobody',
  }),
  ...section('spec access', {
    'POST /keys': 'admin',
    'DELETE /keys/{keyId}': 'oneself',
    'GET /users/{userId}/keys': 'oneself',
    'POST /users/{userId}/keys': 'oneself',
  }),
  ...section('spec access', {
    'GET /users': 'admin',
    'GET /users/{userId}': 'oneself',
    'POST /users': 'admin',
    'PATCH /users/{userId}': 'admin',
    'DELETE /users/{userId}': 'admin',
    'POST /users/{userId}/reset-password': 'admin',
    'POST /users/{userId}/reset-mfa': 'admin',
    'PUT /users/{userId}/server-access': 'admin',
    'GET /users/{userId}/sessions': 'oneself',
    'DELETE /users/{userId}/sessions/{sessionId}': 'oneself',
    'DELETE /users/{userId}/sessions': 'oneself',
  }),
  ...section('spec servers', {
    'GET /servers': 'read',
    'GET /servers/{serverId}': 'read',
    'POST /servers': 'admin',
    'PATCH /servers/{serverId}': 'admin',
    'DELETE /servers/{serverId}': 'admin',
    'POST /servers/heartbeat': 'agent',
    'GET /servers/{serverId}/jails': 'read',
    'GET /servers/{serverId}/stats': 'read',
    'POST /servers/{serverId}/regenerate-token': 'admin',
  }),
  ...section('spec commands', {
    'GET /commands': 'read',
    'GET /commands/{commandId}': 'read',
    'POST /servers/{serverId}/commands': 'write',
    'POST /commands/batch': 'write',
    'DELETE /commands/{commandId}': 'write',
    'POST /commands/{commandId}/retry': 'write',
    'GET /servers/{serverId}/commands/pending': 'agent',
    'POST /commands/{commandId}/result': 'agent',
    'GET /commands/stats': 'read',
  }),
  ...section('spec bans', {
    'GET /bans': 'read',
    'GET /bans/{banId}': 'read',
    'POST /bans': 'agent',
    'POST /servers/{serverId}/bans': 'write',
    'DELETE /servers/{serverId}/bans/{ip}': 'write',
    'GET /bans/stats': 'read',
    'GET /bans/lookup/{ip}': 'read',
    'POST /bans/{banId}/report': 'write',
  }),
  ...section('spec whitelist', {
    'GET /whitelist': 'read',
    'GET /whitelist/{id}': 'read',
    'POST /whitelist': 'fleet',
    'POST /whitelist/bulk': 'fleet',
    'PATCH /whitelist/{id}': 'fleet',
    'DELETE /whitelist/{id}': 'fleet',
    'GET /whitelist.txt': 'read',
    'GET /whitelist/check/{ip}': 'read',
    'POST /whitelist/import': 'fleet',
    'GET /whitelist/export': 'read',
    'GET /whitelist/sync-status': 'read',
    'POST /whitelist/sync': 'write',
  }),
  ...section('spec templates', {
    'GET /templates': 'read',
    'GET /templates/{templateId}': 'read',
    'POST /templates': 'admin',
    'PATCH /templates/{templateId}': 'admin',
    'DELETE /templates/{templateId}': 'admin',
    'POST /templates/{templateId}/deploy': 'write',
    'DELETE /templates/{templateId}/servers/{serverId}': 'write',
    'GET /templates/categories': 'read',
    'POST /templates/validate': 'write',
    'GET /templates/{templateId}/status': 'read',
  }),
  ...section('spec settings', {
    'GET /settings': 'admin',
    'PATCH /settings': 'admin',
    'GET /settings/chat': 'admin',
    'PATCH /settings/chat': 'admin',
    'POST /settings/chat/test': 'admin',
    'GET /settings/email': 'admin',
    'PATCH /settings/email': 'admin',
    'POST /settings/email/test': 'admin',
    'GET /settings/reputation': 'admin',
    'PATCH /settings/reputation': 'admin',
    'GET /settings/license': 'admin',
    'POST /settings/license': 'admin',
    'GET /settings/oauth': 'admin',
    'PATCH /settings/oauth': 'admin',
    'GET /settings/export': 'admin',
    'POST /settings/import': 'admin',
    'GET /settings/audit': 'admin',
  }),
  ...section('spec portknock', {
    'GET /portknock/sequences': 'read',
    'GET /portknock/sequences/{sequenceId}': 'read',
    'POST /portknock/sequences': 'admin',
    'PATCH /portknock/sequences/{sequenceId}': 'admin',
    'DELETE /portknock/sequences/{sequenceId}': 'admin',
    'POST /portknock/knock': 'write',
    'GET /portknock/active': 'read',
    'DELETE /portknock/active/{openingId}': 'write',
    'GET /portknock/history': 'read',
    'GET /portknock/blocked': 'read',
    'DELETE /portknock/blocked/{ip}': 'write',
    'GET /portknock/stats': 'read',
  }),
  ...section('spec siem', {
    'GET /siem/settings': 'admin',
    'PATCH /siem/settings': 'admin',
    'POST /siem/test': 'admin',
    'GET /siem/status': 'admin',
    'GET /siem/queue': 'admin',
    'POST /siem/flush': 'admin',
    'DELETE /siem/queue': 'admin',
    'GET /siem/stats': 'admin',
    'GET /siem/event-types': 'admin',
    'POST /siem/replay': 'admin',
    'GET /siem/replay/{jobId}': 'admin',
  }),
  ...section('spec bans', { 'POST /bans/batch': 'agent' }),
  ...section('spec agent', {
    'POST /agent/enroll': 'nobody',
    'POST /agent/challenge': 'nobody',
    'GET /agent/state': 'agent',
    'POST /agent/state/ack': 'agent',
    'PUT /agent/jails': 'agent',
    'POST /agent/farewell': 'agent',
    'POST /agent/results': 'agent',
    'POST /agent/turn': 'agent',
    'POST /agent/knocks': 'agent',
  }),
  ...section('spec service', {
    'GET /setup': 'nobody',
    'POST /setup': 'nobody',
    'GET /auth/options': 'nobody',
    'GET /health': 'nobody',
    'GET /ready': 'nobody',
  }),
]

const pages = new Map(endpoints.map(({ page, endpoint }) => [endpoint, page]))
/** Where an endpoint is described; endpoints outside these tables follow the conventions. */
export const pageOf = (endpoint: string): string => pages.get(endpoint) ?? 'spec conventions'
/** Port knocking and SIEM need a Pro licence (spec limits). */
export const isPro = ({ page }: Row): boolean => page === 'spec portknock' || page === 'spec siem'
