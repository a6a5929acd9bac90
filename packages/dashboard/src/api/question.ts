import { useSyncExternalStore } from 'react'

/** A question that something outside of React asks, and that a dialog of the shell answers. */
export interface Question<Q, A> {
  /** The question that waits for an answer, if there is one. */
  readonly useAsked: () => (Q & { readonly answer: (given: A) => void }) | null
  /** Answers for somebody who closes the dialog or leaves the page. */
  readonly refuse: () => void
  /** Replaces the question before it, which counts as refused. */
  readonly ask: (question: Q) => Promise<A>
}
export const createQuestion = <Q extends object, A>(refusal: A): Question<Q, A> => {
  let asked: (Q & { readonly answer: (given: A) => void }) | null = null
  const watchers = new Set<() => void>()
  const set = (next: typeof asked) => {
    asked = next
    for (const tell of watchers) tell()
  }
  const watch = (tell: () => void) => {
    watchers.add(tell)
    return () => watchers.delete(tell)
  }
  const refuse = () => asked?.answer(refusal)
  return {
    useAsked: () => useSyncExternalStore(watch, () => asked),
    refuse,
    ask(question) {
      refuse()
      return new Promise(resolve => {
        set({
          ...question,
          answer: given => {
            set(null)
            resolve(given)
          },
        })
      })
    },
  }
}
