import type { ReactNode } from 'react'
import type { Selection } from './selection.ts'

export interface ListColumn<Row> {
  readonly key: string
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  /** Pixels in the table; the columns without one share the rest. */
  readonly width?: number
  /** For the column and its cells, where its width depends on the room of the table. */
  readonly className?: string | undefined
  /** Numbers, and what stands at the end of a row. */
  readonly end?: boolean
  /** The table leaves it out where the window is narrower than 1400 px. */
  readonly wideOnly?: boolean
  /** The table leaves it out: there it is a part of another column. */
  readonly narrowOnly?: boolean
  /** Its place in the two lines that a narrow window shows of a row; absent: it is left out there. */
  readonly at?: 'lead' | 'title' | 'about' | 'end' | 'end-about'
  readonly sort?: { readonly is: 'ascending' | 'descending' | 'none'; readonly onSort: () => void }
}

/** Attributes by which keys and tests find a row. */
export type RowData = Readonly<Record<`data-${string}`, string | number>>

export interface ListRows<Row> {
  readonly caption: string
  readonly columns: readonly ListColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  readonly dataOf?: ((row: Row) => RowData) | undefined
  /** Heads between the rows, which come in the order of their groups. */
  readonly groups?: RowGroups<Row> | undefined
  /** Whether a row is a part of the one above it. */
  readonly isSub?: ((row: Row) => boolean) | undefined
  /** What is shown below a row. */
  readonly below?: ((row: Row) => ReactNode) | undefined
  /** Rows of the table below a row, as elements: they have the columns of the table, its box, and its actions. */
  readonly subRows?: ((row: Row) => ReactNode) | undefined
  /** The row that is open beside the table. */
  readonly opened?: string | number | null | undefined
  /** What can be done with a row: on hover, focus and selection; on touch the page of the thing has it. */
  readonly acts?: ((row: Row) => ReactNode) | undefined
  readonly selection?: RowSelection<Row> | undefined
}
export interface RowSelection<Row> extends Selection<Row, string | number> {
  readonly nameOf: (row: Row) => string
}
export interface RowGroups<Row> {
  readonly of: (row: Row) => string
  readonly nameOf: (group: string, count: number) => string
}
export interface RowGroup<Row> {
  readonly key: string
  /** Absent where the list has no groups. */
  readonly name?: string
  readonly rows: readonly Row[]
}

/** The rows under their heads; all under none where the list has no groups. */
export const groupedRows = <Row>({ rows, groups }: ListRows<Row>): readonly RowGroup<Row>[] =>
  groups
    ? [...Map.groupBy(rows, groups.of)].map(([key, some]) => ({
        key,
        name: groups.nameOf(key, some.length),
        rows: some,
      }))
    : [{ key: '', rows }]
