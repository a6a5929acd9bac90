import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { count, ip } from './common.ts'
import { field, nullable, resource, shape } from './shapes.ts'

/** Networks of IPv6 that are listed, and days of the sums. */
export const neighbourBounds = { networks: 16, days: 30 } as const

export const neighbours = endpoint('GET /bans/lookup/{ip}/neighbours', {
  tag: 'Bans',
  summary: 'Bans around an address',
  description:
    'Of an IPv4 address its /24, with each address that has bans. Of an IPv6 address its /56, with the 16 /64 that have the most bans. All figures are exact, of the servers that the caller may see.',
  access: 'read',
  params: shape({ ip }),
  reply: shape({
    range: field(Type.String(), 'The range, in CIDR notation.'),
    total_bans: field(count, 'Number of bans in the range.'),
    active_bans: field(count, 'Number of bans in the range that are in force.'),
    addresses: field(count, 'Number of addresses in the range that have bans.'),
    entries: field(
      Type.Array(
        resource('Neighbour', {
          ip: field(Type.String(), 'An address of IPv4, or a /64 of IPv6.'),
          octet: field(
            nullable(Type.Integer({ minimum: 0, maximum: 255 })),
            'Last octet of the address; null for IPv6.',
          ),
          bans: field(count, 'Number of bans.'),
          active_bans: field(count, 'Number of bans in force.'),
        }),
      ),
      'IPv4: in the order of the addresses. IPv6: most bans first.',
    ),
    days: field(
      Type.Array(count),
      'Bans in the range on each of the last 30 UTC dates, oldest first; the last one is today.',
    ),
  }),
  refusals: [503],
})
