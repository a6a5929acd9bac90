import type { Endpoint, NameOf } from './endpoint.ts'
import * as agentMoves from './agent-moves.ts'
import * as agents from './agents.ts'
import * as alerts from './alerts.ts'
import * as attackers from './attackers.ts'
import * as auth from './auth.ts'
import * as bans from './bans.ts'
import * as blocklists from './blocklists.ts'
import * as bootstrap from './bootstrap.ts'
import * as channels from './channels.ts'
import * as commands from './commands.ts'
import * as fleetBans from './fleet-bans.ts'
import * as bouncers from './bouncers.ts'
import * as enrolmentTokens from './enrolment-tokens.ts'
import * as feeds from './feeds.ts'
import * as hostMetrics from './host-metrics.ts'
import * as keys from './keys.ts'
import * as neighbours from './neighbours.ts'
import * as passkeys from './passkeys.ts'
import * as portknock from './portknock.ts'
import * as reports from './reports.ts'
import * as rollouts from './rollouts.ts'
import * as rules from './rules.ts'
import * as servers from './servers.ts'
import * as service from './service.ts'
import * as settings from './settings.ts'
import * as siem from './siem.ts'
import * as templates from './templates.ts'
import * as users from './users.ts'
import * as whitelist from './whitelist.ts'
import * as whitelistNames from './whitelist-names.ts'

export type {
  Alert,
  AlertKind,
  AlertRoute,
  AlertRule,
  AlertSeverity,
  AlertSilence,
  BanKind,
  ConditionKind,
} from './alerts.ts'
export { alertSeverities, banKinds, conditionKinds } from './alerts.ts'
export type { Channel, ChannelDelivery, PresetId } from './channels.ts'
export type { Blocklist, BlocklistFormat, BlocklistHostState, BlocklistMode, BlocklistSource } from './blocklists.ts'
export * from './endpoint.ts'
export * from './events.ts'
export type { FleetBanState } from './fleet-bans.ts'
export * from './limits.ts'
export * from './live.ts'
export * from './names.ts'
export type { PasskeyResponse } from './passkey-response.ts'
export type { Passkey } from './passkeys.ts'
export * from './protection.ts'
export * from './query/index.ts'
export * from './reasons.ts'
export type { Report, ReportAttention } from './reports.ts'
export type { RolloutHostState, RolloutState } from './rollouts.ts'
export type { RuleOutcome, RuleState } from './rules.ts'
export type { FeedFormat } from './feeds.ts'
export * as common from './common.ts'
export * as shapes from './shapes.ts'
export * from './tags.ts'
export type { Target, TargetInput } from './targets.ts'
export type { ProblemBody } from './common.ts'
export type { ProblemReason } from './problem-reasons.ts'
export {
  auth,
  passkeys,
  keys,
  users,
  servers,
  enrolmentTokens,
  hostMetrics,
  agents,
  agentMoves,
  rollouts,
  commands,
  bans,
  fleetBans,
  rules,
  feeds,
  bouncers,
  blocklists,
  attackers,
  neighbours,
  whitelist,
  whitelistNames,
  templates,
  settings,
  alerts,
  channels,
  reports,
  portknock,
  siem,
  bootstrap,
  service,
}

const rooms = {
  auth,
  passkeys,
  keys,
  users,
  servers,
  enrolmentTokens,
  hostMetrics,
  agents,
  agentMoves,
  rollouts,
  commands,
  bans,
  fleetBans,
  rules,
  feeds,
  bouncers,
  blocklists,
  attackers,
  neighbours,
  whitelist,
  whitelistNames,
  templates,
  settings,
  alerts,
  channels,
  reports,
  portknock,
  siem,
  bootstrap,
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

/** Every endpoint with the name that the contract exports it under, such as `listServers`; unique, and stable for clients. */
export const endpointNames: ReadonlyMap<Endpoint, string> = new Map(
  Object.values(rooms).flatMap(room =>
    Object.entries(room).flatMap(([name, value]: [string, unknown]) => (isEndpoint(value) ? [[value, name]] : [])),
  ),
)
/** Every endpoint, in the order of the modules above. */
export const endpoints: readonly Endpoint[] = [...endpointNames.keys()]
