import { Type } from 'typebox'
import type { Static } from 'typebox'
import { banFilter } from './bans.ts'
import { endpoint } from './endpoint.ts'
import { pages } from './limits.ts'
import { banReason } from './reasons.ts'
import { count, paging, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape } from './shapes.ts'

/** Jails that one attacker is listed with. */
export const attackerBounds = { jails: 5 } as const

export const attackerSorts = ['last', 'first', 'bans', 'servers'] as const
export type AttackerSort = (typeof attackerSorts)[number]
export const attackerStates = ['banned', 'unbanned', 'expired', 'whitelisted'] as const

export const attacker = resource('Attacker', {
  ip: Type.String(),
  country: nullable(Type.String()),
  country_name: nullable(Type.String()),
  asn: nullable(Type.String({ examples: ['AS64500'] })),
  network: field(nullable(Type.String()), 'Organization of the autonomous system; null when it is unknown.'),
  bans: field(count, 'Number of bans that match.'),
  servers: field(count, 'Number of servers with a ban that matches.'),
  jails: field(Type.Array(Type.String()), 'Jails of the bans that match, most bans first, at most 5.'),
  jail_count: field(count, 'Number of jails of the bans that match.'),
  first_banned_at: field(timestamp, 'Time of the first ban that matches.'),
  last_banned_at: field(timestamp, 'Time of the last ban that matches.'),
  active_bans: field(count, 'Number of bans in force now on the listed servers, in any jail and from any time.'),
  active_servers: field(count, 'Number of listed servers on which the address is banned now.'),
  expires_at: field(
    nullable(timestamp),
    'Time at which the last of the bans in force ends; null without one, and where one has no known end.',
  ),
  permanent: field(Type.Boolean(), 'Whether one of the bans in force is permanent.'),
  state: field(
    oneOf(attackerStates),
    'State of the address now. `banned`: at least one ban is in force. `whitelisted`: none is, and the whitelist covers the address. `unbanned`: its last ban was lifted early. `expired`: its last ban ended by itself.',
  ),
  whitelist_description: field(
    nullable(Type.String()),
    'Description of the whitelist entry that covers the address; null when none does.',
  ),
  unbanned_by: field(
    nullable(Type.String()),
    'User who lifted the bans of the address; null unless the state is `unbanned` and an operator did it.',
  ),
  hours: field(
    Type.Array(count),
    'Bans on the listed servers in each of the last 24 hours, oldest first; the last one ends now.',
  ),
  reason: field(nullable(banReason), 'What its last 20 matching bans tell together; null when they tell nothing.'),
})
export type Attacker = Static<typeof attacker>

export const listAttackers = endpoint('GET /bans/attackers', {
  tag: 'Bans',
  summary: 'List bans grouped by address',
  description:
    'One row an address. The filters are those of `GET /bans`, and the totals are exact. `bans`, `servers`, `jails`, the first and the last time and the reason are of the bans that match. The state, `active_*`, `expires_at` and `hours` are of all bans of the address on the listed servers: those that the caller may see, or the one of `server_id`.',
  access: 'read',
  query: shape({
    ...banFilter,
    sort: field(
      Type.Optional(oneOf(attackerSorts, { default: 'last' })),
      'Order of the rows: by the last ban, the first ban, the number of bans or the number of servers.',
    ),
    order: field(Type.Optional(oneOf(['asc', 'desc'], { default: 'desc' })), 'Direction of the order.'),
    ...paging(pages.bans),
  }),
  reply: shape({
    attackers: field(Type.Array(attacker), 'The attackers of this page.'),
    total: count,
    page: count,
    limit: count,
    totals: field(
      resource('AttackerTotals', {
        attackers: field(count, 'Number of addresses that match; the same as `total`.'),
        bans: field(count, 'Number of bans that match.'),
        active_addresses: field(count, 'Number of these addresses that are banned now on a listed server.'),
      }),
      'Totals over all pages.',
    ),
  }),
  refusals: [503],
})
