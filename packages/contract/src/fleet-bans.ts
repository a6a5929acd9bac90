import { Type } from 'typebox'
import type { Static } from 'typebox'
import { duration } from './bans.ts'
import { appliedBlocklists, desiredBlocklists } from './blocklists.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import {
  count,
  id,
  ipOrRange,
  listOf,
  message,
  paging,
  problemReason,
  serverProgress,
  timestamp,
  uuid,
} from './common.ts'
import { field, nullable, oneOf, openResource, resource, shape, text } from './shapes.ts'
import { target, targetInput } from './targets.ts'

/* Bans of the whole fleet, or of some servers, as one object each. Hosts hold them in the shield as desired state. */

const family = { tag: 'Fleet bans', scope: 'bans' } as const
const params = shape({ id })

const states = ['held', 'pending', 'refused', 'not_covered'] as const
export const fleetBanState = oneOf(states, { title: 'FleetBanState' })
export type FleetBanState = Static<typeof fleetBanState>

export const fleetBanCounts = resource('FleetBanCounts', {
  applied: field(count, 'Servers that hold the ban, as read back there.'),
  in_jail: field(count, "Those of `applied` without a shield, where fail2ban's jail `stockade` holds it."),
  pending: field(count, 'Servers that have not confirmed it yet.'),
  failed: field(count, 'Servers that refused it.'),
  not_covered: field(count, 'Servers that cannot hold it.'),
})

export const fleetBan = resource('FleetBan', {
  id,
  entry: field(Type.String({ examples: ['198.51.100.0/24'] }), 'Address or range in canonical form.'),
  reason: field(Type.String(), 'Why it is banned; empty when nobody said.'),
  target: field(target, 'Where it is banned.'),
  expires_at: field(nullable(timestamp), 'Time at which the ban ends; null when it is permanent.'),
  source: field(Type.String(), 'Where the ban comes from: `manual`.'),
  active: field(Type.Boolean(), 'Whether the ban stands.'),
  ended_at: field(nullable(timestamp), 'Time at which it expired or was removed; null while it stands.'),
  ended_by: field(nullable(oneOf(['expired', 'removed'])), 'Whether it expired or was removed; null while it stands.'),
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
  created_at: timestamp,
  updated_at: timestamp,
  state: field(fleetBanCounts, 'How many of the servers that the caller sees hold it. All are 0 after its end.'),
})
export type FleetBan = Static<typeof fleetBan>

const reason = field(Type.Optional(text(0, bounds.reason)), 'Why, for those who see the ban.')
const expiresAt = field(
  Type.Optional(nullable(timestamp)),
  'Time at which the ban ends, at most ten years ahead; null for a permanent ban.',
)
const length = field(
  Type.Optional(duration),
  'Length of the ban in seconds from now, instead of `expires_at`; -1 is permanent.',
)
const force = field(
  Type.Optional(Type.Boolean()),
  "Permits a ban of the caller's own address and of the source of an open login session on a server.",
)
const sorts = ['created_at', '-created_at', 'expires_at', '-expires_at', 'entry', '-entry'] as const

export const createFleetBan = endpoint('POST /fleet/bans', {
  ...family,
  summary: 'Ban an address or a range on all or some servers',
  description:
    'One object instead of a command for each server: servers that are added later, that were offline or that were installed again hold it too. Without `expires_at` and `duration` it lasts a day. A ban of the same entry with the same target is changed instead of doubled. Whitelisted addresses, managed servers, loopback, multicast and ranges wider than /16 (IPv4) or /32 (IPv6) are refused. Who has access to some servers only names servers, or tags that the access is by; `all` is 403.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'fleet bans', most: bounds.fleetBans, per: 'fleet' },
  body: shape({
    entry: field(ipOrRange, 'Address or range to ban.'),
    reason,
    target: field(targetInput, 'Where: one of `all`, `server_ids` and `tags`.'),
    expires_at: expiresAt,
    duration: length,
    force,
  }),
  status: 201,
  reply: fleetBan,
  refusals: [409],
})

