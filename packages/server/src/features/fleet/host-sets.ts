import { createHash } from 'node:crypto'
import type { ServerScope } from '../../core/actor.ts'
import { createSerial } from '../../core/serial.ts'
import { covers, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targets } from '../servers/targets.ts'
import { bansSince, readState, wantedSince } from './fleet.store.ts'
import type { FleetBanRow } from './fleet.store.ts'
import { fleetTagsSince } from './fleet-tags.store.ts'
import { createFleetTags } from './fleet-tags.ts'

/** What a difference can be made of: a host that was away for longer gets the whole set. */
const keptFor = 7 * day
/** Sets that are remembered: hosts with the same version and the same bans of their own share one. */
const mostSets = 256

/** A ban as hosts hear of it. */
export interface SetBan {
  readonly id: number
  readonly entry: string
  readonly end: number | null
  readonly force: boolean
}
interface KnownBan extends SetBan {
  readonly version: number
  readonly targets: Targets
  /** Every server that ever heard of it. */
  readonly reach: Targets
  readonly isRemoved: boolean
  readonly endedAt: number | null
}

/** What a host should hold. Bans that ended until `version`, a time, are not part of it. */
export interface HostSet {
  readonly version: number
  readonly bans: readonly SetBan[]
  readonly digest: string
}
export interface Difference {
  readonly full: boolean
  readonly add: readonly SetBan[]
  readonly remove: readonly number[]
}

/**
 * All fleet bans in memory, as one log of versions for all hosts: no query for what a host should hold. The version of a
 * host rises only with what concerns it.
 */
export interface HostSets {
  /** The version that a host should hold; 0 while nothing ever concerned it. */
  version(serverNo: number): number
  setFor(serverNo: number): HostSet
  /** The digest of a host's set without some bans. */
  digestWithout(serverNo: number, refused: ReadonlySet<number>): string
  /** What changed for a host after a version that it has; null: all of it. */
  since(serverNo: number, known: number | null): Difference
  /** Ids of the standing bans that cover an address, and where they hold. */
  covering(ip: IpRange): { readonly id: number; readonly targets: Targets }[]
  /** The version since which a ban of these targets concerns a server because of its tags. */
  joinedAt(targets: Targets, serverNo: number): number
  /** Takes over what was committed, here or elsewhere. */
  catchUp(): Promise<void>
  /** Called with the servers that have a new version. */
  onChange(listener: (servers: ServerScope) => void): void
}

