import type { Leaving } from '@stockade/contract'
import type { Principal } from './actor.ts'
import { conflict } from './problem.ts'

/*
 * What a credential leaves behind has a bound: that of all, and within it a share of whoever has access to some servers only. The contract names both for each
 * endpoint that adds something (`leaves`).
 */

/** Of what the whole fleet has, somebody with access to some servers makes so many at most. */
const shareOf = (most: number): number => Math.floor(most / 10)

/** Who left something, as it is stored beside it. The keys of a user are that user. */
export const creatorOf = ({ userId, ...actor }: Principal): string => {
  if (userId !== null) return `user:${userId}`
  return actor.kind === 'key' ? `key:${actor.keyId}` : ''
}

/**
 * Refuses what is beyond a bound. Call it inside the change that adds, so that two requests at a time do not both fit.
 * @param standing how many there are, and how many of them the caller made; of more than one that are added, `added`
 * @throws Problem 409
 */
export const admit = (
  { what, most }: Pick<Leaving, 'what' | 'most'>,
  standing: { readonly all: number; readonly own?: number },
  actor?: Principal,
  added = 1,
): void => {
  if (standing.all + added > most)
    throw conflict(
      `There are ${standing.all} ${what}, and there may be at most ${most}. Remove some that are not needed first.`,
    )
  const share = shareOf(most)
  if (actor !== undefined && actor.servers !== 'all' && (standing.own ?? 0) + added > share)
    throw conflict(
      `You have made ${standing.own ?? 0} ${what} that stand: with access to some servers these may be at most ${share}, a tenth of all.`,
    )
}
