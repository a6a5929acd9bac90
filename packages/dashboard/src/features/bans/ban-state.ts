import type { StateWord } from '../../kit/state.tsx'
import type { Ending } from '../../lib/time.ts'

/** Hosts and service end a ban a moment apart: one that ended about when it was due has expired. */
const slack = 10_000

/** One word for what became of a ban. */
export const stateOf = (ban: Ending): Extract<StateWord, 'banned' | 'expired' | 'unbanned'> => {
  if (ban.active) return 'banned'
  if (ban.expires_at === null) return 'unbanned'
  if (ban.unbanned_at === null) return 'expired'
  return Date.parse(ban.unbanned_at) >= Date.parse(ban.expires_at) - slack ? 'expired' : 'unbanned'
}
