import { useMemo, useState } from 'react'

/** What is chosen of a list, by the key of a row. */
export interface Selection<Row, Key> {
  readonly chosen: ReadonlyMap<Key, Row>
  /** Chooses a row or takes it off; with `range` all from the one that was pressed before. */
  toggle(row: Row, range: boolean): void
  /** Chooses all of these, or takes them off. */
  set(rows: readonly Row[], on: boolean): void
  clear(): void
}

const whole = <Row>(row: Row): Row => row

/** What is chosen of a list; another list begins with nothing. `keep`: what is kept of a row, where it is large. */
export const useSelection = <Row, Key>(
  list: string,
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  keep: (row: Row) => Row = whole,
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
