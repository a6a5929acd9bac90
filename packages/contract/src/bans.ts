import { Type } from 'typebox'
import { duration, reason, dropped_packets, banFields, reputation_score, listedBan, banFilter } from './ban-fields.ts'
import { blocklistLine } from './blocklists.ts'
import { endpoint } from './endpoint.ts'
import { cutOption } from './command-types/params.ts'
import { bounds, pages } from './limits.ts'
import { count, id, ip, ipOrRange, jailName, listOf, paging, period, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

export * from './ban-fields.ts'
export * from './ban-reports.ts'

const tag = 'Bans'
const params = shape({ banId: id })
const sortable = ['banned_at', 'ip', 'server', 'jail', 'country', 'expires_at', 'occurrences'] as const
export const banSorts = sortable.flatMap(field => [field, `-${field}`] as const)
export type BanSort = (typeof banSorts)[number]

export const listBans = endpoint('GET /bans', {
  tag,
  summary: 'List bans',
  description:
    'Newest first unless `sort` says otherwise (`-` for descending; what has no country or no end stands last, descending first), with an exact total. `ip` takes an address or a CIDR; `from` is inclusive, `to` exclusive; `q` is a search such as `jail:sshd -country:NL`, and all filters must hold together.',
  access: 'read',
  query: shape({
    ...banFilter,
    sort: field(
      Type.Optional(oneOf(banSorts, { default: '-banned_at' })),
      'Order of the rows; `-` means descending. Rows without a country or end come last, in descending order first.',
    ),
    ...paging(pages.bans),
  }),
  reply: listOf('bans', listedBan),
  refusals: [503],
})

export const exportBans = endpoint('GET /bans/export', {
  tag,
  summary: 'Export bans',
  description:
    'All bans that match, newest first: the filters are those of the list, and so is the number. `csv` escapes what a spreadsheet would run; `plain` is the address of each, one a line.',
  access: 'read',
  query: shape({ ...banFilter, format: Type.Optional(oneOf(['json', 'csv', 'plain'], { default: 'json' })) }),
  reply: shape({
    exported_at: timestamp,
    bans: field(Type.Array(listedBan), 'The bans, newest first.'),
    total: field(count, 'Number of bans.'),
  }),
  produces: ['application/json', 'text/csv', 'text/plain'],
  refusals: [503],
})

export const getBan = endpoint('GET /bans/{banId}', {
  tag,
  summary: 'Read one ban',
  access: 'read',
  params,
  reply: resource('BanDetail', { ...banFields, reputation_score }),
  refusals: [404],
})

export const createBan = endpoint('POST /servers/{serverId}/bans', {
  tag,
  summary: 'Ban an address on one server',
  description:
    "Queues a `ban-ip` command. `jail` defaults to `stockade`, a jail that the agent keeps for this; `duration` to a day there and to the jail's own elsewhere. Loopback, a managed server's own and the caller's own address need `force: true`.",
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'waiting commands', most: bounds.waitingCommands, per: 'server' },
  forServerKeys: true,
  params: shape({ serverId: uuid }),
  body: shape({
    ip: field(ipOrRange, 'Address or range to ban.'),
    jail: Type.Optional(jailName),
    duration: field(Type.Optional(duration), 'Length of the ban in seconds; -1 is permanent.'),
    reason: field(Type.Optional(text(0, bounds.reason)), 'Reason, for the history.'),
    force: field(
      Type.Optional(Type.Boolean()),
      'Permits a ban of the own address, of loopback and of a managed server.',
    ),
    cut: cutOption,
  }),
  status: 201,
  reply: shape({ message: Type.String(), command_id: uuid }),
  refusals: [404, 409],
})

export const removeBan = endpoint('DELETE /servers/{serverId}/bans/{ip}', {
  tag,
  summary: 'Lift a ban on one server',
  description: 'Queues an `unban-ip` command, for one jail or, without `jail`, for all of them.',
  access: 'write',
  lasts: false,
  forServerKeys: true,
  params: shape({ serverId: uuid, ip: ipOrRange }),
  query: shape({ jail: Type.Optional(jailName) }),
  reply: shape({ message: Type.String(), command_id: uuid }),
  refusals: [404],
})

