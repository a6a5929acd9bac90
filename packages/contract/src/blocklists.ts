import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, listOf, message, paging, serverProgress, timestamp } from './common.ts'
import { field, nullable, oneOf, openResource, resource, shape, text } from './shapes.ts'
import { target, targetInput } from './targets.ts'

/* Lists of addresses that somebody else keeps, held by the shields as desired state. */

const family = { tag: 'Blocklists', scope: 'bans' } as const
const params = shape({ id })

const kinds = ['url', 'countries', 'networks'] as const
const url = text(8, 2000, { examples: ['https://lists.example/drop.txt'] })
const country = Type.String({ pattern: '^[A-Z]{2}$' })
const asn = Type.Integer({ minimum: 1, maximum: 4_294_967_295 })
const blocklistSource = resource('BlocklistSource', {
  kind: field(oneOf(kinds), 'Where the entries come from.'),
  url: field(Type.Optional(url), 'Of `url`: an address of HTTP or HTTPS.'),
  countries: field(
    Type.Optional(Type.Array(country, { minItems: 1, maxItems: bounds.blocklists.countries })),
    'Of `countries`: codes of ISO 3166-1.',
  ),
  asns: field(
    Type.Optional(Type.Array(asn, { minItems: 1, maxItems: bounds.blocklists.networks })),
    'Of `networks`: numbers of autonomous systems.',
  ),
})
export type BlocklistSource = Static<typeof blocklistSource>

export const blocklistFormats = ['auto', 'plain', 'spamhaus-json', 'hosts', 'csv'] as const
const format = oneOf(blocklistFormats, { title: 'BlocklistFormat' })
export type BlocklistFormat = (typeof blocklistFormats)[number]
export const blocklistModes = ['enforce', 'observe', 'off'] as const
const mode = oneOf(blocklistModes, { title: 'BlocklistMode' })
export type BlocklistMode = (typeof blocklistModes)[number]

const column = Type.Integer({ minimum: 1, maximum: 100 })
const interval = Type.Integer({
  minimum: bounds.blocklists.interval.minimum,
  maximum: bounds.blocklists.interval.maximum,
})
const maxEntries = Type.Integer({ minimum: 1, maximum: bounds.blocklists.entries })
const maxAddresses = Type.Integer({ minimum: 1, maximum: 2 ** 32 })
const maxNetworks = Type.Number({ minimum: 1, maximum: 2 ** 64 })
const maxChange = Type.Number({ minimum: 0, maximum: 1 })

const leftOut = resource('BlocklistLeftOut', {
  whitelisted: field(count, 'Entries of the list that hold whitelisted addresses.'),
  own: field(count, 'Entries that hold addresses of the Stockade server.'),
  managed: field(
    nullable(count),
    'Entries that hold addresses of managed servers; null for who has access to some servers only.',
  ),
  people: field(
    nullable(count),
    'Entries that hold addresses from which people sign in or use API keys; null for who has access to some servers only.',
  ),
  private: field(count, 'Entries that hold private, loopback, link-local, multicast or reserved addresses.'),
  invalid: field(count, 'Lines that are no address and no range.'),
  too_wide: field(count, 'Ranges wider than /16 (IPv4) or /32 (IPv6); with `allow_wide` those wider than /8 or /19.'),
  duplicates: field(count, 'Entries that another one covers: doubles, and parts of ranges.'),
})

const allowWide = Type.Boolean()
const allowPrivate = Type.Boolean()
const allowing = {
  wide: 'Takes ranges wider than /16 (IPv4) and /32 (IPv6), up to /8 and /19. Others leave these out.',
  private:
    'Reads the source from private and loopback addresses too. Only an administrator with access to all servers allows it, or changes the source then.',
} as const
const networks = Type.Number()

const countsOnServers = resource('BlocklistCounts', {
  applied: field(count, 'Servers whose kernel holds the current version, as read back there.'),
  pending: field(count, 'Servers that have not confirmed it yet.'),
  failed: field(count, 'Servers that refused it.'),
  not_covered: field(count, 'Servers that cannot hold lists.'),
})

