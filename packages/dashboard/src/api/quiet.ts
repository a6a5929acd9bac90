/* Whether this page asks for news by itself: not while the user has paused it. */

let paused = false
/** What else keeps the page quiet, such as a wish for little data. */
let spares: () => boolean = () => false

export const quiet = {
  isPaused: (): boolean => paused,
  setPaused(is: boolean): void {
    paused = is
  },
  spareWhen(wished: () => boolean): void {
    spares = wished
  },
  /** Whether nothing is asked for at intervals. */
  is: (): boolean => paused || spares(),
}

/** For `refetchInterval`: so often, in milliseconds, but never while the page is quiet. */
export const every = (pause: number) => (): number | false => (quiet.is() ? false : pause)