export const liftOwnBan = endpoint('POST /bans/own-unban', {
  tag,
  summary: 'Lift the ban of the address that one comes from',
  description:
    'Puts the address of this request on the whitelist for an hour, which lifts its bans. For users with access to all servers, where `security.own_unban` is on. What a person or a blocklist banned stays: 409.',
  access: 'session',
  lasts: false,
  leaves: { what: 'own unbans of 24 hours', most: bounds.ownUnbans, per: 'user' },
  reply: resource('OwnUnban', {
    ip: field(Type.String(), 'The address, as the server sees it.'),
    expires_at: field(timestamp, 'Time at which the whitelist entry ends.'),
    lifted_bans: field(count, 'Number of active bans that were asked to be lifted.'),
    left: field(count, 'How often the user may do it again within 24 hours of the first time.'),
  }),
  refusals: [403, 409],
})

const share = { count }
/** Jails that a statistic gives a series of its own. */
export const seriesJails = 5
/** Where a statistic begins and ends, and how the bans lie in it: UTC hours for a day, else UTC dates; zeros included. */
export const windowFields = {
  from: timestamp,
  to: timestamp,
  series: field(
    Type.Array(resource('BanCountSince', { start: field(timestamp, 'Start of this part of the window.'), count })),
    'Number of bans in each part of the window: hours for a day, dates otherwise, in UTC. Zeros are included.',
  ),
  series_by_jail: field(
    Type.Array(
      resource('JailBanSeries', {
        jail: Type.String(),
        counts: field(Type.Array(count), 'Bans of the jail in each part of the window, aligned with `series`.'),
      }),
      { maxItems: seriesJails },
    ),
    'The same for each of the five jails with the most bans. The difference to `series` are the bans of all other jails.',
  ),
  previous_total: field(count, 'Number of bans in the window of the same length before this one.'),
  active_now: field(count, 'Number of bans in force now, whenever they began.'),
}
export const banStats = endpoint('GET /bans/stats', {
  tag,
  summary: 'Statistics of bans',
  description:
    'A rolling window that ends now. Every figure is exact. `bans_by_hour` are the 24 hours of the day (UTC), `bans_by_day` the UTC dates that the window touches. Bans of unknown country stand under `ZZ`.',
  access: 'read',
  query: shape({ server_id: Type.Optional(uuid), period: Type.Optional(period) }),
  reply: shape({
    total_bans: count,
    unique_ips: count,
    bans_by_jail: field(Type.Array(resource('JailBanCount', { jail: Type.String(), ...share })), 'Bans for each jail.'),
    bans_by_country: field(
      Type.Array(
        resource('CountryBanCount', {
          code: Type.String(),
          name: field(Type.String(), 'Name of the country.'),
          ...share,
        }),
      ),
      'Bans for each country.',
    ),
    bans_by_hour: Type.Array(resource('HourBanCount', { hour: Type.Integer({ minimum: 0, maximum: 23 }), ...share })),
    bans_by_day: field(
      Type.Array(resource('DayBanCount', { date: field(Type.String({ format: 'date' }), 'UTC date.'), ...share })),
      'Bans for each UTC date.',
    ),
    ...windowFields,
  }),
})

const place = {
  country: nullable(Type.String()),
  country_name: nullable(Type.String()),
  asn: nullable(Type.String()),
  asn_org: nullable(Type.String()),
}
export const topBans = endpoint('GET /bans/top', {
  tag,
  summary: 'Addresses, networks and servers with the most bans',
  description:
    'Exact for the window `from` to `to` (exclusive) that the answer names. What takes long to count is given again for a while, at most five minutes, and says so by its `to`. Bans of an unknown network stand under null.',
  access: 'read',
  query: shape({
    server_id: Type.Optional(uuid),
    period: Type.Optional(period),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
  }),
  reply: shape({
    from: timestamp,
    to: timestamp,
    total_bans: field(count, 'Number of bans in exactly this window.'),
    top_ips: field(
      Type.Array(resource('AddressBanCount', { ip: Type.String(), count, ...place })),
      'Addresses with the most bans.',
    ),
    bans_by_asn: field(
      Type.Array(resource('NetworkBanCount', { asn: place.asn, asn_org: place.asn_org, count })),
      'Networks with the most bans.',
    ),
    bans_by_server: field(
      Type.Array(resource('ServerBanCount', { server: serverRef, count })),
      'Servers with the most bans.',
    ),
  }),
  refusals: [503],
})

