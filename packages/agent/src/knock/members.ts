import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Listed, Sequence } from './model.ts'
import { putScript, takeScript } from './rules.ts'
import type { ListName } from './rules.ts'

/** An address in a kernel list of a sequence, as far as the agent knows. */
export interface Member {
  readonly sequence: number
  readonly ip: string
  /** When it leaves the list, on the clock of `KnockTime`, epoch milliseconds. */
  until: number
  /** Whether a state of the server has named it. */
  listed: boolean
  /** The event that reported it, and when (on the steady clock) the server accepted that event; null until then. */
  event: string | null
  takenAt: number | null
}

/** Members beyond this number stay in the kernel, but are not put back after a flush. */
const maxMembers = 20_000
/** Tolerated difference between the kernel's and the server's end of the same membership, milliseconds. */
const endTolerance = 1500
/** A membership shorter than this is not worth a call of nft, milliseconds. */
const shortestMembership = 200

export interface Members {
  get(sequence: number, ip: string): Member | undefined
  /** An address entered the list. */
  arrived(member: Member): void
  left(member: Listed | Member): void
  /** The server has accepted these events. */
  taken(events: ReadonlySet<string>, at: number): void
  drop(isGone: (member: Member) => boolean): void
  all(): Member[]
  /**
   * What to add and remove so that the list matches `wanted`, whose times are on the same clock. Members that the
   * server cannot know yet stay: `askedAt` is when (on the steady clock) its state was requested.
   */
  difference(wanted: readonly Listed[], now: number, askedAt: number): { put: Listed[]; take: Member[] }
}

/** The members of one kind of list, for all sequences. `shift` is added to the ends that were saved. */
export const createMembers = (saved: unknown, shift = 0): Members => {
  const members = new Map<string, Member>()
  for (const item of asList(saved).slice(0, maxMembers).map(asFields)) {
    const sequence = asInteger(item['sequence'], 0)
    const ip = asText(item['ip'])
    const event = asText(item['event']) || null
    const listed = item['listed'] === true
    // The steady clock may have started again since: 0 is before every request of this run.
    const takenAt = typeof item['takenAt'] === 'number' ? 0 : null
    const until = asInteger(item['until'], 0) + shift
    members.set(placeOf({ sequence, ip }), { sequence, ip, until, listed, event, takenAt })
  }

  return {
    get: (sequence, ip) => members.get(placeOf({ sequence, ip })),
    arrived(member) {
      if (members.size < maxMembers || members.has(placeOf(member))) members.set(placeOf(member), { ...member })
    },
    left: member => void members.delete(placeOf(member)),
    taken(events, at) {
      for (const member of members.values()) if (member.event !== null && events.has(member.event)) member.takenAt = at
    },
    drop(isGone) {
      for (const [place, member] of members) if (isGone(member)) members.delete(place)
    },
    all: () => [...members.values()],
    difference(wanted, now, askedAt) {
      const put = new Map<string, Listed>()
      const wantedPlaces = new Set<string>()
      for (const want of wanted) {
        const place = placeOf(want)
        wantedPlaces.add(place)
        const present = members.get(place)
        const until = Math.max(want.until, put.get(place)?.until ?? 0)
        if (until > now + shortestMembership && (!present || present.until + endTolerance < until))
          put.set(place, { ...want, until })
        else if (present) present.listed = true
      }
      const take = [...members].flatMap(([place, member]) => {
        const isKnown = member.listed || (member.takenAt !== null && member.takenAt < askedAt)
        return isKnown && !wantedPlaces.has(place) && member.until > now ? [member] : []
      })
      return { put: [...put.values()], take }
    },
  }
}

const placeOf = ({ sequence, ip }: { sequence: number; ip: string }): string => `${sequence}|${ip}`

export const listNames = ['kill', 'open', 'block'] as const satisfies readonly ListName[]

/** The openings, blocks and cut connections of all sequences. */
export type Lists = Readonly<Record<ListName, Members>>

export const createLists = (saved: Readonly<Record<ListName, unknown>>, shift: number): Lists => ({
  open: createMembers(saved.open, shift),
  block: createMembers(saved.block, shift),
  kill: createMembers(saved.kill, shift),
})

/** The members that have not left their list, by list. */
export const lastingMembers = (lists: Lists, now: number): Readonly<Record<ListName, Member[]>> => {
  const lasting = (list: ListName): Member[] => lists[list].all().filter(({ until }) => until > now)
  return { open: lasting('open'), block: lasting('block'), kill: lasting('kill') }
}

/** The nft commands that put the current members of these sequences into empty sets, for the time that each has left. */
export const refillScript = (lists: Lists, sequences: readonly Sequence[], now: number): string[] =>
  listNames.flatMap(list =>
    lists[list]
      .all()
      .filter(({ sequence, until }) => until > now && sequences.some(({ id }) => id === sequence))
      .flatMap(({ sequence, ip, until }) => putScript(list, sequence, ip, until - now)),
  )

/** The nft commands that make the kernel's lists match `wanted`, and `commit`, which records that they were executed. */
export const listChanges = (
  lists: Lists,
  wanted: Readonly<Record<ListName, readonly Listed[]>>,
  now: number,
  askedAt: number,
): { lines: string[]; commit: () => void } => {
  const changes = listNames.map(list => ({ list, ...lists[list].difference(wanted[list], now, askedAt) }))
  return {
    lines: changes.flatMap(({ list, put, take }) => [
      ...take.flatMap(({ sequence, ip }) => takeScript(list, sequence, ip)),
      ...put.flatMap(({ sequence, ip, until }) => putScript(list, sequence, ip, until - now)),
    ]),
    commit() {
      for (const { list, put, take } of changes) {
        const members = lists[list]
        take.forEach(members.left)
        for (const { sequence, ip, until } of put) {
          const event = members.get(sequence, ip)?.event ?? null
          members.arrived({ sequence, ip, until, listed: true, event, takenAt: null })
        }
      }
    },
  }
}