export const blocklist = resource('Blocklist', {
  id,
  name: field(Type.String(), 'Name of the list.'),
  source: field(blocklistSource, 'Where the entries come from.'),
  url_shortened: field(
    Type.Boolean(),
    'Whether `source.url` is shown without its query and without parts of its path that may be secrets. Administrators with access to all servers see all of it.',
  ),
  format: field(format, 'How the content is written; `auto` finds out.'),
  column: field(nullable(column), 'Column of a CSV file that holds the address, from 1; null for the first that does.'),
  interval: field(interval, 'Seconds between two looks at the source.'),
  target: field(target, 'Which servers hold the list.'),
  mode: field(mode, '`enforce` drops packets, `observe` only counts them, `off` takes the list out of the firewalls.'),
  max_entries: field(maxEntries, 'A version with more entries is not applied.'),
  max_addresses: field(maxAddresses, 'A version that covers more IPv4 addresses is not applied.'),
  max_networks: field(
    nullable(maxNetworks),
    'A version that covers more IPv6 networks of /64 is not applied; null before the first version.',
  ),
  max_change: field(
    maxChange,
    'A version that changes more than this share of the entries is not applied, nor one of whose addresses more than this share are new.',
  ),
  allow_wide: field(allowWide, allowing.wide),
  allow_private: field(allowPrivate, allowing.private),
  entries: field(count, 'Entries of the version in force, merged and without what is left out.'),
  addresses: field(Type.Number(), 'IPv4 addresses that these cover.'),
  networks: field(networks, 'IPv6 networks of /64 that these cover, parts included.'),
  left_out: field(leftOut, 'What the version in force leaves out.'),
  fetched_at: field(
    nullable(timestamp),
    'Time at which the content of the version in force came; null before the first.',
  ),
  checked_at: field(nullable(timestamp), 'Time of the last look at the source that succeeded; null before the first.'),
  next_check_at: field(nullable(timestamp), 'Time of the next look at the source; null while the list is off.'),
  last_error: field(
    nullable(Type.String()),
    'Why the last look failed or its content was not applied; null when it was fine.',
  ),
  stale: field(Type.Boolean(), 'Whether no look succeeded for three intervals.'),
  version: field(count, 'Version in force, in epoch milliseconds; 0 before the first.'),
  hits: field(
    resource('BlocklistHits', {
      last_day: field(count, 'Packets that matched in the last 24 hours.'),
      hours: field(Type.Array(count), 'Packets of each of the last 24 hours, the oldest first.'),
    }),
    'Packets from entries of the list that the kernels counted. A server counts the first packet of a connection.',
  ),
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
  created_at: timestamp,
  updated_at: timestamp,
  held: field(countsOnServers, 'How many of the servers that the caller sees hold it. All are 0 while it is off.'),
})
export type Blocklist = Static<typeof blocklist>

const settings = {
  name: field(Type.Optional(text(1, bounds.name)), 'Name of the list.'),
  source: field(Type.Optional(blocklistSource), 'Where the entries come from.'),
  format: field(Type.Optional(format), 'How the content is written.'),
  column: field(Type.Optional(nullable(column)), 'Column of a CSV file, from 1.'),
  interval: field(Type.Optional(interval), 'Seconds between two looks at the source, 15 minutes to 7 days.'),
  target: field(Type.Optional(targetInput), 'Where: one of `all`, `server_ids` and `tags`.'),
  mode: field(Type.Optional(mode), 'What the firewalls do with it.'),
  max_entries: field(Type.Optional(maxEntries), 'Largest number of entries.'),
  max_addresses: field(
    Type.Optional(maxAddresses),
    'Largest number of IPv4 addresses that the list may cover. Unless given, ten times what the first version covers, and at least 1,048,576.',
  ),
  max_networks: field(
    Type.Optional(maxNetworks),
    'Largest number of IPv6 networks of /64 that the list may cover. Unless given, ten times what the first version covers, and at least a /32.',
  ),
  max_change: field(
    Type.Optional(maxChange),
    'Largest share of entries, and of new addresses, that one look may bring.',
  ),
  allow_wide: field(Type.Optional(allowWide), allowing.wide),
  allow_private: field(Type.Optional(allowPrivate), allowing.private),
}

export const listBlocklists = endpoint('GET /lists', {
  ...family,
  summary: 'List the blocklists',
  description: 'In the order of names. Who has access to some servers only gets the lists that concern these.',
  access: 'read',
  forServerKeys: false,
  query: shape({ ...paging(pages.blocklists) }),
  reply: listOf('lists', blocklist),
})

