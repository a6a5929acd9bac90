import { useSyncExternalStore } from 'react'
import { ago, exactTime } from '../lib/time.ts'
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