const historyLine = resource('BanHistoryEntry', {
  id,
  server: field(Type.String(), 'Host name of the server.'),
  server_id: uuid,
  jail: Type.String(),
  banned_at: timestamp,
  expires_at: nullable(timestamp),
  unbanned_at: nullable(timestamp),
  active: Type.Boolean(),
  dropped_packets,
  reason,
})
/** A fleet ban that covers an address, as one line. */
const fleetBanLine = resource('FleetBanLine', {
  id,
  entry: field(Type.String(), 'Address or range that is banned.'),
  reason: field(Type.String(), 'Why it is banned; empty when nobody said.'),
  source: field(Type.String(), 'Where the ban comes from: `manual`.'),
  servers: field(count, 'Number of servers that it concerns, of those that the caller sees.'),
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
  created_at: timestamp,
  expires_at: nullable(timestamp),
})
export const lookUp = endpoint('GET /bans/lookup/{ip}', {
  tag,
  summary: 'Everything known of an address',
  description:
    'With `reverse=true` also the name that its network gives it, asked of the resolver of the service for two seconds at most.',
  access: 'read',
  params: shape({ ip }),
  query: shape({ reverse: field(Type.Optional(Type.Boolean()), 'Whether to resolve the host name of the address.') }),
  reply: shape({
    ip: Type.String(),
    country: nullable(Type.String()),
    country_name: nullable(Type.String()),
    city: nullable(Type.String()),
    latitude: nullable(Type.Number()),
    longitude: nullable(Type.Number()),
    asn: nullable(Type.String()),
    asn_org: nullable(Type.String()),
    is_whitelisted: field(Type.Boolean(), 'Whether the whitelist covers the address.'),
    matched_whitelist: field(
      nullable(resource('WhitelistMatch', { id, ip: Type.String(), description: Type.String() })),
      'The most specific whitelist entry that covers the address; null when none does.',
    ),
    ban_history: field(Type.Array(historyLine), 'Bans of the address, newest first, at most 100.'),
    active_bans: field(Type.Array(historyLine), 'Bans of the address that are in force, at most 100.'),
    total_bans: count,
    fleet_bans: field(
      Type.Array(fleetBanLine),
      'Fleet bans that stand and cover the address, on servers that the caller sees.',
    ),
    blocklists: field(Type.Array(blocklistLine), 'Blocklists that cover the address, on servers that the caller sees.'),
    reputation: field(
      nullable(
        resource('Reputation', {
          score: field(Type.Integer(), 'Score from 0 to 100; higher is worse.'),
          reports: field(count, 'Number of reports.'),
          last_reported: field(nullable(timestamp), 'Time of the last report; null when it is unknown.'),
        }),
      ),
      'The address in the reputation database; null when it is unknown.',
    ),
    is_you: field(Type.Boolean(), 'Whether the request comes from this address.'),
    is_server: field(nullable(serverRef), 'The managed server with this address; null when there is none.'),
    reverse_name: field(
      nullable(Type.String()),
      'Host name of the address; null when it was not asked for, does not exist or could not be resolved in time.',
    ),
    geo_credit: field(Type.String(), 'Attribution of the location data, to show next to it.'),
  }),
})

export const reportToReputation = endpoint('POST /bans/{banId}/report', {
  tag,
  summary: "Report a ban's address to the reputation database",
  access: 'write',
  lasts: false,
  leaves: null,
  forServerKeys: true,
  params,
  reply: shape({ message: Type.String(), reputation_score: nullable(Type.Integer()) }),
  refusals: [404, 409, 502],
})
