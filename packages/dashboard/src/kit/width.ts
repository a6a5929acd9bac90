import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 599px)')
const slim = matchMedia('(max-width: 799px)')
const narrow = matchMedia('(max-width: 1023px)')
const wide = matchMedia('(min-width: 1400px)')
const upright = matchMedia('(orientation: portrait)')
const watchOf = (query: MediaQueryList) => (tell: () => void) => {
  query.addEventListener('change', tell)
  return () => query.removeEventListener('change', tell)
}
const watchPhone = watchOf(phone)
const watchSlim = watchOf(slim)
const watchNarrow = watchOf(narrow)
const watchWide = watchOf(wide)
const watchUpright = watchOf(upright)

/** Whether the window is a phone's: cards in place of tables, actions under the thumb. */
export const usePhone = (): boolean => useSyncExternalStore(watchPhone, () => phone.matches)
/** Whether the top bar has room for the title alone. */
export const useSlim = (): boolean => useSyncExternalStore(watchSlim, () => slim.matches)
/** Whether tables become cards. */
export const useNarrow = (): boolean => useSyncExternalStore(watchNarrow, () => narrow.matches)
/** Whether details have room beside a list. */
export const useWide = (): boolean => useSyncExternalStore(watchWide, () => wide.matches)
/** Whether the window is higher than wide. */
export const useUpright = (): boolean => useSyncExternalStore(watchUpright, () => upright.matches)