export const createHostSets = async (needs: { db: Database; clock: Clock }): Promise<HostSets> => {
  const { db, clock } = needs
  const inTurn = createSerial()
  const listeners: ((servers: ServerScope) => void)[] = []
  const bans = new Map<number, KnownBan>()
  const desiredVersions = new Map<number, number>()
  const tags = createFleetTags()
  let last = 0
  let forAll = 0
  /** Of all servers, in byte order of the entries. */
  let common: KnownBan[] = []
  /** Of servers that are named, and of those with a tag. */
  let byServer = new Map<number, KnownBan[]>()
  let byTag = new Map<string, KnownBan[]>()
  const sets = new Map<string, HostSet>()

  const arrange = () => {
    sets.clear()
    const standing = [...bans.values()].filter(({ isRemoved }) => !isRemoved).sort(byEntry)
    common = standing.filter(({ targets }) => targets === 'all')
    byServer = new Map()
    byTag = new Map()
    for (const ban of standing) {
      if (ban.targets === 'all') continue
      for (const no of ban.targets.nos) addTo(byServer, no, ban)
      for (const tag of ban.targets.tags) addTo(byTag, tag, ban)
    }
  }
  const forget = () => {
    const before = clock() - keptFor
    for (const [id, { endedAt }] of bans) if (endedAt !== null && endedAt < before) bans.delete(id)
  }
  const version = (serverNo: number) => Math.max(forAll, desiredVersions.get(serverNo) ?? 0)
  /** The tags of the server that bans are for. */
  const usedTags = (serverNo: number) =>
    byTag.size === 0
      ? []
      : tags
          .tagsOf(serverNo)
          .filter(tag => byTag.has(tag))
          .sort()
  const bansOf = (serverNo: number, at: number): KnownBan[] => {
    const bansOfServer = byServer.get(serverNo) ?? []
    const used = usedTags(serverNo)
    // A ban of two tags of the server is one ban.
    const own =
      used.length === 0 ? bansOfServer : [...new Set([...bansOfServer, ...used.flatMap(tag => byTag.get(tag) ?? [])])]
    const all = own.length === 0 ? common : [...common, ...own].sort(byEntry)
    return all.filter(({ end }) => end === null || end > at)
  }
  const setFor = (serverNo: number): HostSet => {
    const at = version(serverNo)
    const own = byServer.get(serverNo)?.map(({ id }) => id) ?? []
    const key = `${at} ${own.join()} ${usedTags(serverNo).join()}`
    const knownSet = sets.get(key)
    if (knownSet) return knownSet
    const list = bansOf(serverNo, at)
    const set = { version: at, bans: list, digest: digestOf(list) }
    if (sets.size >= mostSets) sets.clear()
    sets.set(key, set)
    return set
  }
  /** Whether a host that knows a version must hear of the ban. */
  const isChanged = (ban: KnownBan, serverNo: number, known: number, members: ReadonlySet<number>) => {
    const { id, version: at, reach } = ban
    if (at > known && tags.concerns(reach, serverNo)) return true
    // The host heard of this removal.
    if (ban.isRemoved && at <= known) return false
    return reach !== 'all' && reach.tags.size > 0 && tags.hasChanged(serverNo, reach.tags, known, !members.has(id))
  }
  const take = async () => {
    const { version: seen, all_version } = await readState(db.read)
    if (seen === last) return
    // A restored backup or another database: everything is read again.
    const from = seen < last ? 0 : last
    if (from === 0) {
      bans.clear()
      desiredVersions.clear()
      tags.clear()
    }
    // What was committed after the state was read is left for the next time, so that a version never lacks its bans.
    const rows = (await bansSince(db.read, from, clock() - keptFor)).filter(row => row.version <= seen)
    const raised = (await wantedSince(db.read, from)).filter(row => row.wanted <= seen)
    tags.take((await fleetTagsSince(db.read, from)).filter(row => row.version <= seen))
    for (const row of rows) bans.set(row.id, knownOf(row))
    const forAllBefore = forAll
    last = seen
    forAll = all_version
    for (const { server_no, wanted: at } of raised) desiredVersions.set(server_no, at)
    forget()
    arrange()
    const servers = forAll === forAllBefore ? new Set(raised.map(({ server_no }) => server_no)) : 'all'
    for (const listener of listeners) listener(servers)
  }
  await take()

  return {
    version,
    setFor,
    digestWithout(serverNo, refused) {
      if (refused.size === 0) return setFor(serverNo).digest
      const { bans: list } = setFor(serverNo)
      const entries = new Set(list.filter(({ id }) => refused.has(id)).map(({ entry }) => entry))
      return digestOf(list.filter(({ entry }) => !entries.has(entry)))
    },
    since(serverNo, known) {
      const set = setFor(serverNo)
      if (known === null || known > set.version || known < clock() - keptFor)
        return { full: true, add: set.bans, remove: [] }
      if (known === set.version) return { full: false, add: [], remove: [] }
      const members = new Set(set.bans.map(({ id }) => id))
      const changed = [...bans.values()].filter(ban => isChanged(ban, serverNo, known, members))
      return {
        full: false,
        add: changed.filter(({ id }) => members.has(id)),
        remove: changed.filter(({ id }) => !members.has(id)).map(({ id }) => id),
      }
    },
    covering(ip) {
      const now = clock()
      return [...bans.values()].flatMap(({ id, entry, end, isRemoved, targets }) => {
        if (isRemoved || (end !== null && end <= now)) return []
        const range = parseRange(entry)
        return range && covers(range, ip) ? [{ id, targets }] : []
      })
    },
    joinedAt: tags.since,
    catchUp: () => inTurn(take),
    onChange: listener => void listeners.push(listener),
  }
}

const addTo = <K>(lists: Map<K, KnownBan[]>, key: K, ban: KnownBan): void => {
  const list = lists.get(key)
  if (list) list.push(ban)
  else lists.set(key, [ban])
}

const knownOf = (row: FleetBanRow): KnownBan => ({
  id: row.id,
  entry: row.entry,
  end: row.expires_at,
  force: row.force === 1,
  version: row.version,
  targets: targetsOf(row.target),
  reach: targetsOf(row.reach),
  isRemoved: row.ended_by === 'removed',
  endedAt: row.ended_at ?? row.expires_at,
})

/** Entries are ASCII, so the order of code units is that of bytes. */
const byEntry = (a: SetBan, b: SetBan): number => (a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : a.id - b.id)

/** The digest of the contract, over bans in byte order of their entries. */
const digestOf = (sorted: readonly Pick<SetBan, 'entry' | 'end'>[]): string => {
  const hash = createHash('sha256')
  let lines = ''
  for (let index = 0; index < sorted.length;) {
    const { entry } = sorted[index] ?? { entry: '' }
    let end: number | null = 0
    for (; sorted[index]?.entry === entry; index++) end = later(end, sorted[index]?.end ?? null)
    lines += `${entry} ${end ?? '-'}\n`
  }
  return hash.update(lines).digest('hex')
}
const later = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : Math.max(a, b))
