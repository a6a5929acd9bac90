import { useSyncExternalStore } from 'react'
import { ago, dayTime, exactTime, shortDate } from '../lib/time.ts'
import { useWords } from './now.ts'

let exact = false
const watchers = new Set<() => void>()
/** Relative or exact, for all times of the page. */
export const times = {
  toggle(): void {
    exact = !exact
    for (const tell of watchers) tell()
  },
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
export const useExact = (): boolean => useSyncExternalStore(watch, () => exact)

/** How long ago, with the exact time on hover; a click or tap shows all times of the page exactly. */
export const Time = ({ at }: { at: string }) => {
  const date = Date.parse(at)
  const all = useExact()
  const words = useWords(now => (all ? exactTime(date) : ago(date, now)))
  return (
    <time dateTime={at} title={exactTime(date)} onClick={times.toggle}>
      {words}
    </time>
  )
}

const Moment = ({ at, say }: { at: string; say: (date: number, now: number) => string }) => {
  const date = Date.parse(at)
  const words = useWords(now => say(date, now))
  return (
    <time dateTime={at} title={exactTime(date)}>
      {words}
    </time>
  )
}
/** `20 Nov 14:04`: what is also read on paper, or lies ahead. */
export const DatedTime = ({ at }: { at: string }) => <Moment at={at} say={shortDate} />
/** `14:04`, `yesterday 20:59`, `20 Nov 14:04`: after a word such as since. */
export const MomentTime = ({ at }: { at: string }) => <Moment at={at} say={dayTime} />
