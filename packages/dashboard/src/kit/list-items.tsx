import { Fragment } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { RowBox } from './list-boxes.tsx'
import { groupedRows } from './list-rows.ts'
import type { ListColumn, ListRows, RowGroup } from './list-rows.ts'
import styles from './list.module.css'
import parts from './parts.module.css'
import { useLate } from './waiting.tsx'
import { usePhone } from './width.ts'

const skeleton = Array.from({ length: 9 }, (_, index) => index)

/** The rows of a list where columns have no room: two lines each. */
export const ListItems = <Row,>(props: ListRows<Row> & { isWaiting?: boolean }) => {
  if (props.isWaiting) return <Skeleton />
  return groupedRows(props).map(group => <ItemGroup key={group.key} {...props} group={group} />)
}

const ItemGroup = <Row,>({ group, ...props }: ListRows<Row> & { group: RowGroup<Row> }) => (
  <>
    {group.name !== undefined && <h2 className={styles.groupHead}>{group.name}</h2>}
    <ul aria-label={group.name ?? props.caption} data-group={group.key || undefined}>
      {group.rows.map(row => (
        <Item key={props.keyOf(row)} {...props} row={row} />
      ))}
    </ul>
  </>
)

const Item = <Row,>(props: ListRows<Row> & { row: Row }) => {
  const { row, columns, isSub, dataOf, below, selection, keyOf } = props
  const isPhone = usePhone()
  const at = (place: ListColumn<Row>['at']) => columns.filter(column => column.at === place)
  const cells = (place: ListColumn<Row>['at']) =>
    at(place).map(({ key, cell }) => <Fragment key={key}>{cell(row)}</Fragment>)
  const ends = [...at('end'), ...at('end-about')]
  return (
    <li className={styles.item} data-row data-sub={isSub?.(row) || undefined} {...dataOf?.(row)}>
      {selection && !isPhone && <RowBox row={row} selection={selection} isChosen={selection.chosen.has(keyOf(row))} />}
      {cells('lead')}
      <div className={styles.text}>
        <div className={styles.line}>{cells('title')}</div>
        <div className={styles.about}>
          {at('about').map(({ key, cell }) => (
            <span key={key}>{cell(row)}</span>
          ))}
        </div>
      </div>
      {ends.length > 0 && (
        <div className={styles.itemEnd}>
          <div>{cells('end')}</div>
          <div className={styles.about}>{cells('end-about')}</div>
        </div>
      )}
      {below && <Below>{below(row)}</Below>}
    </li>
  )
}
const Below = ({ children }: { children: React.ReactNode }) =>
  children ? <div className={styles.itemBelow}>{children}</div> : null

const Skeleton = () => {
  const isLate = useLate()
  return (
    <div>
      <span className={parts.hidden} role="status">
        {isLate ? textsOf(commonTexts).loading : ''}
      </span>
      {skeleton.map(index => (
        <div key={index} className={`${styles.item} ${styles.skeleton}`} data-late={isLate || undefined}>
          <i />
        </div>
      ))}
    </div>
  )
}