export const createBlocklist = endpoint('POST /lists', {
  ...family,
  summary: 'Subscribe to a blocklist',
  description:
    'The first look at the source is made soon after. A new list is observed unless `mode` says otherwise. Whitelisted, own, managed, private and reserved addresses are always cut out of it. Who has access to some servers only names servers, or tags that the access is by; `all` is 403. There may be 50 lists, 5 of each such caller. The enforced lists of one server may cover a quarter of all public addresses together: 409 beyond.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'blocklists', most: bounds.blocklists.count, per: 'fleet' },
  body: shape({
    ...settings,
    name: field(text(1, bounds.name), 'Name of the list.'),
    source: field(blocklistSource, 'Where the entries come from.'),
    target: field(targetInput, 'Where: one of `all`, `server_ids` and `tags`.'),
  }),
  status: 201,
  reply: blocklist,
  refusals: [409],
})

export const getBlocklist = endpoint('GET /lists/{id}', {
  ...family,
  summary: 'Read one blocklist',
  access: 'read',
  forServerKeys: false,
  params,
  reply: blocklist,
  refusals: [404],
})

export const changeBlocklist = endpoint('PATCH /lists/{id}', {
  ...family,
  summary: 'Change a blocklist',
  description:
    'Another mode or target reaches the servers at once, without a look at the source. Needs access to all servers of the old and the new target.',
  access: 'write',
  lasts: 'partly',
  params,
  body: shape(settings),
  reply: blocklist,
  refusals: [404, 409],
})

export const removeBlocklist = endpoint('DELETE /lists/{id}', {
  ...family,
  summary: 'Unsubscribe from a blocklist',
  description: 'Its entries leave the firewalls. Offline servers take them out when they are back.',
  access: 'write',
  lasts: false,
  params,
  reply: message,
  refusals: [404],
})

export const refreshBlocklist = endpoint('POST /lists/{id}/refresh', {
  ...family,
  summary: 'Look at the source of a blocklist now',
  description:
    'Answers when the look is over; `last_error` says why nothing was applied. With `accept_change`, a version that changes more than `max_change`, or holds no entry any more, is applied this once. Each caller may read one source at a time, previews included: 409 beyond.',
  access: 'write',
  lasts: 'partly',
  leaves: null,
  params,
  body: shape({
    accept_change: field(
      Type.Optional(Type.Boolean()),
      'Applies a version that changes more than `max_change`, or that holds no entry any more.',
    ),
  }),
  reply: blocklist,
  refusals: [404, 409],
})

export const previewBlocklist = endpoint('POST /lists/preview', {
  ...family,
  summary: 'What a blocklist would hold',
  description:
    'Reads the source and stores nothing; the audit log has who looked where. Each caller may read one source at a time: 409 beyond. Who has access to some servers gets one sentence for every source that can’t be read.',
  access: 'write',
  lasts: false,
  leaves: null,
  body: shape({
    source: field(blocklistSource, 'Where the entries come from.'),
    format: settings.format,
    column: settings.column,
    allow_wide: settings.allow_wide,
    allow_private: settings.allow_private,
  }),
  reply: resource('BlocklistPreview', {
    format: field(nullable(format), 'How the content is written; null for countries and networks.'),
    bytes: field(count, 'Size of the content.'),
    entries: field(count, 'Entries that servers would hold.'),
    addresses: field(Type.Number(), 'IPv4 addresses that these cover.'),
    networks: field(networks, 'IPv6 networks of /64 that these cover, parts included.'),
    share_percent: field(Type.Number(), 'Share of all IPv4 addresses, in percent.'),
    left_out: field(leftOut, 'What is left out.'),
    unread: field(
      Type.Array(
        resource('UnreadLine', {
          line: field(count, 'Number of the line, from 1; in JSON that of the value.'),
          form: field(Type.String({ examples: ['aaa-00'] }), 'Its form: `a` for a letter, `0` for a digit.'),
        }),
      ),
      'The first lines that are no address and no range, at most 10.',
    ),
    samples: field(Type.Array(Type.String()), 'The first entries, at most 10.'),
    conflicts: field(
      resource('BlocklistConflicts', {
        servers: field(Type.Array(Type.String()), 'Host names of managed servers that the list names, at most 10.'),
        whitelist: field(Type.Array(Type.String()), 'Whitelisted addresses and ranges that it names, at most 10.'),
        sessions: field(
          nullable(count),
          'Signed-in users whose address it names; null for who has access to some servers only.',
        ),
        you: field(Type.Boolean(), 'Whether it names the address that the request comes from.'),
      }),
      'What of yours the list names. Servers and whitelisted addresses are left out; addresses of users are not.',
    ),
  }),
  refusals: [409],
})

