import { bounds } from '@stockade/contract/limits.ts'
import { canonicalIp, isCidr } from '../ip.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Fields } from '../json.ts'

/** A knock sequence as the rules need it. `parseKnock` guarantees that every number is whole and in range. */
export interface Sequence {
  readonly id: number
  readonly revision: number
  readonly protectedPort: number
  /** Two to ten, no two neighbours equal, the protected port not among them. */
  readonly knockPorts: readonly number[]
  readonly protocol: 'tcp' | 'udp'
  /** Seconds that the port stays open for an address. */
  readonly timeout: number
  /** Seconds within which the whole sequence must be knocked. */
  readonly knockTimeout: number
  readonly maxAttempts: number
  /** Seconds. */
  readonly blockDuration: number
}

/** A canonical address in a list of a sequence. `until` is the server's time, epoch milliseconds. */
export interface Listed {
  readonly sequence: number
  readonly ip: string
  readonly until: number
}
export interface ListedOpening extends Listed {
  readonly id: string
}

/** What the server wants of port knocking, as far as it is valid. */
export interface KnockState {
  readonly sequences: readonly Sequence[]
  /** Invalid sequences, with the sentence that is reported to the server. */
  readonly faults: readonly { readonly id: number; readonly revision: number; readonly error: string }[]
  readonly openings: readonly ListedOpening[]
  readonly blocked: readonly Listed[]
  readonly cuts: readonly Listed[]
}

export const noKnockState: KnockState = { sequences: [], faults: [], openings: [], blocked: [], cuts: [] }

const maxSequences = 1000
const maxListed = 10_000
/** In the event sets, the id shares 32 bits with the kind of the event (`markOf`). */
const highestId = 2 ** 28

/** Reads an untrusted state: only numbers in range and canonical addresses pass. */
export const parseKnock = (value: unknown): KnockState => {
  const fields = asFields(value)
  const sequences: Sequence[] = []
  const faults: { id: number; revision: number; error: string }[] = []
  const ids = new Set<number>()
  for (const item of asList(fields['sequences']).slice(0, maxSequences).map(asFields)) {
    const id = within(item['id'], 1, highestId)
    if (id === null || ids.has(id)) continue
    ids.add(id)
    const revision = within(item['revision'], 0, Number.MAX_SAFE_INTEGER) ?? 0
    const read = parseSequence(item, id, revision)
    if (typeof read === 'string') faults.push({ id, revision, error: read })
    else sequences.push(read)
  }
  const listed = (key: string): Listed[] =>
    asList(fields[key]).slice(0, maxListed).map(asFields).map(parseListed).filter(isThere)
  const openings = asList(fields['openings'])
    .slice(0, maxListed)
    .map(asFields)
    .map(item => {
      const opening = parseListed(item)
      const id = asText(item['id'])
      return opening !== null && /^[0-9A-Fa-f-]{36}$/.test(id) ? { ...opening, id } : null
    })
    .filter(isThere)
  return { sequences, faults, openings, blocked: listed('blocked'), cuts: listed('cuts') }
}

/** The sequence, or a sentence that says what is invalid. */
const parseSequence = (item: Fields, id: number, revision: number): Sequence | string => {
  const protectedPort = port(item['protected_port'])
  if (protectedPort === null) return 'protected_port is not a port from 1 to 65535'
  const ports = asList(item['knock_ports']).map(port)
  const knockPorts = ports.filter(isThere)
  if (knockPorts.length !== ports.length || ports.length < 2 || ports.length > 10)
    return 'knock_ports are not two to ten ports from 1 to 65535'
  if (knockPorts.some((each, i) => each === knockPorts[i + 1])) return 'two neighbouring knock ports are equal'
  if (knockPorts.includes(protectedPort)) return 'the protected port is one of the knock ports'
  const protocol = item['protocol']
  if (protocol !== 'tcp' && protocol !== 'udp') return 'protocol is neither tcp nor udp'
  const timeout = within(item['timeout'], 1, 86_400)
  if (timeout === null) return 'timeout is not from 1 to 86400 seconds'
  const knockTimeout = within(item['knock_timeout'], 1, 300)
  if (knockTimeout === null) return 'knock_timeout is not from 1 to 300 seconds'
  const maxAttempts = within(item['max_attempts'], 1, 100)
  if (maxAttempts === null) return 'max_attempts is not from 1 to 100'
  const blockDuration = within(item['block_duration'], 1, bounds.seconds)
  if (blockDuration === null) return `block_duration is not from 1 to ${bounds.seconds} seconds`
  return { id, revision, protectedPort, knockPorts, protocol, timeout, knockTimeout, maxAttempts, blockDuration }
}

const parseListed = (item: Fields): Listed | null => {
  const sequence = within(item['sequence_id'], 1, highestId)
  const ip = canonicalIp(asText(item['ip']))
  const until = Date.parse(asText(item['expires_at']))
  if (sequence === null || ip === null || isCidr(ip) || Number.isNaN(until)) return null
  return { sequence, ip, until }
}

/** Identifies the rules of a sequence: sequences that differ only in their revision have the same rules. */
export const definition = ({ revision: _, ...rest }: Sequence): string => JSON.stringify(rest)

const port = (value: unknown): number | null => within(value, 1, 65_535)

const within = (value: unknown, least: number, most: number): number | null => {
  const number = asInteger(value, -1)
  return number >= least && number <= most ? number : null
}

const isThere = <T>(value: T | null): value is T => value !== null
