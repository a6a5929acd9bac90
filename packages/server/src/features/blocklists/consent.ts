import { conflict, forbidden } from '../../core/problem.ts'
import type { Principal } from '../../core/actor.ts'
import { requireProof } from '../../core/proof.ts'

/* Who may do what with lists, beyond what the contract says of endpoints. */

/** Sees URLs of sources with the tokens in them. */
export const isFullAdmin = ({ permission, servers }: Principal): boolean => permission === 'admin' && servers === 'all'

/**
 * A list of a private or loopback address makes Stockade ask services of its own network.
 *
 * @throws Problem 403 for all but administrators with access to all servers, or with `step_up`.
 */
export const guardPrivate = (actor: Principal): void => {
  if (!isFullAdmin(actor))
    throw forbidden(
      'Only an administrator with access to all servers may let a list be read from private and loopback addresses.',
    )
  requireProof(actor)
}

/** All that is said of a source that can't be read to who has access to some servers: more would tell what answers in the network of Stockade. */
export const unreadForLimited = 'The source can’t be read as a list. Somebody with access to all servers sees why.'

/** So many callers may look at sources at the same time. */
const mostAtOnce = 4
/** Lets each caller look at one source at a time. @throws Problem 409 */
export const createLookTurns = () => {
  const callers = new Set<string>()
  return async <T>(actor: Principal, look: () => Promise<T>): Promise<T> => {
    const caller = actor.kind === 'user' ? `user ${actor.userId}` : `key ${actor.keyId}`
    if (callers.has(caller))
      throw conflict('A source is being read for you already. Wait for its answer, and try again.')
    if (callers.size >= mostAtOnce)
      throw conflict('Sources are being read for others at this moment. Try again in some seconds.')
    callers.add(caller)
    try {
      return await look()
    } finally {
      callers.delete(caller)
    }
  }
}
