import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 599px)')
const narrow = matchMedia('(max-width: 1023px)')
const watchOf = (query: MediaQueryList) => (tell: () => void) => {
  query.addEventListener('change', tell)
  return () => query.removeEventListener('change', tell)
}
const watchPhone = watchOf(phone)
const watchNarrow = watchOf(narrow)

/** Whether the window is a phone's: cards in place of tables, actions under the thumb. */
export const usePhone = (): boolean => useSyncExternalStore(watchPhone, () => phone.matches)
/** Whether there is no room for two things side by side. */
export const useNarrow = (): boolean => useSyncExternalStore(watchNarrow, () => narrow.matches)
