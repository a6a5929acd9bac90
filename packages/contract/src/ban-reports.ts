import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { count, id, ipOrRange, reportedJail, timestamp, uuid } from './common.ts'
import { field, nullable, openResource, resource, shape, text } from './shapes.ts'

/** A ban as an agent reports it. `ban_duration` -1 is permanent, null an unknown end. */
const report = {
  ip: ipOrRange,
  jail: reportedJail,
  log_lines: Type.Optional(Type.String()),
  ban_duration: Type.Optional(nullable(Type.Integer({ minimum: -1, maximum: bounds.seconds, not: { const: 0 } }))),
  event_id: Type.Optional(uuid),
  banned_at: field(Type.Optional(timestamp), 'Time of the ban; the time of arrival when it is left out.'),
  command_id: field(Type.Optional(uuid), 'Id of the command that ordered the ban.'),
}

export const reportBan = endpoint('POST /bans', {
  tag: 'Agent',
  summary: 'Report a ban (agent)',
  description:
    'A 201 means that the ban is on disk. The same `event_id` again is the same ban, answered with the first row.',
  access: 'agent',
  leaves: { what: 'reports a day', most: bounds.reportsPerDay, per: 'server' },
  lenient: true,
  body: Type.Object(report),
  status: 201,
  reply: shape({
    id,
    ip: Type.String(),
    jail: Type.String(),
    server_id: uuid,
    country: nullable(Type.String()),
    banned_at: timestamp,
    reported_to_reputation_db: Type.Boolean(),
  }),
})

export const reportBans = endpoint('POST /bans/batch', {
  tag: 'Agent',
  summary: 'Report many bans and ends of bans (agent)',
  description: `Up to ${bounds.batch} in all, one request for the rate limit. Each item is judged on its own; an \`error\` is final. \`bans\` are as in POST /bans; \`unbans\` are \`{ ip, jail, unbanned_at, event_id }\`.`,
  access: 'agent',
  leaves: { what: 'reports a day', most: bounds.reportsPerDay, per: 'server' },
  lenient: true,
  bodyLimit: bounds.largeBody,
  body: Type.Object({
    bans: field(
      Type.Optional(Type.Array(Type.Unknown(), { maxItems: bounds.batch })),
      'Bans, each as in `POST /bans`.',
    ),
    unbans: field(
      Type.Optional(Type.Array(Type.Unknown(), { maxItems: bounds.batch })),
      'Ends of bans: objects with `ip`, `jail`, `unbanned_at` and `event_id`.',
    ),
  }),
  reply: shape({
    results: field(
      Type.Array(
        resource('BanReportResult', {
          event_id: nullable(Type.String()),
          id: nullable(Type.Integer()),
          error: nullable(Type.String()),
        }),
      ),
      'What became of each item, bans first, in the order of the request.',
    ),
  }),
  refusals: [503],
})

export const adoptBans = endpoint('PUT /agent/adopted', {
  tag: 'Agent',
  summary: 'Take over bans that the server held before (agent)',
  description: `A page of at most ${bounds.batch} bans, each as in \`POST /bans\` with its \`event_id\`. They are listed, active and can be lifted. They cause no notification, no SIEM event and no reputation report, and do not count as bans of today. A ban that is known by its \`event_id\` stays as it is. Where it is listed as active, the \`ban_duration\` is taken: fail2ban may move the end of a ban.`,
  access: 'agent',
  leaves: { what: 'reports a day', most: bounds.reportsPerDay, per: 'server' },
  lenient: true,
  bodyLimit: bounds.largeBody,
  body: Type.Object({
    page: field(Type.Optional(Type.Integer({ minimum: 1 })), 'Number of this page.'),
    pages: field(Type.Optional(Type.Integer({ minimum: 1 })), 'Number of pages.'),
    bans: field(Type.Array(Type.Unknown(), { maxItems: bounds.batch }), 'Bans, each as in `POST /bans`.'),
  }),
  reply: reportBans.reply,
  refusals: [503],
})

export const compareBans = endpoint('PUT /agent/active', {
  tag: 'Agent',
  summary: 'Compare what is banned on the server with what is listed (agent)',
  description: `All bans in force on the server, once everything else was reported. The answer names those that are not known to Stockade, as after a restore of a backup; the server then sends them with \`PUT /agent/adopted\`. It also names those that are listed as ended for more than a minute: what it names twice in a row the server sends as a new ban. A ban that is listed as active ends when the server holds none of its address in its jail in two comparisons in a row, unless it began within a minute before \`as_of\`, or was reported without an \`event_id\`. At most ${bounds.activeBansPerHost.toLocaleString('en')} bans, once in ten seconds. A server that holds more compares them in slices, at least a second apart, and at most as many bans in ten seconds in all of them: beyond, 429 says when the next slice is due. An \`event_id\`, or an address in a jail, that is there twice is refused with 400. With \`slice\` and \`of\`, only bans whose address belongs to the slice are compared.`,
  access: 'agent',
  leaves: null,
  lenient: true,
  bodyLimit: bounds.largeBody,
  query: shape({
    slice: field(
      Type.Optional(Type.Integer({ minimum: 0, maximum: bounds.banSlices - 1 })),
      'Number of the slice, below `of`: the FNV-1a digest (32 bits) of the canonical address or range, modulo `of`.',
    ),
    of: field(
      Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.banSlices })),
      'Number of slices of the bans of the server. Without it, all of them are compared.',
    ),
  }),
  body: Type.Object({
    as_of: field(timestamp, "Time of the comparison by Stockade's clock, as far as the agent knows it."),
    bans: field(
      Type.Array(
        openResource('BanInForce', {
          event_id: field(uuid, 'Id under which it was reported.'),
          jail: reportedJail,
          ip: field(text(1, 64), 'Address or range.'),
        }),
        { maxItems: bounds.activeBansPerHost },
      ),
      'The bans in force.',
    ),
  }),
  reply: shape({
    unknown: field(Type.Array(Type.String()), 'Ids of the bans that are not listed for this server.'),
    listed_as_ended: field(Type.Array(Type.String()), 'Ids of the bans that are listed as ended.'),
    ended: field(count, 'Number of bans that were listed as active, and are not any more.'),
    pending: field(count, 'Number of bans that end with the next comparison if the server does not hold them then.'),
  }),
})
export const banReport = openResource('BanReport', report)
export type BanReport = Static<typeof banReport>
export const unbanReport = openResource('UnbanReport', {
  ip: ipOrRange,
  jail: reportedJail,
  unbanned_at: field(Type.Optional(timestamp), 'Time at which the ban ended.'),
  event_id: Type.Optional(uuid),
})
export type UnbanReport = Static<typeof unbanReport>