export const createFleetBans = endpoint('POST /fleet/bans/bulk', {
  ...family,
  summary: 'Ban many addresses or ranges on all or some servers',
  description:
    'For each entry what `POST /fleet/bans` does, all at once. Entries that must not be banned are left out and named with the reason; the others are banned.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'fleet bans', most: bounds.fleetBans, per: 'fleet' },
  body: shape({
    entries: field(Type.Array(ipOrRange, { minItems: 1, maxItems: bounds.bulkBans }), 'Addresses and ranges to ban.'),
    reason,
    target: field(targetInput, 'Where: one of `all`, `server_ids` and `tags`.'),
    expires_at: expiresAt,
    duration: length,
    force,
  }),
  status: 201,
  reply: shape({
    fleet_bans: field(
      Type.Array(
        resource('BulkFleetBan', {
          id,
          entry: field(Type.String(), 'Address or range in canonical form.'),
          is_new: field(Type.Boolean(), 'Whether it was made now; false for one that stood and was changed.'),
        }),
      ),
      'The bans, in the order of the entries.',
    ),
    refused: field(
      Type.Array(
        resource('RefusedEntry', {
          entry: field(Type.String(), 'Entry as it was sent.'),
          reason: problemReason,
          message: field(Type.String(), 'What was wrong and what to do.'),
        }),
      ),
      'Entries that are not banned.',
    ),
  }),
  refusals: [409],
})

export const listFleetBans = endpoint('GET /fleet/bans', {
  ...family,
  summary: 'List the fleet bans',
  description:
    'Newest first unless `sort` says otherwise (`-` for descending; permanent bans stand last, descending first). Of bans that ended, those of the last 90 days. Who has access to some servers only gets the bans that concern these.',
  access: 'read',
  forServerKeys: false,
  query: shape({
    active: field(Type.Optional(Type.Boolean()), 'Whether to list only bans that stand, or only those that ended.'),
    state: field(Type.Optional(fleetBanState), 'Only standing bans that at least one server is in this state of.'),
    source: field(Type.Optional(text(1, 100)), 'Only bans of this source.'),
    server_id: field(Type.Optional(uuid), 'Only bans that concern this server.'),
    search: field(Type.Optional(text(1, bounds.reason)), 'Part of the entry, the reason or the name of who made it.'),
    sort: field(Type.Optional(oneOf(sorts, { default: '-created_at' })), 'Order of the rows; `-` means descending.'),
    ...paging(pages.fleetBans),
  }),
  reply: listOf('fleet_bans', fleetBan),
})
export type FleetBanSort = (typeof sorts)[number]

export const getFleetBan = endpoint('GET /fleet/bans/{id}', {
  ...family,
  summary: 'Read one fleet ban',
  access: 'read',
  forServerKeys: false,
  params,
  reply: fleetBan,
  refusals: [404],
})

export const listFleetBanServers = endpoint('GET /fleet/bans/{id}/servers', {
  ...family,
  summary: 'Which servers hold a fleet ban',
  description:
    'In the order of host names. Of a ban that was lifted: the servers that have not confirmed it, as `pending`.',
  access: 'read',
  forServerKeys: false,
  params,
  query: shape({
    state: field(Type.Optional(fleetBanState), 'Only servers in this state.'),
    online: field(Type.Optional(Type.Boolean()), 'Only servers that are online, or only those that are not.'),
    ...paging(pages.fleetBans),
  }),
  reply: listOf(
    'servers',
    resource('FleetBanServer', {
      ...serverProgress(
        fleetBanState,
        '`held` is what the server read back from its kernel, or from fail2ban where it has no shield.',
        'Why the server does not hold it, or why fail2ban holds it instead of the kernel; null when the kernel does.',
      ),
      online: field(Type.Boolean(), 'Whether the server is online. Others follow when they are back.'),
      at: field(nullable(timestamp), 'Time of the last report of the server about fleet bans; null before the first.'),
    }),
  ),
  refusals: [404],
})

export const changeFleetBan = endpoint('PATCH /fleet/bans/{id}', {
  ...family,
  summary: 'Change the reason, the end or the target of a fleet ban',
  description:
    'A server that is no longer in the target lifts the ban. Needs access to all servers of the old and the new target. A ban that ended is 409.',
  access: 'write',
  lasts: 'partly',
  params,
  body: shape({
    reason,
    expires_at: expiresAt,
    duration: length,
    target: field(Type.Optional(targetInput), 'Where: one of `all`, `server_ids` and `tags`.'),
    force,
  }),
  reply: fleetBan,
  refusals: [404, 409],
})

