import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readJson, writeDurably } from '../files.ts'
import { canonicalIp } from '../ip.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'

/** A fleet ban as the server gave it. */
export interface FleetBan {
  readonly id: number
  readonly entry: string
  /** In the server's time, epoch milliseconds; null: never. */
  readonly until: number | null
  /** Ban it even if somebody is logged in from there. */
  readonly isForced: boolean
}

/** What the host was given, and what became of it. */
export interface FleetState {
  /** A time of the server; 0: nothing was given yet. */
  readonly version: number
  readonly bans: ReadonlyMap<number, FleetBan>
  /** Entries that this host does not ban, with the reason. */
  readonly refused: ReadonlyMap<string, string>
  /** Entries that somebody released on this host. */
  readonly released: ReadonlySet<string>
  /** Wide ranges that passed their trial. */
  readonly confirmed: ReadonlySet<string>
}

export interface FleetStore {
  state(): FleetState
  /** On the disk when this returns. */
  put(next: FleetState): void
  /** The latest end of each entry that this host bans, in the server's time. */
  wanted(): ReadonlyMap<string, number | null>
}

const nothing: FleetState = {
  version: 0,
  bans: new Map(),
  refused: new Map(),
  released: new Set(),
  confirmed: new Set(),
}

export const laterEnd = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : Math.max(a, b)

/** The latest end of each entry. */
export const endsOf = (bans: Iterable<FleetBan>): Map<string, number | null> => {
  const ends = new Map<string, number | null>()
  for (const { entry, until } of bans) {
    const before = ends.get(entry)
    ends.set(entry, before === undefined ? until : laterEnd(before, until))
  }
  return ends
}

/** As in the contract: a line for each entry, in byte order. */
export const digestOf = (ends: ReadonlyMap<string, number | null>): string =>
  createHash('sha256')
    .update(
      [...ends.keys()]
        .sort()
        .map(entry => `${entry} ${ends.get(entry) ?? '-'}\n`)
        .join(''),
    )
    .digest('hex')

const fleetFile = (stateDirectory: string): string => join(stateDirectory, 'fleet-bans.json')

export const openFleetStore = (stateDirectory: string): FleetStore => {
  const path = fleetFile(stateDirectory)
  let state = readState(path)
  let desiredBans: ReadonlyMap<string, number | null> | null = null
  return {
    state: () => state,
    put(next) {
      writeDurably(path, textOf(next))
      state = next
      desiredBans = null
    },
    wanted() {
      desiredBans ??= endsOf([...state.bans.values()].filter(({ entry }) => !state.refused.has(entry)))
      return desiredBans
    },
  }
}

const textOf = ({ version, bans, refused, released, confirmed }: FleetState): string =>
  JSON.stringify({
    v: 1,
    version,
    bans: [...bans.values()].map(({ id, entry, until, isForced }) => [id, entry, until, isForced]),
    refused: [...refused],
    released: [...released],
    confirmed: [...confirmed],
  })

/** Absent or damaged: the host fetches everything again. */
const readState = (path: string): FleetState => {
  const fields = asFields(readJson(path))
  const rows = asList(fields['bans'])
  const bans = rows.flatMap(readRow)
  if (bans.length !== rows.length) return nothing
  const texts = (name: string): string[] => asList(fields[name]).filter(text => typeof text === 'string')
  return {
    version: asInteger(fields['version'], 0),
    bans: new Map(bans.map(ban => [ban.id, ban])),
    refused: new Map(
      asList(fields['refused']).map(row => {
        const [entry, reason] = asList(row)
        return [asText(entry), asText(reason)]
      }),
    ),
    released: new Set(texts('released')),
    confirmed: new Set(texts('confirmed')),
  }
}

const readRow = (row: unknown): FleetBan[] => {
  const [id, text, until, isForced] = asList(row)
  const entry = typeof text === 'string' ? canonicalIp(text) : null
  if (typeof id !== 'number' || entry === null || (until !== null && typeof until !== 'number')) return []
  return [{ id, entry, until, isForced: isForced === true }]
}
