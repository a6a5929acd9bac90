import { Type } from 'typebox'
import type { Static } from 'typebox'
import { bounds } from './limits.ts'
import { banReason } from './reasons.ts'
import { count, id, ipOrRange, searchText, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, text } from './shapes.ts'

/** Seconds; -1 is permanent. */
export const duration = Type.Union([Type.Literal(-1), Type.Integer({ minimum: 1, maximum: bounds.seconds })])

export const reason = field(
  nullable(banReason),
  'Why the address was banned, read from the log lines; null when they tell nothing.',
)
export const dropped_packets = field(
  nullable(count),
  'Packets that this ban matched on the server, at least: those that it dropped, and the few that a ban lets pass (neighbour discovery, DHCP). Null while the server reported none. Only bans of the shield (jail `stockade`) count.',
)
export const banFields = {
  id,
  ip: Type.String(),
  jail: Type.String(),
  server: serverRef,
  country: nullable(Type.String()),
  country_name: nullable(Type.String()),
  city: nullable(Type.String()),
  latitude: nullable(Type.Number()),
  longitude: nullable(Type.Number()),
  asn: nullable(Type.String({ examples: ['AS64500'] })),
  asn_org: nullable(Type.String()),
  log_lines: Type.String(),
  banned_at: timestamp,
  ban_duration: nullable(Type.Integer()),
  expires_at: field(
    nullable(timestamp),
    'Time at which the ban ends; null for a permanent ban and for an unknown end.',
  ),
  reported_to_reputation_db: Type.Boolean(),
  unbanned_at: nullable(timestamp),
  active: Type.Boolean(),
  banned_by: field(Type.String(), 'What ordered the ban, such as the jail or a user.'),
  event_id: nullable(uuid),
  origin: field(
    nullable(oneOf(['adopted'])),
    '`adopted`: the server held the ban before Stockade heard of it. Null: the server reported it when it was made.',
  ),
  dropped_packets,
  dropped_at: field(nullable(timestamp), 'Time of the last report of such packets; null before the first one.'),
  wide: field(
    Type.Boolean(),
    'Whether it is a range wider than /24 (IPv4) or /48 (IPv6). Such a ban is one server’s own: it is in no feed, and counts for no rule and no reputation report.',
  ),
  whitelisted: field(Type.Boolean(), 'Whether the whitelist covers the address now. The server lifts such a ban.'),
  reason,
}
/** A ban in a list; `expires_at` is null for a permanent ban and for one whose end is unknown. */
export const ban = resource('LiveBan', banFields)
export type Ban = Static<typeof ban>

export const reputation_score = nullable(Type.Integer())
/** A ban as lists show it; its additional fields are always there, and only live messages, which end up in the same rows, lack them. */
export const listedBan = resource('Ban', {
  ...banFields,
  occurrences: field(
    Type.Optional(count),
    'Number of bans of the same address that the caller may see, this one included.',
  ),
  reputation_score: Type.Optional(reputation_score),
})
export type ListedBan = Static<typeof listedBan>

/** Filters of the lists of bans. */
export const banFilter = {
  server_id: Type.Optional(uuid),
  jail: Type.Optional(text(1, bounds.jail)),
  ip: field(Type.Optional(ipOrRange), 'Address or range that the banned address must be in.'),
  country: field(
    Type.Optional(Type.String({ pattern: '^[A-Za-z]{2}$', errorMessage: 'must be a country code of two letters' })),
    'ISO 3166-1 code of the country.',
  ),
  asn: field(
    Type.Optional(Type.String({ pattern: '^(?:[Aa][Ss])?[0-9]{1,10}$', examples: ['AS64500'] })),
    'Autonomous system number, with or without `AS`.',
  ),
  active: field(Type.Optional(Type.Boolean()), 'Whether to list only bans in force, or only those that ended.'),
  from: Type.Optional(timestamp),
  to: Type.Optional(timestamp),
  q: searchText,
}
