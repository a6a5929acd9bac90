import { createContext, useContext, useMemo, useState } from 'react'
import type { Ban } from '../../api/queries.ts'
import type { Attacker } from './attackers-list.ts'

/** So many at most in one run. */
export const mostAtOnce = 5000

/** What is chosen of a list, by the key of a row. */
export interface Selection<Row, Key> {
  readonly chosen: ReadonlyMap<Key, Row>
  /** Chooses a row or takes it off; with `range` all from the one that was pressed before. */
  toggle(row: Row, range: boolean): void
  /** Chooses all of these, or takes them off. */
  set(rows: readonly Row[], on: boolean): void
  clear(): void
}

/** Log lines are left out: thousands of them would not fit. */
export const light = (ban: Ban): Ban => ({ ...ban, log_lines: '' })
const idOf = ({ id }: Ban) => id

/** What is chosen of a list; another list begins with nothing. */
const useChosen = <Row, Key>(
  list: string,
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  keep: (row: Row) => Row,
): Selection<Row, Key> => {
  interface State {
    readonly list: string
    readonly chosen: ReadonlyMap<Key, Row>
    readonly last: Key | null
  }
  const [state, setState] = useState<State>({ list, chosen: new Map(), last: null })
  return useMemo(() => {
    const { chosen, last } = state.list === list ? state : { chosen: new Map<Key, Row>(), last: null }
    const change = (changed: readonly Row[], on: boolean, pressed: Key | null) => {
      const next = new Map(chosen)
      for (const row of changed)
        if (on) next.set(keyOf(row), keep(row))
        else next.delete(keyOf(row))
      setState({ list, chosen: next, last: pressed })
    }
    return {
      chosen,
      toggle(row, range) {
        const key = keyOf(row)
        const on = !chosen.has(key)
        const from = range ? rows.findIndex(one => keyOf(one) === last) : -1
        const to = rows.findIndex(one => keyOf(one) === key)
        change(from < 0 ? [row] : rows.slice(Math.min(from, to), Math.max(from, to) + 1), from >= 0 || on, key)
      },
      set: (changed, on) => change(changed, on, null),
      clear: () => setState({ list, chosen: new Map(), last: null }),
    }
  }, [state, list, rows, keyOf, keep])
}

export type BanSelection = Selection<Ban, number>
export const useSelection = (list: string, rows: readonly Ban[]): BanSelection => useChosen(list, rows, idOf, light)

export type AttackerSelection = Selection<Attacker, string>
const ipOf = ({ ip }: Attacker) => ip
const whole = (attacker: Attacker) => attacker
export const useAttackerSelection = (list: string, rows: readonly Attacker[]): AttackerSelection =>
  useChosen(list, rows, ipOf, whole)

const Selecting = createContext<BanSelection | null>(null)
export const SelectionProvider = Selecting.Provider
/** Null where rows can't be chosen. */
export const useSelecting = (): BanSelection | null => useContext(Selecting)
