import { useSyncExternalStore } from 'react'
import type { ProblemBody } from '@stockade/contract'
import { refusalIn } from './refusal.ts'
import { noting } from './requests.ts'

/* What is dangerous needs a fresh proof of who one is: whatever request is refused for want of it asks, and is sent again. */

type Methods = NonNullable<ProblemBody['step_up']>['methods']
export interface ProofAsked {
  /** In which ways it can be proved: each of them is enough. */
  readonly methods: Methods
  readonly answer: (proved: boolean) => void
}
let asked: (ProofAsked & { readonly answered: Promise<boolean> }) | null = null
const watchers = new Set<() => void>()
const tellAll = () => {
  for (const tell of watchers) tell()
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
/** What waits for an answer, if anything does. */
export const useProofAsked = (): ProofAsked | null => useSyncExternalStore(watch, () => asked)

/** Requests that are refused at the same time wait for one answer. */
const ask = (methods: Methods): Promise<boolean> => {
  if (asked) return asked.answered
  const { promise: answered, resolve } = Promise.withResolvers<boolean>()
  asked = {
    methods,
    answered,
    answer: proved => {
      asked = null
      tellAll()
      resolve(proved)
    },
  }
  tellAll()
  return answered
}

/** Sends a request, and once more when it was refused for want of a proof and somebody has given it. */
export const proving: typeof fetch = async (input, init) => {
  const reply = await noting(input, init)
  const methods = (await refusalIn(reply, 403))?.step_up?.methods
  return methods && watchers.size > 0 && (await ask(methods)) ? noting(input, init) : reply
}
