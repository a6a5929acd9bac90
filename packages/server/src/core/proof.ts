import type { ProofMethod } from '@stockade/contract'
import { times } from '@stockade/contract/limits.ts'
import type { Principal } from './actor.ts'
import { Problem } from './problem.ts'

/**
 * What a stolen cookie must not be enough for: a session by cookie proves again who it is once its last proof is older than
 * a quarter of an hour. `null` where nothing is to be proved: keys, tokens made by a sign-in, and fresh sessions.
 */
export const proofRefusal = (actor: Principal): Problem | null =>
  actor.kind === 'user' && actor.mustProve
    ? new Problem(
        403,
        'Forbidden',
        `This needs a proof of identity from the last ${times.proof / 60} minutes. ${waysOf(actor.mustProve)}`,
        { reason: 'proof-required', extra: { step_up: { methods: actor.mustProve } } },
      )
    : null

/** For what depends on the content of a request. @throws Problem 403 with `step_up`. */
export const requireProof = (actor: Principal): void => {
  const refused = proofRefusal(actor)
  if (refused) throw refused
}

const waysOf = (methods: readonly ProofMethod[]): string =>
  methods.some(method => method === 'password' || method === 'totp')
    ? 'Send your password or a code to POST /api/v1/auth/step-up, then repeat the request.'
    : 'Sign in again, then repeat the request.'
