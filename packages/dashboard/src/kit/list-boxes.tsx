import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import type { ListRows, RowSelection } from './list-rows.ts'
import styles from './list.module.css'

export const RowBox = <Row,>(props: { row: Row; selection: RowSelection<Row>; isChosen: boolean }) => {
  const { row, selection, isChosen } = props
  return (
    <label className={styles.box}>
      <input
        type="checkbox"
        aria-label={textsOf(commonTexts).select(selection.nameOf(row))}
        checked={isChosen}
        onChange={event => selection.toggle(row, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)}
      />
    </label>
  )
}

/** Chooses all rows of the page, or takes them off. */
export const PageBox = <Row,>(props: Pick<ListRows<Row>, 'rows' | 'keyOf'> & { selection: RowSelection<Row> }) => {
  const { rows, keyOf, selection } = props
  const isWhole = rows.length > 0 && rows.every(row => selection.chosen.has(keyOf(row)))
  return (
    <label className={styles.box}>
      <input
        type="checkbox"
        aria-label={textsOf(commonTexts).selectPage}
        checked={isWhole}
        ref={box => {
          if (box) box.indeterminate = !isWhole && rows.some(row => selection.chosen.has(keyOf(row)))
        }}
        onChange={() => selection.set(rows, !isWhole)}
      />
    </label>
  )
}
