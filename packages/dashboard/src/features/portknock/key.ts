import { useEffect } from 'react'

/* Single-letter shortcuts must be possible to turn off: speech input triggers letters by accident. */

const keyPrefix = 'stockade-key-o'
export const keyO = {
  isOn: (): boolean => localStorage.getItem(keyPrefix) !== 'off',
  turn: (on: boolean): void => (on ? localStorage.removeItem(keyPrefix) : localStorage.setItem(keyPrefix, 'off')),
}

const types = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))

/** Does it on the key O, outside of fields and dialogs. */
export const useKeyO = (enabled: boolean, act: () => void): void =>
  useEffect(() => {
    if (!enabled) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'o' || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
      if (types(event.target) || document.querySelector('[role="dialog"]') || !keyO.isOn()) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
