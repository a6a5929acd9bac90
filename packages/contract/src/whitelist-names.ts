import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { id, message, timestamp } from './common.ts'
import { field, nullable, resource, shape, text } from './shapes.ts'

const tag = 'Whitelist'

export const whitelistName = resource('WhitelistName', {
  id,
  name: field(
    Type.String({ examples: ['office.dyn.example'] }),
    'DNS name in ASCII and lower case, without the last dot.',
  ),
  description: Type.String(),
  created_by: Type.String(),
  created_at: timestamp,
  addresses: field(
    Type.Array(Type.String(), { maxItems: bounds.whitelistNames.addresses }),
    'Addresses that are whitelisted because of the name. They stay while look-ups fail.',
  ),
  since: field(nullable(timestamp), 'Time since which the name has these addresses; null before the first answer.'),
  checked_at: field(nullable(timestamp), 'Time of the last look-up; null before the first.'),
  next_check_at: field(timestamp, 'Time of the next look-up.'),
  last_error: field(
    nullable(Type.String()),
    'Why the last look-up changed nothing, or why it answered for one family of addresses only; null when it succeeded.',
  ),
})
export type WhitelistName = Static<typeof whitelistName>

export const listWhitelistNames = endpoint('GET /whitelist/names', {
  tag,
  summary: 'List the whitelisted DNS names',
  description: 'In the order of insertion, with the addresses that each one has now.',
  access: 'read',
  reply: shape({ names: field(Type.Array(whitelistName), 'The names.') }),
})

export const addWhitelistName = endpoint('POST /whitelist/names', {
  tag,
  summary: 'Whitelist a DNS name',
  description: `Stockade resolves the name at once and then by its TTL, at least once an hour and at most once a minute. Its addresses are entries of the whitelist, which only the name changes. Taken are up to ${bounds.whitelistNames.addresses} single public addresses; an answer with others is refused as a whole, and the addresses of before stay. Whoever controls the name decides who is whitelisted.`,
  access: 'write',
  // Whoever controls the name whitelists further addresses later, without a session.
  lasts: true,
  leaves: { what: 'whitelisted names', most: bounds.whitelistNames.count, per: 'fleet' },
  fleet: true,
  body: shape({
    name: field(text(1, 1000), 'DNS name with a dot; letters of other scripts are written as ASCII (IDNA).'),
    description: Type.Optional(text(0, bounds.whitelistNames.description, { default: '' })),
  }),
  status: 201,
  reply: whitelistName,
  refusals: [409],
})

export const removeWhitelistName = endpoint('DELETE /whitelist/names/{id}', {
  tag,
  summary: 'Take a DNS name off the whitelist',
  description: 'Its addresses go with it, unless another name has them too.',
  access: 'write',
  lasts: false,
  fleet: true,
  params: shape({ id }),
  reply: message,
  refusals: [404],
})
