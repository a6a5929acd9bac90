import { bounds } from '@stockade/contract'
import { sliceOf } from '@stockade/contract/slices.ts'
import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import { badRequest, tooManyRequests } from '../../core/problem.ts'
import { inSlices } from '../../core/slices.ts'
import { jailText } from '../../core/text.ts'

/* What a host sends of the bans that it holds: when, how much, and whether it can be meant. */

/** Between two comparisons of the same bans of a host, at least. */
const interval = 10 * second
/** Between two slices of a host, at least. */
const sliceInterval = second
/** What was missing at one comparison counts for so long. */
const missedFor = 10 * minute

export interface Slice {
  readonly slice: number
  readonly of: number
}
export interface HeldBan {
  readonly eventId: string
  readonly jail: string
  /** In canonical text; as it came where it is no address. */
  readonly address: string
}

export const isIn = ({ slice, of }: Slice, ip: string): boolean => of === 1 || sliceOf(ip, of) === slice

/** @throws Problem 400 for what is there twice, or is in another slice: a host that cuts differently would have bans ended that it did not send */
export const heldBansOf = async (
  asked: Slice,
  bans: readonly { readonly event_id: string; readonly jail: string; readonly ip: string }[],
): Promise<HeldBan[]> => {
  const heldBans: HeldBan[] = []
  const eventIds = new Set<string>()
  const places = new Set<string>()
  await inSlices(bans, ({ event_id, jail, ip }) => {
    const range = parseRange(ip)
    const ban = { eventId: event_id.toLowerCase(), jail: jailText(jail), address: range?.text ?? ip }
    if (range !== null && !isIn(asked, ban.address))
      throw badRequest(`The address ${ip} does not belong to slice ${asked.slice} of ${asked.of}.`)
    if (eventIds.has(ban.eventId)) throw badRequest(`The event_id ${ban.eventId} is there twice.`)
    const place = `${ban.jail} ${ban.address}`
    if (places.has(place)) throw badRequest(`The address ${ip} is there twice in the jail ${jail}.`)
    eventIds.add(ban.eventId)
    places.add(place)
    heldBans.push(ban)
  })
  return heldBans
}

/** The last comparisons of a host, by slice. */
interface Compared {
  readonly of: number
  at: number
  readonly slices: Map<number, { readonly at: number; readonly banIds: ReadonlySet<number> }>
}

/** The pace of comparisons of each host, and what it did not hold at the last ones. */
export const createPace = (clock: Clock) => {
  const compared = new Map<number, Compared>()
  /** Bans that each host sent within the last interval, those of refused bodies too. */
  const sent = new Map<number, readonly { readonly at: number; readonly count: number }[]>()
  const isLate = ({ at }: { readonly at: number }) => clock() - at >= interval
  const refuseHaste = (last: Compared, { slice, of }: Slice) => {
    const isNextSlice = last.of === of && of > 1
    if (clock() - last.at < (isNextSlice ? sliceInterval : interval))
      throw tooManyRequests(interval / second, 'A server compares its bans once in ten seconds.')
    if (isNextSlice && clock() - (last.slices.get(slice)?.at ?? -Infinity) < interval)
      throw tooManyRequests(interval / second, 'A server compares a slice of its bans once in ten seconds.')
  }
  const spend = (serverNo: number, count: number) => {
    const before = (sent.get(serverNo) ?? []).filter(each => !isLate(each))
    let over = before.reduce((sum, each) => sum + each.count, count) - bounds.activeBansPerHost
    if (over > 0) {
      const last = before.find(each => (over -= each.count) <= 0)
      throw tooManyRequests(
        Math.ceil(((last?.at ?? clock()) + interval - clock()) / second),
        `A server compares at most ${bounds.activeBansPerHost} bans in ten seconds, in all slices together.`,
      )
    }
    sent.set(serverNo, [...before, { at: clock(), count }])
  }
  return {
    /** Takes the bans from what the host may send. @throws Problem 429 */
    admit(serverNo: number, asked: Slice, count: number): void {
      for (const [no, { at }] of compared) if (clock() - at > missedFor) compared.delete(no)
      for (const [no, all] of sent) if (all.every(isLate)) sent.delete(no)
      const last = compared.get(serverNo)
      if (last) refuseHaste(last, asked)
      spend(serverNo, count)
    },
    /** A comparison begins. Answers what the slices of the host lacked before. */
    begin(serverNo: number, { of }: Slice): Compared['slices'] {
      const last = compared.get(serverNo)
      // What other slices lacked says nothing of these.
      const next: Compared = last?.of === of ? last : { of, at: clock(), slices: new Map() }
      next.at = clock()
      compared.set(serverNo, next)
      return next.slices
    },
  }
}
