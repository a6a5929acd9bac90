import * as fs from 'node:fs'
import { join } from 'node:path'
import { checkBaseUrl, loadIdentity } from '../config.ts'
import type { Identity } from '../config.ts'
import { readJson, removeDurably, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Options } from '../options.ts'

/** Where the server is reached, and the pins of its key there. */
export interface Place {
  readonly url: string
  readonly pins: readonly string[]
}

/** The order to use another address, and how far this host is. */
export interface MoveRecord extends Place {
  readonly revision: number
  /** `ordered`: nothing was tried yet. `failed`: it is tried again later. */
  readonly state: 'ordered' | 'trying' | 'moved' | 'failed'
  readonly reason: string | null
  /** Where the host had moved to before this order; null: it uses the address of `agent.json`. */
  readonly held: Place | null
  /** What `agent.json` said when the order came. The record is void once that says something else. */
  readonly serverId: string
  readonly from: string
}

/** What the host tells the server of an order. */
export interface MoveReport {
  readonly revision: number
  readonly state: 'trying' | 'moved' | 'failed'
  readonly reason: string | null
}

const states = ['ordered', 'trying', 'moved', 'failed'] as const
const fileIn = (stateDirectory: string): string => join(stateDirectory, 'move.json')

/** The record that belongs to this enrolment and base URL; null if there is none. */
export const readMove = (
  stateDirectory: string,
  { server_id, base_url }: Pick<Identity, 'server_id' | 'base_url'>,
): MoveRecord | null => {
  const fields = asFields(readJson(fileIn(stateDirectory)))
  const place = placeOf(fields)
  const state = states.find(name => name === fields['state'])
  const revision = asInteger(fields['revision'], 0)
  if (fields['serverId'] !== server_id || fields['from'] !== base_url || !place || !state || revision < 1) return null
  return {
    ...place,
    revision,
    state,
    reason: typeof fields['reason'] === 'string' ? fields['reason'] : null,
    held: placeOf(asFields(fields['held'])),
    serverId: server_id,
    from: base_url,
  }
}

const placeOf = (fields: Readonly<Record<string, unknown>>): Place | null => {
  const url = asText(fields['url'])
  return url === '' ? null : { url, pins: asList(fields['pins']).map(pin => asText(pin)) }
}

/** The agent's unit can't write `agent.json`, so the record stands with the agent's other state. */
export const saveMove = (stateDirectory: string, record: MoveRecord): void =>
  writeDurably(fileIn(stateDirectory), `${JSON.stringify(record, null, 2)}\n`)

export const removeMove = (stateDirectory: string): void => {
  const file = fileIn(stateDirectory)
  if (fs.existsSync(file)) removeDurably(file)
}

/** The address that this host's administrator fixed; null for none. @throws Error with a sentence */
export const fixedUrl = (env: NodeJS.ProcessEnv): string | null => {
  const text = (env['STOCKADE_BASE_URL'] ?? '').trim()
  return text === '' ? null : checkBaseUrl(text)
}

/** Where the host moved to for good; null: it uses the address of `agent.json`. */
export const heldPlace = (record: MoveRecord | null): Place | null =>
  record?.state === 'moved' ? { url: record.url, pins: record.pins } : (record?.held ?? null)

/**
 * The identity with the address that holds: that of `STOCKADE_BASE_URL`, else the one that the host moved to, else that of `agent.json`.
 *
 * @throws Error with a sentence
 */
export const presentIdentity = (
  { config, state }: Pick<Options, 'config' | 'state'>,
  env: NodeJS.ProcessEnv,
): Identity => {
  const identity = loadIdentity(config)
  const fixed = fixedUrl(env)
  if (fixed !== null) return { ...identity, base_url: fixed }
  const storedPlace = heldPlace(readMove(state, identity))
  return storedPlace === null ? identity : { ...identity, base_url: storedPlace.url, pins: storedPlace.pins }
}
