import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Listed } from './model.ts'

/** An address in a list of a sequence in the kernel, as far as the agent knows. */
export interface Member {
  readonly sequence: number
  readonly ip: string
  /** When it leaves the list, on the host's clock, epoch milliseconds. */
  until: number
  /** It stood in a state of the server. */
  listed: boolean
  /** The event that told of it, and when (on an even clock) the server had taken it; null as long as it has not. */
  event: string | null
  takenAt: number | null
}

/** More is still in the kernel, but would not be put back after a flush. */
const MOST = 20_000
/** The kernel's and the server's time of the same thing differ a little. */
const SAME = 1500
/** Not worth a trip to the kernel. */
const SHORTEST = 200

/** The members of one kind of list, of all sequences. */
export function createMembers(saved: unknown) {
  const members = new Map<string, Member>()
  for (const item of asList(saved).slice(0, MOST).map(asFields)) {
    const sequence = asInteger(item['sequence'], 0)
    const ip = asText(item['ip'])
    const event = asText(item['event']) || null
    const listed = item['listed'] === true
    // A time on an even clock means nothing to a later run: what was taken then was taken before it.
    const takenAt = typeof item['takenAt'] === 'number' ? 0 : null
    members.set(placeOf({ sequence, ip }), { sequence, ip, until: asInteger(item['until'], 0), listed, event, takenAt })
  }

  return {
    get: (sequence: number, ip: string): Member | undefined => members.get(placeOf({ sequence, ip })),
    /** It came into the list by what the address did. */
    arrived(member: Member): void {
      if (members.size < MOST || members.has(placeOf(member))) members.set(placeOf(member), { ...member })
    },
    left: (member: Listed | Member): void => void members.delete(placeOf(member)),
    /** The server has taken these events in. */
    taken(events: ReadonlySet<string>, at: number): void {
      for (const member of members.values()) if (member.event !== null && events.has(member.event)) member.takenAt = at
    },
    drop(gone: (member: Member) => boolean): void {
      for (const [place, member] of members) if (gone(member)) members.delete(place)
    },
    all: (): Member[] => [...members.values()],
    /**
     * What has to be done so that the list is as the server wants it. Times in `wanted` are of the host's clock. What the
     * server cannot know yet stays: `askedAt` is when (on the even clock) its state was asked for.
     */
    difference(wanted: readonly Listed[], now: number, askedAt: number): { put: Listed[]; take: Member[] } {
      const put = new Map<string, Listed>()
      const stays = new Set<string>()
      for (const want of wanted) {
        const place = placeOf(want)
        stays.add(place)
        const has = members.get(place)
        const until = Math.max(want.until, put.get(place)?.until ?? 0)
        if (until > now + SHORTEST && (!has || has.until + SAME < until)) put.set(place, { ...want, until })
        else if (has) has.listed = true
      }
      const take = [...members].flatMap(([place, member]) => {
        const known = member.listed || (member.takenAt !== null && member.takenAt < askedAt)
        return known && !stays.has(place) && member.until > now ? [member] : []
      })
      return { put: [...put.values()], take }
    },
  }
}

export type Members = ReturnType<typeof createMembers>

const placeOf = ({ sequence, ip }: { sequence: number; ip: string }): string => `${sequence}|${ip}`
