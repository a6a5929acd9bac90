import { unavailable } from '../../core/problem.ts'

/*
 * Hashing is dear on purpose, so it is done two at a time, and who waits for it is chosen: whoever is signed in, or comes from a
 * network that the account knows, goes first, and of strangers only so many wait at all.
 */

/** Sign-ins from unknown networks that are checked at the same time; the rest gets 429. */
const mostStrangers = 40
const atOnce = 2

const waiting: Record<'first' | 'later', (() => void)[]> = { first: [], later: [] }
let running = 0
let strangers = 0

/** Runs the work when its turn comes. */
export const inTurn = async <T>(work: () => Promise<T>, first: boolean): Promise<T> => {
  if (running >= atOnce) await new Promise<void>(resolve => waiting[first ? 'first' : 'later'].push(resolve))
  else running++
  try {
    return await work()
  } finally {
    const next = waiting.first.shift() ?? waiting.later.shift()
    // The slot passes to the next waiting caller.
    if (next) next()
    else running--
  }
}

/** Takes a place among strangers for as long as the work takes. @throws Problem 503 when there is none. */
export const amongStrangers = async <T>(work: () => Promise<T>): Promise<T> => {
  if (strangers >= mostStrangers)
    throw unavailable('Many sign-ins are being checked at this moment. Try again in some seconds.', 2)
  strangers++
  try {
    return await work()
  } finally {
    strangers--
  }
}
