import { textsOf } from '../lib/texts/catalogue.ts'
import { keysTexts } from './keys.texts.ts'
import { useKeys } from './keys.ts'
import type { Key } from './keys.ts'

/*
 * Keys for lists. A page says with attributes what its rows are and what they offer:
 *
 *   data-row       a row or a card
 *   data-open      within it, what takes the focus and opens it; else its first link does
 *   data-key="u"   within it, a control that this key presses: u unbans, w whitelists, . shows more
 *
 * A checkbox within a row is pressed by x. Enter is the browser's own, on what has the focus.
 */

const rows = (): readonly HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter(row => row.offsetParent !== null)
const current = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>('[data-row]') ?? null

const take = (row: HTMLElement | undefined) => {
  if (!row) return
  const target = row.querySelector<HTMLElement>('[data-open]') ?? row.querySelector<HTMLElement>('a[href]') ?? row
  // A row of plain text takes the focus itself.
  if (target === row) row.tabIndex = -1
  target.focus()
}
const move = (by: 1 | -1) => () => {
  const all = rows()
  const at = all.findIndex(row => row === current())
  take(all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))])
}
const control = (key: string): string => (key === 'x' ? 'input[type=checkbox]' : `[data-key="${key}"]`)
const isThere = (key: string) => () => rows().some(row => row.querySelector(control(key)) !== null)
const pressed = (key: string) => () => current()?.querySelector<HTMLElement>(control(key))?.click()

let lastKeys: readonly Key[] | undefined
const keys = (): readonly Key[] => {
  const t = textsOf(keysTexts)
  const some = () => rows().length > 0
  lastKeys ??= [
    { key: 'j', text: t.next, act: move(1), there: some },
    { key: 'k', text: t.previous, act: move(-1), there: some },
    ...(
      [
        ['x', t.select],
        ['u', t.unban],
        ['w', t.whitelist],
        ['.', t.more],
      ] as const
    ).map(([key, text]) => ({ key, text, act: pressed(key), there: isThere(key) })),
  ]
  return lastKeys
}

/** Moves through the rows of the page by j and k, and presses what the row offers by x, u, w and the full stop. */
export const useListKeys = (): void => useKeys(keys())
