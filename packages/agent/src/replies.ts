import type { Contract, EndpointName, ReplyOf } from '@stockade/contract'
import type { AddressOrigin } from '@stockade/contract/address-proof.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import { asFields, asInteger, asList, asText } from './json.ts'
import { canonicalIp } from './ip.ts'
import type { Fields } from './json.ts'
import type { DesiredList } from './shield/list-store.ts'
import type { FleetBan } from './shield/fleet-store.ts'
import type { Fresh } from './transport.ts'

/*
 * One reader for each reply of the server. The names of fields are checked against the contract when this is compiled; the
 * values are checked here when they arrive, because the agent runs as root and must not trust a server.
 */

type Reply<N extends EndpointName> = ReplyOf<Contract[N]>
type Heartbeat = Reply<'POST /servers/heartbeat'>

/** The fields of a value that should be a `T`, each of unknown type. */
type Unchecked<T> = Readonly<Partial<Record<keyof T, unknown>>>
const unchecked = <T>(value: unknown): Unchecked<T> => asFields(value) as Unchecked<T>

/** A command as it came. Its parameters and its seal are judged before it runs. */
export interface Command {
  readonly id: string
  readonly type: string
  readonly params: Fields
  /** An operator's signature, not yet verified. */
  readonly seal?: unknown
}

/** Work for the host. `stateVersion` is null if the server is too old to name a desired state. */
export interface Orders {
  readonly commands: readonly Command[]
  readonly stateVersion: string | null
}

/** What the host should hold. */
export interface DesiredState {
  readonly version: string
  /** `count` entries; a changed list is fetched after a random part of `spread` seconds. */
  readonly whitelist: { readonly version: string; readonly count: number; readonly spread: number }
  /** As it came, not yet judged; null from a server without port knocking. */
  readonly portknock: unknown
  /** Null from a server without blocklists. */
  readonly lists: readonly DesiredList[] | null
  /** The order to use another address; null without one. */
  readonly move: DesiredMove | null
  /** Null from a server without fleet bans. */
  readonly fleetBans: { readonly version: number; readonly digest: string } | null
}

/** The state that came with the answer to a poll, and the list that it names where that is short. */
export interface Offer {
  readonly state: DesiredState
  readonly list: Fresh | null
}

/** An order to reach the server at another address. The address is judged before it is used. */
export interface DesiredMove {
  readonly revision: number
  readonly url: string
}

/** The fleet bans of the host, or what changed of them. */
export interface FleetSet {
  readonly version: number
  readonly full: boolean
  readonly digest: string
  readonly add: readonly FleetBan[]
  readonly remove: readonly number[]
}

/** What the server decided about one reported item. */
export interface RowResult {
  readonly id: string
  readonly error: string | null
}

const maxCommands = 200
const maxSpreadSeconds = 60
const defaultInterval = 30

export const readOrders = (value: unknown): Orders => {
  const { commands, desired_state } = unchecked<Heartbeat>(value)
  const { version } = unchecked<Heartbeat['desired_state']>(desired_state)
  const isVersion = typeof version === 'string' && /^[\x21-\x7e]{1,128}$/.test(version)
  return {
    commands: asList(commands).slice(0, maxCommands).flatMap(readCommand),
    stateVersion: isVersion ? version : null,
  }
}

/** The changed state within the answer to a poll. What this agent does not understand is left out: it requests the state by itself then. */
export const readOffer = (value: unknown): Offer | null => {
  const { state, whitelist } = unchecked<Reply<'GET /servers/{serverId}/commands/pending'>>(value)
  if (state === undefined) return null
  const offered = readOr(null, () => readDesiredState(state))
  if (offered === null || hasKnocks(offered.portknock)) return null
  const { version, text } = asFields(whitelist)
  const list = typeof version === 'string' && typeof text === 'string' ? { version, text } : null
  return { state: offered, list }
}

/** Whether the next poll may take something along. An older server does not say. */
export const readTurns = (value: unknown): boolean =>
  unchecked<Reply<'GET /servers/{serverId}/commands/pending'>>(value).turns === true

/** What is closed and opened depends on when the state was requested, which is long before a poll is answered. */
const hasKnocks = (portknock: unknown): boolean =>
  Object.values(asFields(portknock)).some(list => asList(list).length > 0)

export const readHeartbeat = (value: unknown): Orders & { interval: number } => {
  const interval = asInteger(unchecked<Heartbeat>(value).heartbeat_interval, defaultInterval)
  return { ...readOrders(value), interval: interval >= 1 && interval <= 3600 ? interval : defaultInterval }
}

const readCommand = (value: unknown): Command[] => {
  const { id, type, params, template, seal } = unchecked<Heartbeat['commands'][number]>(value)
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{1,100}$/.test(id)) return []
  if (typeof type !== 'string' || !/^[a-z-]{1,40}$/.test(type)) return []
  const fields = asFields(params)
  const command = { id, type, params: template === undefined ? fields : { ...fields, template } }
  return [seal === undefined ? command : { ...command, seal }]
}

/** @throws Error with a sentence, if the state makes no sense. */
export const readDesiredState = (value: unknown): DesiredState => {
  type State = Reply<'GET /agent/state'>
  const { version, whitelist, portknock, shield, move } = unchecked<State>(value)
  const { bans, lists } = unchecked<State['shield']>(shield)
  const fleet = unchecked<State['shield']['bans']>(bans)
  const list = unchecked<State['whitelist']>(whitelist)
  const state = {
    version: asText(version),
    whitelist: {
      version: asText(list.version),
      count: asInteger(list.count, -1),
      spread: Math.min(maxSpreadSeconds, Math.max(0, asInteger(list.spread_seconds, 0))),
    },
    portknock: portknock ?? null,
    lists:
      lists === undefined
        ? null
        : asList(lists).map(row => readDesiredList(unchecked<State['shield']['lists'][number]>(row))),
    move: readDesiredMove(move),
    fleetBans: bans === undefined ? null : { version: asInteger(fleet.version, 0), digest: asText(fleet.digest) },
  }
  if (state.version === '' || state.whitelist.version === '' || state.whitelist.count < 0)
    throw new Error('the server describes the desired state in a way that this agent does not understand')
  return state
}