export const removeFleetBan = endpoint('DELETE /fleet/bans/{id}', {
  ...family,
  summary: 'Lift a fleet ban everywhere',
  description:
    'Offline servers lift it when they are back. A ban of the same address that was made in another way stays. A ban that ended is answered as one that was lifted.',
  access: 'write',
  lasts: false,
  params,
  reply: message,
  refusals: [404],
})

export const removeFleetBans = endpoint('POST /fleet/bans/remove', {
  ...family,
  summary: 'Lift many fleet bans everywhere',
  description: 'All or none: an unknown id is 400. A ban that ended is not counted.',
  access: 'write',
  lasts: false,
  leaves: null,
  body: shape({
    ids: field(Type.Array(id, { minItems: 1, maxItems: bounds.bulkBans }), 'Ids of the bans.'),
  }),
  reply: shape({ removed: field(count, 'Number of bans that were lifted.') }),
})

export const agentFleetBans = endpoint('GET /agent/shield/bans', {
  tag: 'Agent',
  summary: 'The fleet bans that the server should hold (agent)',
  description:
    'With `since`, what changed after that version, or everything with `full` where the difference is not known. Answers 304 to a matching `If-None-Match`. A server gets only bans that concern it.',
  access: 'agent',
  query: shape({
    since: field(
      Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      'Version that the server has.',
    ),
  }),
  reply: shape({
    version: field(count, 'Version of the set, in epoch milliseconds. Bans that ended until then are not part of it.'),
    full: field(Type.Boolean(), 'Whether `add` is the whole set.'),
    count: field(count, 'Number of bans of the set.'),
    digest: field(
      Type.String(),
      'SHA-256 of the set in hexadecimal: a line `ENTRY END` for each entry in byte order, with the latest end in epoch milliseconds, or `-`.',
    ),
    add: field(
      Type.Array(
        resource('FleetBanOrder', {
          id,
          entry: field(Type.String(), 'Address or range in canonical form.'),
          expires_at: field(nullable(Type.Integer()), 'End in epoch milliseconds; null for a permanent ban.'),
          force: field(Type.Boolean(), 'Whether it is banned even if somebody is logged in from there.'),
        }),
      ),
      'Bans that are new or changed.',
    ),
    remove: field(Type.Array(id), 'Ids of bans that are over for this server.'),
  }),
})

/** Part of the desired state. */
export const desiredShield = resource('DesiredShield', {
  bans: field(
    resource('DesiredFleetBans', {
      version: field(count, 'Version of the set for this server; 0 while there was never one.'),
      count: field(count, 'Number of bans.'),
      digest: field(Type.String(), 'Digest of the set, as in `GET /agent/shield/bans`.'),
    }),
    'The fleet bans.',
  ),
  lists: field(desiredBlocklists, 'The blocklists, in the order of ids.'),
})

/** Part of the acknowledgement of a desired state. */
export const appliedShield = openResource('AppliedShield', {
  bans: field(
    openResource('AppliedFleetBans', {
      version: field(
        Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
        'Version that the server applied.',
      ),
      held: field(Type.Integer({ minimum: 0, maximum: 1_000_000 }), 'Number of entries that are in force.'),
      digest: field(text(0, 64), 'Digest of the entries that are in force, of what the server was given.'),
      refused: field(
        Type.Array(openResource('RefusedFleetBan', { id, reason: text(0, 200) }), { maxItems: bounds.fleetBans }),
        'Bans that the server does not hold, with the reason.',
      ),
      not_covered: field(
        Type.Optional(nullable(text(0, bounds.reason))),
        'Why the server can hold no fleet bans at all; null when it can.',
      ),
      fallback: field(
        Type.Optional(nullable(text(0, bounds.reason))),
        "Why fail2ban's jail `stockade` holds the bans instead of the kernel; null where the kernel does.",
      ),
    }),
    'The fleet bans.',
  ),
  lists: field(Type.Optional(appliedBlocklists), 'The blocklists that the server was given.'),
})
