import { useEffect } from 'react'
import { preferences } from '../lib/preferences.ts'
import { createShared } from '../lib/shared.ts'

/* Single-key shortcuts, each in the list that `?` shows. A preference turns them off. */

export interface Key {
  /** One character, or two that are typed one after the other, such as `gb`. */
  readonly key: string
  readonly text: string
  act(): void
  /** Whether there is anything to do on the page as it is now; always, where it is not given. */
  there?(): boolean
}

let groups: ReadonlyMap<symbol, readonly Key[]> = new Map()
/** The first of two keys, and when it was typed. */
let first: { readonly key: string; readonly at: number } | null = null
const together = 1500

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=button])'))
/** In a dialog or a menu keys belong to that alone. */
const isElsewhere = (): boolean => document.querySelector('[role=dialog], [role=menu], [role=listbox]') !== null

/** All keys that do something now, those of the page before those of the shell. */
export const activeKeys = (): readonly Key[] =>
  [...groups.values()]
    .reverse()
    .flat()
    .filter(({ there }) => there?.() ?? true)

const press = (event: KeyboardEvent) => {
  if (!preferences.read().keys || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (event.defaultPrevented || event.key.length !== 1 || isTyping(event.target) || isElsewhere()) return
  const begun = first !== null && event.timeStamp - first.at < together ? first.key : ''
  first = null
  const keys = activeKeys()
  const binding = keys.find(({ key }) => key === begun + event.key)
  if (binding) {
    event.preventDefault()
    binding.act()
  } else if (!begun && keys.some(({ key }) => key.length === 2 && key.startsWith(event.key)))
    first = { key: event.key, at: event.timeStamp }
}

/** Binds keys for as long as the component is there; later ones win over earlier ones. */
export const useKeys = (keys: readonly Key[]): void => {
  useEffect(() => {
    const name = Symbol('keys')
    if (groups.size === 0) addEventListener('keydown', press)
    groups = new Map([...groups, [name, keys]])
    return () => {
      groups = new Map([...groups].filter(([other]) => other !== name))
      if (groups.size === 0) removeEventListener('keydown', press)
    }
  }, [keys])
}

/** Whether the list of keys is shown. */
export const keyList = createShared(false)
