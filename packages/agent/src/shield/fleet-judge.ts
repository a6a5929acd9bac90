import { overlaps } from '../ip.ts'
import type { FleetJail } from './fleet-jail.ts'
import { endsOf } from './fleet-store.ts'
import type { FleetBan, FleetState } from './fleet-store.ts'
import { needsTrial, whyNotShield } from './refusals.ts'

export const maxReason = 200
export const trialFailed = 'the server could not be reached while it was banned'
const trialFailure = (reason: string | undefined): string | null => (reason === trialFailed ? reason : null)

/** Says which fleet bans this host refuses, and why: the reason by the entry. */
export const createJudge = (needs: {
  jail: Pick<FleetJail, 'isUsed' | 'refusals'>
  isWhitelisted: (entry: string) => boolean
  neverBanned: () => readonly string[]
  loginSources: () => readonly string[]
}) => {
  const { jail } = needs
  return (
    bans: ReadonlyMap<number, FleetBan>,
    { released, refused: before }: Pick<FleetState, 'released' | 'refused'>,
  ): Map<string, string> => {
    const refused = new Map<string, string>()
    const own = needs.neverBanned()
    const logins = needs.loginSources()
    for (const { entry, isForced } of bans.values()) {
      const reason =
        whyNotShield(entry, logins, isForced) ??
        (needs.isWhitelisted(entry) ? `${entry} is whitelisted, or holds a whitelisted address` : null) ??
        (own.some(address => overlaps(address, entry))
          ? `${entry} covers an address of this host, its gateway, its resolver or the Stockade server`
          : null) ??
        (released.has(entry) ? 'somebody released it on this host' : null) ??
        trialFailure(before.get(entry))
      if (reason !== null) refused.set(entry, reason.slice(0, maxReason))
    }
    if (jail.isUsed()) {
      const others = [...endsOf(bans.values()).keys()].filter(entry => !refused.has(entry))
      for (const [entry, reason] of jail.refusals(others)) refused.set(entry, reason)
    }
    return refused
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
