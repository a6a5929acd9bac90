import type { ReactNode } from 'react'
import { useListKeys } from './list-keys.ts'
import { ListItems } from './list-items.tsx'
import type { ListRows } from './list-rows.ts'
import { ListTable } from './list-table.tsx'
import { Filtered } from './list-states.tsx'
import type { Part } from './list-states.tsx'
import styles from './list.module.css'
import { Pages } from './pages.tsx'
import { PastEnd } from './past-end.tsx'
import { Trouble } from './trouble.tsx'
import type { Asked } from './trouble.tsx'
import { useNarrow } from './width.ts'

export interface ListProps<Row> extends Omit<ListRows<Row>, 'rows'> {
  /** What the list holds, as an error names it: `the whitelist`. */
  readonly what: string
  readonly query: Asked & { readonly isPending: boolean; readonly isPlaceholderData?: boolean }
  readonly rows: readonly Row[] | undefined
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly onPage: (page: number) => void
  /** Rows of the API on this page, where a row of the list stands for several. */
  readonly shown?: number
  /** More that has to be there before the list is shown, so that nothing moves afterwards. */
  readonly waits?: boolean
  /** At the end of the head: what is new, and the way to it. */
  readonly head?: ReactNode
  /** Beside the pages: exports. */
  readonly foot?: ReactNode
  /** The list holds nothing, and no filter is set. */
  readonly empty: ReactNode
  /** A filter is set and nothing matches. */
  readonly noMatch: string
  /** A few of the rows on a page with other lists: a title and the way to all of them, instead of pages. */
  readonly excerpt?: { readonly title: string; readonly all: ReactNode } | undefined
  /** The filters that are set, each with the way to take it off. */
  readonly filters: readonly Part[]
  readonly onClear: () => void
}

/** A page of rows in all its states: skeleton, error, rows, empty, filtered to nothing, past its end. */
export const List = <Row,>(props: ListProps<Row>) => {
  const { query, rows } = props
  useListKeys()
  const isWaiting = rows === undefined ? query.isPending : props.waits === true
  return (
    <>
      <Trouble what={props.what} query={query} />
      {isWaiting ? <Waiting {...props} /> : rows && <Shown {...props} rows={rows} />}
    </>
  )
}

const Rows = <Row,>(props: ListRows<Row> & { isWaiting?: boolean }) =>
  useNarrow() ? <ListItems {...props} /> : <ListTable {...props} />

const Waiting = <Row,>(props: ListProps<Row>) => (
  <section className={styles.panel}>
    <Rows {...props} rows={[]} isWaiting />
  </section>
)

const Shown = <Row,>(props: ListProps<Row> & { rows: readonly Row[] }) => {
  const { query, rows, page, limit, total, onPage, head, foot, excerpt, shown = rows.length } = props
  if (rows.length === 0) return <Nothing {...props} />
  return (
    <section className={styles.panel} aria-label={props.caption} data-old={query.isPlaceholderData || undefined}>
      {excerpt && (
        <header className={styles.excerpt}>
          <h2>{excerpt.title}</h2>
          {excerpt.all}
        </header>
      )}
      {head && <header className={styles.head}>{head}</header>}
      <Rows {...props} />
      {!excerpt && (
        <footer className={styles.foot}>
          <Pages page={page} limit={limit} shown={shown} total={total} onPage={onPage} />
          {foot}
        </footer>
      )}
    </section>
  )
}

const Nothing = <Row,>({ page, onPage, filters, noMatch, onClear, empty }: ListProps<Row>) => {
  if (page > 1) return <PastEnd onFirst={() => onPage(1)} />
  return filters.length > 0 ? <Filtered text={noMatch} parts={filters} onClear={onClear} /> : <>{empty}</>
}
