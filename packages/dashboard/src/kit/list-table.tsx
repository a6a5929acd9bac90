import { Fragment, memo } from 'react'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { PageBox, RowBox } from './list-boxes.tsx'
import { groupedRows } from './list-rows.ts'
import type { ListColumn, ListRows, RowGroup } from './list-rows.ts'
import styles from './list.module.css'
import parts from './parts.module.css'
import { useLate } from './waiting.tsx'
import { useWide } from './width.ts'

const skeleton = Array.from({ length: 12 }, (_, index) => index)

/** The rows of a list where the window has room for columns. */
export const ListTable = <Row,>(props: ListRows<Row> & { isWaiting?: boolean }) => {
  const { caption, rows, keyOf, isWaiting = false, selection } = props
  const isWide = useWide()
  const columns = props.columns.filter(({ wideOnly, narrowOnly }) => !narrowOnly && (isWide || !wideOnly))
  return (
    <table className={styles.table} data-choosing={(selection && selection.chosen.size > 0) || undefined}>
      <caption className={parts.hidden}>{caption}</caption>
      <colgroup>
        {selection && <col style={{ inlineSize: 40 }} />}
        {columns.map(({ key, width, className }) => (
          <col key={key} className={className} style={width === undefined ? undefined : { inlineSize: width }} />
        ))}
        {props.acts && <col style={{ inlineSize: 0 }} />}
      </colgroup>
      <thead>
        <tr>
          {selection && (
            <th scope="col">
              <PageBox rows={rows} selection={selection} keyOf={keyOf} />
            </th>
          )}
          {columns.map(column => (
            <Head key={column.key} column={column} />
          ))}
          {props.acts && (
            <th scope="col" className={styles.actsCell}>
              <span className={parts.hidden}>{textsOf(commonTexts).actions}</span>
            </th>
          )}
        </tr>
      </thead>
      {isWaiting ? (
        <tbody>
          <Skeleton columns={cellsOf(props, columns)} />
        </tbody>
      ) : (
        groupedRows(props).map(group => <TableGroup key={group.key} {...props} group={group} columns={columns} />)
      )}
    </table>
  )
}

const cellsOf = <Row,>({ selection, acts }: ListRows<Row>, columns: readonly ListColumn<Row>[]) =>
  columns.length + (selection ? 1 : 0) + (acts ? 1 : 0)

const TableGroup = <Row,>({ group, ...props }: ListRows<Row> & { group: RowGroup<Row> }) => (
  <tbody data-group={group.key || undefined}>
    {group.name !== undefined && (
      <tr className={styles.group}>
        <th scope="rowgroup" colSpan={cellsOf(props, props.columns)}>
          {group.name}
        </th>
      </tr>
    )}
    {group.rows.map(row => (
      <KeptRow
        key={props.keyOf(row)}
        {...props}
        row={row}
        isChosen={props.selection?.chosen.has(props.keyOf(row)) ?? false}
        isOpened={props.opened === props.keyOf(row)}
      />
    ))}
  </tbody>
)

const TableRow = <Row,>(props: ListRows<Row> & { row: Row; isChosen: boolean; isOpened: boolean }) => {
  const { row, columns, selection, acts, isChosen, isOpened } = props
  const below = props.below?.(row)
  return (
    <Fragment>
      <tr
        data-row
        data-sub={props.isSub?.(row) || undefined}
        data-open-row={below ? true : undefined}
        data-chosen={isChosen || undefined}
        aria-current={isOpened || undefined}
        {...props.dataOf?.(row)}
      >
        {selection && (
          <td>
            <RowBox row={row} selection={selection} isChosen={isChosen} />
          </td>
        )}
        {columns.map(column => (
          <td key={column.key} className={classOf(column)}>
            {column.cell(row)}
          </td>
        ))}
        {acts && (
          <td className={styles.actsCell}>
            <span className={styles.acts}>{acts(row)}</span>
          </td>
        )}
      </tr>
      {below && (
        <tr className={styles.below}>
          <td colSpan={cellsOf(props, columns)}>{below}</td>
        </tr>
      )}
      {props.subRows?.(row)}
    </Fragment>
  )
}

/** A page of a hundred rows stays as it is while one of them is chosen. The types of React lose the kind of row in `memo`. */
const KeptRow = memo(TableRow) as typeof TableRow

const classOf = <Row,>({ end, className }: ListColumn<Row>) =>
  [end ? parts.end : '', className].filter(Boolean).join(' ') || undefined

const Head = <Row,>({ column }: { column: ListColumn<Row> }) => {
  const { name, sort } = column
  return (
    <th scope="col" className={classOf(column)} aria-sort={sort?.is}>
      {sort ? (
        <button type="button" className={styles.sort} onClick={sort.onSort}>
          {name}
          {sort.is === 'ascending' && <IconArrowUp size={14} />}
          {sort.is === 'descending' && <IconArrowDown size={14} />}
        </button>
      ) : (
        name
      )}
    </th>
  )
}

const Skeleton = ({ columns }: { columns: number }) => {
  const isLate = useLate()
  return skeleton.map(index => (
    <tr key={index} className={styles.skeleton} data-late={isLate || undefined}>
      <td colSpan={columns}>
        {index === 0 && (
          <span className={parts.hidden} role="status">
            {isLate ? textsOf(commonTexts).loading : ''}
          </span>
        )}
        <i />
      </td>
    </tr>
  ))
}