const states = ['held', 'pending', 'refused', 'not_covered'] as const
const hostState = oneOf(states, { title: 'BlocklistHostState' })
export type BlocklistHostState = (typeof states)[number]

export const listBlocklistServers = endpoint('GET /lists/{id}/servers', {
  ...family,
  summary: 'Which servers hold a blocklist',
  description: 'In the order of host names.',
  access: 'read',
  forServerKeys: false,
  params,
  query: shape({ state: field(Type.Optional(hostState), 'Only servers in this state.'), ...paging(pages.blocklists) }),
  reply: listOf(
    'servers',
    resource('BlocklistServer', {
      ...serverProgress(
        hostState,
        '`held` is what the server read back from its kernel.',
        'Why the server does not hold it; null when it does.',
      ),
      entries: field(nullable(count), 'Entries that the kernel holds; null before the first report.'),
      packets: field(count, 'Packets that matched since the server holds the list.'),
      at: field(nullable(timestamp), 'Time of the last report of the server about the list; null before the first.'),
    }),
  ),
  refusals: [404],
})

export const listBlocklistEntries = endpoint('GET /lists/{id}/entries', {
  ...family,
  summary: 'Entries of a blocklist',
  description:
    'Of the version in force. With an address or a range as `search`, the entries that cover it or lie in it.',
  access: 'read',
  forServerKeys: false,
  params,
  query: shape({
    search: field(Type.Optional(text(1, 64)), 'An address, a range, or the beginning of an entry.'),
    ...paging(pages.blocklists),
  }),
  reply: listOf('entries', Type.String()),
  refusals: [404],
})

/** A list that covers an address, in the look-up. */
export const blocklistLine = resource('BlocklistLine', {
  id,
  name: field(Type.String(), 'Name of the list.'),
  mode: field(mode, 'What the firewalls do with it.'),
  entry: field(Type.String(), 'The entry that covers the address.'),
  servers: field(count, 'Servers that the caller sees whose kernel holds the list, as read back there.'),
  fetched_at: field(nullable(timestamp), 'Time at which the content of the version in force came.'),
})

export const agentBlocklist = endpoint('GET /agent/shield/lists/{id}', {
  tag: 'Agent',
  summary: 'The content of a blocklist (agent)',
  description:
    'One canonical address or range a line, ordered, without overlaps. Has an `ETag` that is the version; answers 304 to a matching `If-None-Match`. A list that does not concern the server is 404.',
  access: 'agent',
  params,
  reply: Type.String(),
  produces: 'text/plain',
  refusals: [404],
})

const digest = text(64, 64)
/** Part of the desired state. */
export const desiredBlocklists = Type.Array(
  resource('DesiredBlocklist', {
    id,
    version: field(count, 'Version of the content.'),
    mode: field(oneOf(['enforce', 'observe']), 'Whether packets are dropped or only counted.'),
    entries: field(count, 'Number of entries.'),
    digest: field(Type.String(), 'SHA-256 of the content in hexadecimal.'),
  }),
)

/** Part of the acknowledgement of a desired state. */
export const appliedBlocklists = Type.Array(
  openResource('AppliedBlocklist', {
    id,
    version: field(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), 'Version that the server applied.'),
    mode: field(oneOf(['enforce', 'observe']), 'What its kernel does with the entries.'),
    digest: field(digest, 'Digest of the content whose entries the kernel holds, as read back.'),
    held: field(Type.Integer({ minimum: 0, maximum: 1_000_000 }), 'Number of entries that the kernel holds.'),
    error: field(
      Type.Optional(nullable(text(0, bounds.reason))),
      'Why the server does not hold it; null when it does.',
    ),
  }),
  { maxItems: bounds.blocklists.count },
)

/** Part of the heartbeat. */
export const listedPackets = Type.Array(
  openResource('ListedPackets', {
    id,
    packets: field(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      'Packets that matched since the server holds the list.',
    ),
  }),
  { maxItems: bounds.blocklists.count },
)
