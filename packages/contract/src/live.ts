import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { ban } from './bans.ts'
import { command } from './commands.ts'
import { fleetBanCounts } from './fleet-bans.ts'
import { protectionLevel } from './protection.ts'
import { serverStatus } from './servers.ts'
import { id, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource } from './shapes.ts'
import { serverTag } from './targets.ts'
import { syncStatus } from './whitelist.ts'

/** Subprotocol that the live feed answers; a client may offer `bearer.<token>` beside it. */
export const liveProtocol = 'stockade.v1'

export const liveServer = resource('LiveServer', {
  id: uuid,
  hostname: Type.String(),
  status: serverStatus,
  protection: field(protectionLevel, 'Whether what is banned on the server does not get through.'),
  last_heartbeat: field(nullable(timestamp), 'Time of the last heartbeat; null before the first one.'),
  tags: field(Type.Array(serverTag), 'Tags of the server in alphabetical order.'),
  deleted: field(Type.Boolean(), 'Whether the server was removed.'),
})

const liveWhitelist = resource('LiveWhitelist', {
  version: field(Type.String(), 'Version of the whitelist.'),
  server_id: field(nullable(uuid), 'Server whose copy changed; null when the list itself changed.'),
  sync_status: field(
    nullable(syncStatus),
    'Whether the server holds the current list; null when the list itself changed.',
  ),
})
const liveNotice = resource('LiveNotice', {
  level: field(Type.String(), 'Severity of the notice.'),
  message: Type.String(),
})

const liveFleetBan = resource('LiveFleetBan', {
  id: field(nullable(id), 'Id of the fleet ban; null when servers confirmed or refused some.'),
  change: field(oneOf(['created', 'changed', 'removed', 'expired', 'progress']), 'What happened.'),
  entry: field(nullable(Type.String()), 'Address or range; null when servers confirmed or refused some.'),
  state: field(
    nullable(fleetBanCounts),
    'How many servers hold it; null where it is unknown, or the listener has access to some servers only.',
  ),
})

const liveBlocklist = resource('LiveBlocklist', {
  id: field(nullable(id), 'Id of the blocklist; null when servers confirmed or refused some.'),
})

const feed = <K extends string, T extends TSchema>(title: string, type: K, data: T, description: string) =>
  resource(title, {
    type: field(Type.Literal(type), description),
    at: field(timestamp, 'Time of the event.'),
    data: field(data, 'The resource after the event.'),
  })

/** A message of the live feed, `GET /api/v1/ws`. */
export const liveMessage = Type.Union(
  [
    feed('LiveBanMessage', 'ban', ban, 'A server banned an address.'),
    feed('LiveUnbanMessage', 'unban', ban, 'A ban ended.'),
    feed('LiveServerMessage', 'server', liveServer, 'A server changed.'),
    feed('LiveCommandMessage', 'command', command, 'A command was queued or changed its status.'),
    feed('LiveWhitelistMessage', 'whitelist', liveWhitelist, 'The whitelist, or its copy on a server, changed.'),
    feed('LiveFleetBanMessage', 'fleet_ban', liveFleetBan, 'A fleet ban changed, or servers confirmed some.'),
    feed('LiveBlocklistMessage', 'blocklist', liveBlocklist, 'A blocklist changed, or servers confirmed some.'),
    feed('LiveNoticeMessage', 'notice', liveNotice, 'A notice for people.'),
    resource('LiveResyncMessage', {
      type: field(
        Type.Literal('resync'),
        'The client missed messages: it was too slow, or its position is not known any more. It must fetch its data again.',
      ),
    }),
    resource('LivePulseMessage', {
      type: field(Type.Literal('pulse'), 'A sign of life every 4 s, where the feed was opened with `pulse=true`.'),
    }),
  ],
  { title: 'LiveMessage', description: 'A message of the live feed.', discriminator: { propertyName: 'type' } },
)
export type LiveMessage = Static<typeof liveMessage>
