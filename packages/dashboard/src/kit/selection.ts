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
    const nothing: State = { list, chosen: new Map(), last: null }
    const ofList = (at: State) => (at.list === list ? at : nothing)
    /** A row may be pressed before it is drawn with the last change, so each change begins with what is chosen then. */
    const change = (
      changeOf: (at: State) => { readonly rows: readonly Row[]; readonly on: boolean },
      last: Key | null,
    ) =>
      setState(before => {
        const { rows: changed, on } = changeOf(ofList(before))
        const chosen = new Map(ofList(before).chosen)
        for (const row of changed)
          if (on) chosen.set(keyOf(row), keep(row))
          else chosen.delete(keyOf(row))
        return { list, chosen, last }
      })
    return {
      chosen: ofList(state).chosen,
      toggle(row, range) {
        const key = keyOf(row)
        change(({ chosen, last }) => {
          const from = range ? rows.findIndex(one => keyOf(one) === last) : -1
          const to = rows.findIndex(one => keyOf(one) === key)
          return from < 0
            ? { rows: [row], on: !chosen.has(key) }
            : { rows: rows.slice(Math.min(from, to), Math.max(from, to) + 1), on: true }
        }, key)
      },
      set: (changed, on) => change(() => ({ rows: changed, on }), null),
      clear: () => setState(nothing),
    }
  }, [state, list, rows, keyOf, keep])
}
