import { readStored } from '../lib/stored.ts'

const key = 'stockade-entered'

/** Whether somebody was signed in here last: a guess, for which a wrong answer costs a few files or a moment. */
export const entered = {
  read: (): boolean => readStored('localStorage', key) === true,
  note(isSignedIn: boolean): void {
    try {
      if (isSignedIn) localStorage.setItem(key, 'true')
      else localStorage.removeItem(key)
    } catch {
      // Without a storage the page loads after the answer of the API, as at the first visit.
    }
  },
}
