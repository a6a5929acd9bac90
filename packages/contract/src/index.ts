import type { Endpoint, NameOf } from './endpoint.ts'
import * as agents from './agents.ts'
import * as auth from './auth.ts'
import * as bans from './bans.ts'
import * as commands from './commands.ts'
import * as keys from './keys.ts'
import * as passkeys from './passkeys.ts'
import * as portknock from './portknock.ts'
import * as servers from './servers.ts'
import * as service from './service.ts'
import * as settings from './settings.ts'
import * as siem from './siem.ts'
import * as templates from './templates.ts'
import * as users from './users.ts'
import * as whitelist from './whitelist.ts'

export * from './endpoint.ts'
export * from './events.ts'
export * from './limits.ts'
export * from './live.ts'
export type { PasskeyResponse } from './passkey-response.ts'
export type { Passkey } from './passkeys.ts'
export * from './query.ts'
export * as shapes from './shapes.ts'
export type { ProblemBody } from './shapes.ts'
export {
  auth,
  passkeys,
  keys,
  users,
  servers,
  agents,
  commands,
  bans,
  whitelist,
  templates,
  settings,
  portknock,
  siem,
  service,
}

const rooms = {
  auth,
  passkeys,
  keys,
  users,
  servers,
  agents,
  commands,
  bans,
  whitelist,
  templates,
  settings,
  portknock,
  siem,
  service,
}
type Rooms = typeof rooms
type ValueOf<T> = T[keyof T]
/** Every endpoint value of the contract. */
export type AnyEndpoint = Extract<ValueOf<{ [R in keyof Rooms]: ValueOf<Rooms[R]> }>, Endpoint>
/** The whole interface by name: `Contract['GET /servers']`. */
export type Contract = { [E in AnyEndpoint as NameOf<E>]: E }
export type EndpointName = keyof Contract

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'reply' in value

/** Every endpoint of the interface, in the order of its sections. */
export const endpoints: readonly Endpoint[] = Object.values(rooms).flatMap(room =>
  Object.values(room).filter(isEndpoint),
)
