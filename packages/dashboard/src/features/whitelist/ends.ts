import { ending, localInput } from '../../lib/time.ts'

/** When an entry is to lift itself, as it is chosen; `until` is what a field for a moment gives, in the browser's zone. */
export const endKinds = ['never', 'hour', 'day', 'week', 'until'] as const
export type EndKind = (typeof endKinds)[number]
export interface End {
  readonly kind: EndKind
  readonly until: string
}

const lengths = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const
/** What the service takes at most. */
const furthest = 10 * 365 * 86_400_000

/** The end as the service takes it, null for never; undefined where what was typed is no time between now and ten years ahead. */
export const endAt = ({ kind, until }: End, now = Date.now()): string | null | undefined => {
  if (kind === 'never') return null
  const at = kind === 'until' ? Date.parse(until) : now + lengths[kind]
  return at > now && at <= now + furthest ? new Date(at).toISOString() : undefined
}

/** For ever, with an hour from now as what `until` begins with. */
export const noEnd = (): End => ({ kind: 'never', until: localInput(Date.now() + lengths.hour).slice(0, 16) })

/** What is left of an entry in words, such as `59 min left`; `forEver` for one without an end. */
export const endWords = (expiresAt: string | null, forEver: string, now: number): string =>
  expiresAt === null
    ? forEver
    : ending({ active: true, banned_at: '', ban_duration: null, expires_at: expiresAt, unbanned_at: null }, now)
