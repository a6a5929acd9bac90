import { unapprovedBan } from '@stockade/contract/seal.ts'
import { overlaps } from '../ip.ts'
import type { Limits } from '../policy/format.ts'
import { errorText } from '../text.ts'
import { allowsNone, createBudget } from './budget.ts'
import { sizeOf } from './entry.ts'
import type { FleetJail } from './fleet-jail.ts'
import { endsOf } from './fleet-store.ts'
import type { FleetBan, FleetState } from './fleet-store.ts'
import type { ApprovedRanges } from './list-ranges.ts'
import { needsTrial, whyNotShield } from './refusals.ts'

export const maxReason = 200
export const trialFailed = 'the server could not be reached while it was banned'
const trialFailure = (reason: string | undefined): string | null => (reason === trialFailed ? reason : null)

type Reason = (entry: string) => string | null

export interface JudgeNeeds {
  jail: Pick<FleetJail, 'isUsed' | 'refusals'>
  /** What the owner allows; null: no fleet bans. @throws Error if that cannot be read */
  limits: () => Limits | null
  /** Wide ranges that an operator approved; null: none needs that. */
  approved: () => ApprovedRanges
  isWhitelisted: (entry: string) => boolean
  /** The host's own addresses, its gateways, its resolvers and the server. */
  neverBanned: () => readonly string[]
  loginSources: () => readonly string[]
}

/** Says which fleet bans this host refuses, and why: the reason by the entry. */
export const createJudge = (needs: JudgeNeeds) => {
  const { jail } = needs
  return (
    bans: ReadonlyMap<number, FleetBan>,
    { released, refused: before }: Pick<FleetState, 'released' | 'refused'>,
    isHeld: (entry: string) => boolean,
  ): Map<string, string> => {
    const refused = new Map<string, string>()
    const own = needs.neverBanned()
    const logins = needs.loginSources()
    const approved = needs.approved()
    const overPolicy = policyReasons(needs.limits, isHeld)
    const reasonOf = ({ entry, isForced }: FleetBan): string | null =>
      whyNotShield(entry, logins, isForced) ??
      (needs.isWhitelisted(entry) ? `${entry} is whitelisted, or holds a whitelisted address` : null) ??
      (own.some(address => overlaps(address, entry))
        ? `${entry} covers an address of this host, its gateway, its resolver or the Stockade server`
        : null) ??
      (released.has(entry) ? 'somebody released it on this host' : null) ??
      (approved !== null && needsTrial(entry) && !approved.has(entry) ? unapprovedBan(entry) : null) ??
      trialFailure(before.get(entry)) ??
      overPolicy(entry)
    // The oldest first: a new ban does not take the room of one that holds.
    for (const ban of [...bans.values()].sort((a, b) => a.id - b.id)) {
      const reason = reasonOf(ban)
      if (reason !== null) refused.set(ban.entry, reason.slice(0, maxReason))
    }
    if (jail.isUsed()) {
      const others = [...endsOf(bans.values()).keys()].filter(entry => !refused.has(entry))
      for (const [entry, reason] of jail.refusals(others)) refused.set(entry, reason)
    }
    return refused
  }
}

/** Judges entries one after the other by the policy, each beside those that were taken before. */
const policyReasons = (readLimits: () => Limits | null, isHeld: (entry: string) => boolean): Reason => {
  let limits: Limits | null
  try {
    limits = readLimits()
  } catch (error) {
    const unreadable = errorText(error)
    return entry => (isHeld(entry) ? null : unreadable)
  }
  if (limits === null) return () => allowsNone('fleet_bans')
  const budget = createBudget(limits, 'fleet_bans')
  const takenEntries = new Set<string>()
  return entry => {
    if (takenEntries.has(entry)) return null
    const reason = budget.take([{ ...sizeOf(entry), count: 1, sample: () => entry }])
    if (reason === null) takenEntries.add(entry)
    return reason
  }
}

/** Wide ranges stay out of the kernel until the host was seen to reach the server with them. */
export const untried = ({ bans, refused, confirmed }: FleetState): string[] => [
  ...new Set(
    [...bans.values()]
      .map(({ entry }) => entry)
      .filter(entry => needsTrial(entry) && !refused.has(entry) && !confirmed.has(entry)),
  ),
]