const readDesiredMove = (value: unknown): DesiredMove | null => {
  const { revision, url } = unchecked<NonNullable<Reply<'GET /agent/state'>['move']>>(value)
  const order = { revision: asInteger(revision, 0), url: asText(url) }
  return order.revision > 0 && order.url !== '' && order.url.length <= 2048 ? order : null
}

const readDesiredList = (row: Unchecked<Reply<'GET /agent/state'>['shield']['lists'][number]>): DesiredList => {
  const { id, version, mode, entries, digest } = row
  const list = {
    id: asInteger(id, 0),
    version: asInteger(version, 0),
    entries: asInteger(entries, -1),
    digest: asText(digest),
  }
  if (list.id <= 0 || list.version <= 0 || list.entries < 0 || (mode !== 'enforce' && mode !== 'observe'))
    throw new Error('the server describes a blocklist in a way that this agent does not understand')
  return { ...list, mode }
}

/** @throws Error with a sentence, if the set makes no sense. */
export const readFleetSet = (value: unknown): FleetSet => {
  type Bans = Reply<'GET /agent/shield/bans'>
  const { version, full, digest, add, remove } = unchecked<Bans>(value)
  const set = {
    version: asInteger(version, 0),
    full: full === true,
    digest: asText(digest),
    add: asList(add).map(row => readFleetBan(unchecked<Bans['add'][number]>(row))),
    remove: asList(remove).filter(id => typeof id === 'number'),
  }
  if (set.version <= 0 && set.add.length > 0) throw new Error('the server gives fleet bans without a version')
  return set
}

const readFleetBan = ({
  id,
  entry,
  expires_at,
  force,
}: Unchecked<Reply<'GET /agent/shield/bans'>['add'][number]>): FleetBan => {
  const text = asText(entry)
  const isEnd = expires_at === null || (typeof expires_at === 'number' && Number.isSafeInteger(expires_at))
  if (!isEnd || typeof id !== 'number' || !Number.isSafeInteger(id) || canonicalIp(text) !== text)
    throw new Error('the server gives a fleet ban that this agent does not understand')
  return { id, entry: text, until: expires_at, isForced: force === true }
}

/** The rows of a reply to reported events; those without an id are left out. */
export const readEventResults = (value: unknown): RowResult[] => {
  type Replies = Reply<'POST /bans/batch'> & Reply<'POST /agent/knocks'>
  return asList(unchecked<Replies>(value).results).flatMap(row => {
    const { event_id, error } = unchecked<Replies['results'][number]>(row)
    return rowOf(event_id, error)
  })
}

export const readCommandResults = (value: unknown): RowResult[] => {
  type Results = Reply<'POST /agent/results'>
  return asList(unchecked<Results>(value).results).flatMap(row => {
    const { id, error } = unchecked<Results['results'][number]>(row)
    return rowOf(id, error)
  })
}

const rowOf = (id: unknown, error: unknown): RowResult[] =>
  typeof id === 'string' ? [{ id, error: typeof error === 'string' ? error : null }] : []

/** @throws Error with a sentence, if there is no id and key. */
export const readEnrolment = (value: unknown): Reply<'POST /agent/enroll'> => {
  const { server_id, api_key } = unchecked<Reply<'POST /agent/enroll'>>(value)
  const enrolled = { server_id: asText(server_id), api_key: asText(api_key) }
  if (!/^[A-Za-z0-9-]{1,64}$/.test(enrolled.server_id) || !/^[\x21-\x7e]{8,256}$/.test(enrolled.api_key))
    throw new Error('the server did not answer the enrolment with an id and a key')
  return enrolled
}

/** What a server says to prove itself. */
export interface AddressProof {
  readonly proof: string
  readonly knownAs: AddressOrigin
  readonly tlsKey: string | null
}
/** @throws Error with a sentence, if there is no proof. */
export const readAddressProof = (value: unknown): AddressProof => {
  const { proof, known_as, tls_key } = unchecked<Reply<'POST /agent/challenge'>>(value)
  const text = asText(proof)
  const knownAs = known_as === 'configuration' || known_as === 'settings' ? known_as : null
  const tlsKey = typeof tls_key === 'string' && /^sha256\/\/[A-Za-z0-9+/]{43}=$/.test(tls_key) ? tls_key : null
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error('the server does not prove that it knows this host')
  return { proof: text, knownAs, tlsKey }
}

/** What the server made of the bans in force. */
export interface Comparison {
  /** Ids of the bans that it does not know. */
  readonly unknown: readonly string[]
  /** Ids of the bans that it lists as ended. */
  readonly listedAsEnded: readonly string[]
  /** Bans that it ends after another comparison. */
  readonly pending: number
}
export const readComparison = (value: unknown): Comparison => {
  const { unknown, listed_as_ended, pending } = unchecked<Reply<'PUT /agent/active'>>(value)
  const idsIn = (list: unknown) => asList(list).filter(id => typeof id === 'string')
  return { unknown: idsIn(unknown), listedAsEnded: idsIn(listed_as_ended), pending: asInteger(pending, 0) }
}
