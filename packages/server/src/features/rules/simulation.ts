import { setImmediate as turn } from 'node:timers/promises'
import { dayOf } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { createEvaluator } from './evaluator.ts'
import type { JudgedMatch, RuleLogic, SeenBan } from './evaluator.ts'
import { bansInOrder, timeOfNewest } from './rules.store.ts'

/** What a rule would have done. */
export interface Simulated {
  readonly from: number
  readonly to: number
  readonly isComplete: boolean
  readonly bansRead: number
  readonly matches: readonly JudgedMatch[]
  /** Bans of the rule whose address then came to a server of the target, by the id of the ban that matched. */
  readonly returned: ReadonlySet<number>
  /** Bans that would have come too late, by server. */
  readonly spared: ReadonlyMap<number, number>
  readonly trippedAt: number | null
}

/** More than this is not read: it takes about ten seconds. */
const mostBans = 5_000_000
/** Rows that are read and decided before others have their turn: about 10 ms. */
const page = 5000

export const simulate = async (
  db: Pick<Database, 'scan' | 'read'>,
  rule: {
    readonly logic: RuleLogic
    /** Whether a server is where the rule bans. */
    readonly isTargeted: (serverNo: number) => boolean
    readonly refusal: (entry: string) => string | null
  },
  span: { readonly from: number; readonly to: number },
): Promise<Simulated> => {
  const { logic } = rule
  const oldest = await timeOfNewest(db.scan, mostBans)
  const from = Math.max(span.from, oldest ?? 0)
  const evaluator = createEvaluator([logic], (_, entry) => rule.refusal(entry))
  const matches: JudgedMatch[] = []
  const standing = new Map<string, number>()
  const returned = new Set<number>()
  const spared = new Map<number, number>()
  let trippedAt: number | null = null
  let bansRead = 0

  const takeIn = (ban: SeenBan) => {
    if (rule.isTargeted(ban.serverNo) && evaluator.isBanned(logic.id, ban)) {
      const matched = standing.get(textOf(ban.ip))
      if (matched !== undefined) {
        returned.add(matched)
        spared.set(ban.serverNo, (spared.get(ban.serverNo) ?? 0) + 1)
      }
    }
    for (const match of evaluator.take(ban)) {
      matches.push(match)
      if (match.outcome === 'banned') standing.set(textOf(ban.ip), match.banId)
      else standing.delete(textOf(ban.ip))
      if (match.outcome === 'tripped') trippedAt = match.at
    }
  }

  const bounds = { from, to: span.to, belowId: Number.MAX_SAFE_INTEGER }
  for await (const bans of bansInOrder(db.scan, bounds, page)) {
    bansRead += bans.length
    for (const ban of bans) takeIn(ban)
    await turn()
  }
  return { ...span, from, isComplete: from === span.from, bansRead, matches, returned, spared, trippedAt }
}

/** IPv6 addresses of a /64 are one. */
const textOf = (ip: Uint8Array): string => Buffer.from(ip.buffer, ip.byteOffset, Math.min(8, ip.length)).toString('hex')

/** Bans and returned ones by day. */
export const byDay = ({ matches, returned }: Simulated): readonly { day: number; bans: number; returned: number }[] => {
  const days = new Map<number, { day: number; bans: number; returned: number }>()
  for (const { outcome, at, banId } of matches) {
    if (outcome !== 'banned') continue
    const day = days.get(dayOf(at)) ?? { day: dayOf(at), bans: 0, returned: 0 }
    days.set(day.day, { ...day, bans: day.bans + 1, returned: day.returned + (returned.has(banId) ? 1 : 0) })
  }
  return [...days.values()].sort((a, b) => a.day - b.day)
}
