import type { Static } from 'typebox'
import type { settings } from '@stockade/contract'

/** One thing that was done on the way to another side. */
export type Step = Static<typeof settings.deliverySteps>[number]
/** Hears of every step once it is over; for endpoints that test a target. */
export type Note = (step: Step) => void

export interface Steps {
  /** The step is done; earlier steps without a report are done as well. */
  done(name: Step['name'], detail: string, ok?: boolean): void
  /** A step that may come or not, done just now. */
  also(name: Step['name'], detail: string): void
  /** What failed: the first one that is not done, unless named. Told once. */
  failed(detail: string, name?: Step['name']): void
}

/** Tells of the steps in their order, each with the milliseconds since the one before. */
export const stepsOf = (note: Note | undefined, order: readonly Step['name'][]): Steps => {
  const left = [...order]
  let since = performance.now()
  let over = note === undefined
  const tell = (name: Step['name'], ok: boolean, detail: string) => {
    const now = performance.now()
    note?.({ name, ok, ms: Math.round(now - since), detail })
    since = now
  }
  return {
    done(name, detail, ok = true) {
      const place = left.indexOf(name)
      if (over || place < 0) return
      for (const before of left.splice(0, place + 1))
        tell(before, before === name ? ok : true, before === name ? detail : '')
      over = !ok
    },
    also(name, detail) {
      if (!over) tell(name, true, detail)
    },
    failed(detail, name = left[0]) {
      if (over || name === undefined) return
      over = true
      tell(name, false, detail)
    },
  }
}
