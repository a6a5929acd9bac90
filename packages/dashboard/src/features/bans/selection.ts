import { createContext, useContext, useMemo, useState } from 'react'
import type { Ban } from '../../api/queries.ts'

/** So many at most in one run. */
export const mostAtOnce = 5000
export const addressesOf = (bans: Iterable<Pick<Ban, 'ip'>>): readonly string[] => [
  ...new Set([...bans].map(({ ip }) => ip)),
]

/** What is chosen, by id. Log lines are left out: thousands of them would not fit. */
export interface Selection {
  readonly chosen: ReadonlyMap<number, Ban>
  /** Chooses a row or takes it off; with `range` all from the one that was pressed before. */
  toggle(ban: Ban, range: boolean): void
  /** Chooses all of these, or takes them off. */
  set(bans: readonly Ban[], on: boolean): void
  clear(): void
}

export const light = (ban: Ban): Ban => ({ ...ban, log_lines: '' })

/** What is chosen of a list; another list begins with nothing. */
export const useSelection = (key: string, rows: readonly Ban[]): Selection => {
  const [state, setState] = useState<{ key: string; chosen: ReadonlyMap<number, Ban>; last: number | null }>({
    key,
    chosen: new Map(),
    last: null,
  })
  return useMemo(() => {
    const { chosen, last } = state.key === key ? state : { chosen: new Map<number, Ban>(), last: null }
    const change = (bans: readonly Ban[], on: boolean, pressed: number | null) => {
      const next = new Map(chosen)
      for (const ban of bans)
        if (on) next.set(ban.id, light(ban))
        else next.delete(ban.id)
      setState({ key, chosen: next, last: pressed })
    }
    return {
      chosen,
      toggle(ban, range) {
        const on = !chosen.has(ban.id)
        const from = range ? rows.findIndex(({ id }) => id === last) : -1
        const to = rows.findIndex(({ id }) => id === ban.id)
        change(from < 0 ? [ban] : rows.slice(Math.min(from, to), Math.max(from, to) + 1), from >= 0 || on, ban.id)
      },
      set: (bans, on) => change(bans, on, null),
      clear: () => setState({ key, chosen: new Map(), last: null }),
    }
  }, [state, key, rows])
}

const Selecting = createContext<Selection | null>(null)
export const SelectionProvider = Selecting.Provider
/** Null where rows can't be chosen. */
export const useSelecting = (): Selection | null => useContext(Selecting)
