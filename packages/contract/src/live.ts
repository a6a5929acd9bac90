import { Type } from 'typebox'
import type { Static } from 'typebox'
import { ban } from './bans.ts'
import { command } from './commands.ts'
import { serverStatus } from './servers.ts'
import { nullable, resource, shape, timestamp, uuid } from './shapes.ts'
import { syncStatus } from './whitelist.ts'

/** Subprotocol that the live feed answers; a client may offer `bearer.<token>` beside it. */
export const liveProtocol = 'stockade.v1'

/** A server whose state changed; `deleted` when it is gone. */
export const liveServer = resource('LiveServer', {
  id: uuid,
  hostname: Type.String(),
  status: serverStatus,
  last_heartbeat: nullable(timestamp),
  deleted: Type.Boolean(),
})

const feed = <K extends string, T extends Parameters<typeof shape>[0]>(type: K, data: T) =>
  shape({ type: Type.Literal(type), at: timestamp, data: shape(data) })

/** Messages of `GET /api/v1/ws`. `resync` means: you fell behind, fetch again. */
export const liveMessage = Type.Union([
  feed('ban', ban.properties),
  feed('unban', ban.properties),
  feed('server', liveServer.properties),
  feed('command', command.properties),
  // Of a server whose state of the whitelist changed, else of the list itself.
  feed('whitelist', { version: Type.String(), server_id: nullable(uuid), sync_status: nullable(syncStatus) }),
  feed('notice', { level: Type.String(), message: Type.String() }),
  shape({ type: Type.Literal('resync') }),
])
export type LiveMessage = Static<typeof liveMessage>
