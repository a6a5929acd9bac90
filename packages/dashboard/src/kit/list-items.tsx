import { Fragment } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import type { ListColumn, ListRows } from './list-rows.ts'
import styles from './list.module.css'
import parts from './parts.module.css'
import { useLate } from './waiting.tsx'

const skeleton = Array.from({ length: 9 }, (_, index) => index)

/** The rows of a list where columns have no room: two lines each. */
export const ListItems = <Row,>(props: ListRows<Row> & { isWaiting?: boolean }) => {
  const { rows, keyOf, caption, isWaiting = false } = props
  if (isWaiting) return <Skeleton />
  return (
    <ul aria-label={caption}>
      {rows.map(row => (
        <Item key={keyOf(row)} {...props} row={row} />
      ))}
    </ul>
  )
}

const Item = <Row,>({ row, columns, isSub, dataOf, below }: ListRows<Row> & { row: Row }) => {
  const at = (place: ListColumn<Row>['at']) => columns.filter(column => column.at === place)
  const cells = (place: ListColumn<Row>['at']) =>
    at(place).map(({ key, cell }) => <Fragment key={key}>{cell(row)}</Fragment>)
  const ends = [...at('end'), ...at('end-about')]
  return (
    <li className={styles.item} data-row data-sub={isSub?.(row) || undefined} {...dataOf?.(row)}>
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
