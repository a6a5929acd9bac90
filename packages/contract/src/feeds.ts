import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { queryBounds } from './query/fields.ts'
import { count, id, message, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

/* Feeds: what is banned, as a text that firewalls and other programs fetch. docs/guides/feeds.md has an example for each. */

const family = { tag: 'Feeds', scope: 'bans' } as const
const params = shape({ id })

export const feedFormats = [
  'plain',
  'cidr',
  'nft',
  'ipset',
  'nginx',
  'apache',
  'haproxy',
  'mikrotik',
  'pf',
  'json',
] as const
export const feedFormat = oneOf(feedFormats, { title: 'FeedFormat' })
export type FeedFormat = Static<typeof feedFormat>
export const feedFamilies = ['both', 'ipv4', 'ipv6'] as const

const contents = {
  q: field(Type.String(), 'Search for bans of servers, such as `jail:sshd`; empty for all.'),
  bans: field(Type.Boolean(), 'Whether it holds active bans of servers.'),
  fleet_bans: field(Type.Boolean(), 'Whether it holds fleet bans.'),
  family: field(oneOf(feedFamilies), 'Addresses of which family it holds.'),
  maximum: field(
    Type.Integer({ minimum: 1, maximum: bounds.feedEntries }),
    'Entries that it holds at most; the newest bans stay.',
  ),
} as const
const contentsInput = {
  q: field(
    Type.Optional(Type.String({ maxLength: queryBounds.length, examples: ['jail:sshd -country:NL'] })),
    'Search for bans of servers, such as `jail:sshd`; all unless given.',
  ),
  bans: field(Type.Optional(Type.Boolean()), 'Whether it holds active bans of servers; true unless given.'),
  fleet_bans: field(Type.Optional(Type.Boolean()), 'Whether it holds fleet bans; true unless given.'),
  family: field(Type.Optional(oneOf(feedFamilies)), 'Addresses of which family it holds; both unless given.'),
  maximum: field(
    Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.feedEntries })),
    'Entries that it holds at most; 100000 unless given. The newest bans stay.',
  ),
} as const
const name = text(1, bounds.name)

export const feed = resource('Feed', {
  id,
  name,
  ...contents,
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
  created_at: timestamp,
  updated_at: timestamp,
  used_at: field(nullable(timestamp), 'Time of the last download, to five minutes; null before the first one.'),
  used_from: field(nullable(Type.String()), 'Address that the last download came from; null before the first one.'),
})
export type Feed = Static<typeof feed>
const secret = {
  token: field(Type.String(), 'The token; shown only here.'),
  url: field(Type.String(), 'Where the feed is downloaded; the token in it is the only credential.'),
} as const
const newFeed = resource('NewFeed', { ...feed.properties, ...secret })

