import { useSyncExternalStore } from 'react'
import parts from './parts.module.css'

let text = ''
const watchers = new Set<() => void>()

/** Says something to those who listen to the page; the same words again are said again. */
export const announce = (words: string): void => {
  text = text === words ? `${words}\u00a0` : words
  for (const tell of watchers) tell()
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

export const Announcer = () => (
  <div className={parts.hidden} role="status" aria-live="polite">
    {useSyncExternalStore(watch, () => text)}
  </div>
)
