import { invalid } from '../../core/problem.ts'

/** What a connection to a target is made of: its host first, then port, TLS and whatever else decides who can read it. */
export type TargetParts = readonly [host: string | null, ...rest: readonly unknown[]]

/**
 * A stored secret is for the target that it was entered for: whoever may change settings but does not know it must not be
 * able to have it sent elsewhere, nor in the clear. Answers the target that it is for from now on, as text; null for none.
 * @throws Problem 400 naming the field where it has to be sent again
 */
export const boundTarget = (
  field: string,
  secret: {
    /** Whether one is stored, and what of it came with the change: null takes it away. */
    readonly stored: boolean
    readonly given: string | null | undefined
    /** The target that it was entered for, where that was noted. */
    readonly noted: string | null
  },
  before: TargetParts,
  after: TargetParts,
): string | null => {
  const next = JSON.stringify(after)
  if (secret.given !== undefined) return secret.given === null || secret.given === '' ? null : next
  if (!secret.stored) return null
  if (secret.noted === null && next === JSON.stringify(before)) return null
  const bound = secret.noted ?? JSON.stringify(before)
  // While there is no host it goes nowhere; it stays bound to the one that was.
  if (after[0] === null || next === bound) return bound
  const parts: unknown = JSON.parse(bound)
  const host: unknown = Array.isArray(parts) ? parts[0] : null
  if (typeof host !== 'string') return next
  throw invalid(
    field,
    `${field} is stored for ${host} as it was set before. Send ${field} again, or null, with another host, port or TLS setting.`,
  )
}