export const listFeeds = endpoint('GET /fleet/feeds', {
  ...family,
  fleet: true,
  summary: 'List the feeds',
  description: 'In the order of their names; there are at most 100.',
  access: 'admin',
  reply: shape({ feeds: field(Type.Array(feed), 'The feeds.'), total: count }),
})
export const createFeed = endpoint('POST /fleet/feeds', {
  ...family,
  fleet: true,
  summary: 'Create a feed',
  description: 'The token is in this reply and nowhere else.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'feeds', most: bounds.feeds, per: 'fleet' },
  rate: 'sensitive',
  body: shape({ name, ...contentsInput }),
  status: 201,
  reply: newFeed,
  refusals: [409],
})
const left_out = field(
  resource('FeedLeftOut', {
    wide: field(count, 'Reported ranges wider than /24 (IPv4) or /48 (IPv6): no feed holds them.'),
    of_one_server: field(count, 'Bans of single servers beyond a quarter of the maximum; the newest stay.'),
    of_some_servers: field(count, 'Fleet bans that are not for all servers.'),
    protected: field(
      count,
      'Addresses and ranges with something that is never in a feed: whitelist, servers, addresses of people, private and reserved ones.',
    ),
    held_back: field(count, 'The newest bans, which the next readings bring: a feed doubles at most within a minute.'),
  }),
  'What it does not hold, and why.',
)
export const previewFeed = endpoint('POST /fleet/feeds/preview', {
  ...family,
  fleet: true,
  summary: 'Preview a feed',
  description: 'Counts what a feed with these settings would hold now. Nothing is stored.',
  access: 'admin',
  lasts: false,
  leaves: null,
  body: shape({ ...contentsInput }),
  reply: resource('FeedPreview', {
    total: field(count, 'Number of entries, before neighbours are joined.'),
    ipv4: field(count, 'Of them addresses and ranges of IPv4.'),
    ipv6: field(count, 'Of them addresses and ranges of IPv6.'),
    collapsed: field(count, 'Number of entries when neighbours are joined into ranges.'),
    truncated: field(Type.Boolean(), 'Whether older bans are left out, because there are more than the maximum.'),
    left_out,
    samples: field(Type.Array(Type.String({ examples: ['198.51.100.7'] })), 'The first ten entries.'),
  }),
})
export const changeFeed = endpoint('PATCH /fleet/feeds/{id}', {
  ...family,
  fleet: true,
  summary: 'Change a feed',
  access: 'admin',
  lasts: true,
  params,
  body: shape({ name: Type.Optional(name), ...contentsInput }),
  reply: feed,
  refusals: [404, 409],
})
export const removeFeed = endpoint('DELETE /fleet/feeds/{id}', {
  ...family,
  fleet: true,
  summary: 'Delete a feed',
  description: 'Its address answers 404 from now on.',
  access: 'admin',
  lasts: true,
  params,
  reply: message,
  refusals: [404],
})
export const rotateFeed = endpoint('POST /fleet/feeds/{id}/rotate', {
  ...family,
  fleet: true,
  summary: 'Give a feed a new token',
  description: 'The old token ends at once. The new one is in this reply and nowhere else.',
  access: 'admin',
  lasts: true,
  leaves: null,
  rate: 'sensitive',
  params,
  reply: newFeed,
  refusals: [404],
})

/** As JSON: what the texts hold too. */
const feedContents = resource('FeedContents', {
  name: Type.String(),
  generated_at: field(timestamp, 'Time at which these entries were read.'),
  total: field(count, 'Number of entries.'),
  truncated: field(Type.Boolean(), 'Whether older bans were left out, because there are more than the maximum.'),
  left_out,
  entries: field(
    Type.Array(Type.String({ examples: ['198.51.100.7', '203.0.113.0/24'] })),
    'Addresses and ranges, each once, in the order of addresses.',
  ),
})
export const readFeed = endpoint('GET /feeds/{token}', {
  ...family,
  summary: 'Download a feed',
  description:
    'The token is the only credential. With `ETag` and `Last-Modified`, for requests that answer 304 while nothing changed. Whitelisted addresses are never in it. `collapse` joins neighbours into ranges that hold nothing else; formats that need ranges or sets do so always. `set` names the set, list, table or address list in formats that have names.',
  access: 'public',
  params: shape({ token: field(Type.String({ minLength: 1, maxLength: 100 }), 'Token of the feed.') }),
  query: shape({
    format: Type.Optional(oneOf(feedFormats, { default: 'plain' })),
    collapse: field(Type.Optional(Type.Boolean()), 'Whether neighbours are joined into ranges.'),
    family: field(Type.Optional(oneOf(feedFamilies)), 'Only addresses of one family.'),
    set: field(
      Type.Optional(
        Type.String({
          pattern: '^[A-Za-z][A-Za-z0-9_-]{0,23}$',
          default: 'stockade-feed',
          errorMessage: 'must begin with a letter; letters, digits, underscore and hyphen follow, 24 in all',
        }),
      ),
      'Name of the set, list, table or address list.',
    ),
  }),
  reply: feedContents,
  produces: ['application/json', 'text/plain'],
  refusals: [404, 429],
})
