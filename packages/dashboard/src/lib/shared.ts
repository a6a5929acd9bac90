import { useSyncExternalStore } from 'react'

/** A value outside of React: components that read it by `use` render again when it is set. */
export const createShared = <T>(first: T) => {
  let value = first
  const watchers = new Set<() => void>()
  const watch = (tell: () => void) => {
    watchers.add(tell)
    return (): void => void watchers.delete(tell)
  }
  return {
    get: (): T => value,
    set(next: T): void {
      value = next
      for (const tell of watchers) tell()
    },
    /** Tells of each change; returns what ends that. */
    watch,
    use: (): T => useSyncExternalStore(watch, () => value),
    /** Whether a component reads it now. */
    isWatched: (): boolean => watchers.size > 0,
  }
}
