import type { ProblemBody } from '@stockade/contract'
import { createShared } from '../lib/shared.ts'
import { refusalIn } from './refusal.ts'
import { noting } from './requests.ts'

/* What is dangerous needs a fresh proof of who one is: whatever request is refused for want of it asks, and is sent again. */

type Methods = NonNullable<ProblemBody['step_up']>['methods']
export interface ProofAsked {
  /** In which ways it can be proved: each of them is enough. */
  readonly methods: Methods
  readonly answer: (proved: boolean) => void
}
const openQuestion = createShared<(ProofAsked & { readonly answered: Promise<boolean> }) | null>(null)
/** What waits for an answer, if anything does. */
export const useProofAsked: () => ProofAsked | null = openQuestion.use

/** Requests that are refused at the same time wait for one answer. */
const ask = (methods: Methods): Promise<boolean> => {
  const before = openQuestion.get()
  if (before) return before.answered
  const { promise: answered, resolve } = Promise.withResolvers<boolean>()
  openQuestion.set({
    methods,
    answered,
    answer: proved => {
      openQuestion.set(null)
      resolve(proved)
    },
  })
  return answered
}

/** Sends a request, and once more when it was refused for want of a proof and somebody has given it. */
export const proving: typeof fetch = async (input, init) => {
  const reply = await noting(input, init)
  const methods = (await refusalIn(reply, 403))?.step_up?.methods
  return methods && openQuestion.isWatched() && (await ask(methods)) ? noting(input, init) : reply
}
