import { useSyncExternalStore } from 'react'

/* One clock for the page. It ticks once a second while the page is seen; what shows a time renders when its words change. */

let now = Date.now()
let ticking: ReturnType<typeof setInterval> | undefined
const watchers = new Set<() => void>()
const tick = () => {
  if (document.visibilityState !== 'visible') return
  now = Date.now()
  for (const tell of watchers) tell()
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  ticking ??= setInterval(tick, 1000)
  return () => {
    watchers.delete(tell)
    if (watchers.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}

/** Words made of the present time; the component renders again only when they change. */
export const useWords = <T extends string | number | boolean>(words: (now: number) => T): T =>
  useSyncExternalStore(watch, () => words(Math.max(now, Date.now() - 1000)))
