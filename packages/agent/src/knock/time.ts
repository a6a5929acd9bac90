import { bootOfHost, createEvenTime } from '../clock.ts'
import type { Clocks } from '../clock.ts'
import { asFields, asInteger, asText } from '../json.ts'

/**
 * The clock of all ends of port knocking. The kernel counts the time that an address has left; nobody sets its clock. With ends on the
 * host's clock, a step of an hour would close an opening early or put it back for an hour too long.
 */
export interface KnockTime {
  /** The host's time as if nobody set its clock since the agent started, epoch milliseconds. */
  now(): number
  /** A time of `now` as the host's clock tells it. */
  onClock(at: number): number
  /** A time of the server as a time of `now`. */
  ofServer(at: number): number
  /** What `shiftSince` needs to read ends of this run in the next one. */
  save(): Record<string, unknown>
  /** What to add to ends that were saved with this, so that the time left is right. */
  shiftSince(saved: unknown): number
}

export const createKnockTime = (
  needs: Clocks & {
    /** The server's clock minus ours, milliseconds; null before it has answered. */
    clockOffset: () => number | null
    /** Changes with each start of the host. */
    boot?: string
  },
): KnockTime => {
  const even = createEvenTime(needs)
  const boot = needs.boot ?? bootOfHost()

  /** Milliseconds since the save. After a start of the host only its clock tells, and a clock without a battery may be behind. */
  const elapsedSince = (saved: Readonly<Record<string, unknown>>): number => {
    const isSameBoot = boot !== '' && asText(saved['boot']) === boot
    const elapsed = isSameBoot
      ? needs.steadyNow() - asInteger(saved['steady'], 0)
      : needs.now() - asInteger(saved['wall'], 0)
    return Math.max(0, elapsed)
  }

  return {
    now: even.now,
    onClock: even.onClock,
    ofServer: at => even.now() + at - (needs.now() + (needs.clockOffset() ?? 0)),
    save: () => ({
      boot,
      steady: Math.round(needs.steadyNow()),
      wall: Math.round(needs.now()),
      even: Math.round(even.now()),
    }),
    shiftSince(saved) {
      const fields = asFields(saved)
      // An agent before this one saved ends on the host's clock.
      if (typeof fields['even'] !== 'number') return 0
      return even.now() - elapsedSince(fields) - asInteger(fields['even'], 0)
    },
  }
}
