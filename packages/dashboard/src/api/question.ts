import { createShared } from '../lib/shared.ts'

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
  const openQuestion = createShared<(Q & { readonly answer: (given: A) => void }) | null>(null)
  const refuse = () => openQuestion.get()?.answer(refusal)
  return {
    useAsked: openQuestion.use,
    refuse,
    ask(question) {
      refuse()
      return new Promise(resolve => {
        openQuestion.set({
          ...question,
          answer: given => {
            openQuestion.set(null)
            resolve(given)
          },
        })
      })
    },
  }
}
