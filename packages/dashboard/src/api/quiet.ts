import { preferences } from '../lib/preferences.ts'

/* Whether this page asks for news by itself: not while the user has paused it, nor where data is dear. */

let paused = false

export const quiet = {
  isPaused: (): boolean => paused,
  setPaused(is: boolean): void {
    paused = is
  },
  /** Whether nothing is asked for at intervals. */
  is: (): boolean => paused || preferences.read().reduced,
}

/** For `refetchInterval`: so often, in milliseconds, but never while the page is quiet. */
export const every = (pause: number) => (): number | false => (quiet.is() ? false : pause)
