import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import styles from './list.module.css'
import parts from './parts.module.css'

/** One of the conditions of a list, and the way to take it off. */
export interface Part {
  readonly text: string
  readonly onRemove: () => void
}

/** Nothing matches: says which condition can be taken off. */
export const Filtered = (props: { text: string; parts: readonly Part[]; onClear: () => void }) => {
  const t = textsOf(commonTexts)
  return (
    <div className={parts.empty}>
      <p>{props.text}</p>
      <div className={parts.row}>
        {props.parts.length > 1 &&
          props.parts.map(({ text, onRemove }) => (
            <button key={text} type="button" className={parts.chip} onClick={onRemove}>
              <IconX size={14} />
              <bdi>{t.without(text)}</bdi>
            </button>
          ))}
        <Button variant="default" onClick={props.onClear}>
          {t.clearFilters}
        </Button>
      </div>
    </div>
  )
}

/** A list that holds nothing: what is true, why it is useful, and one button first. */
export const Empty = (props: { icon: ReactNode; title: string; text: string; children?: ReactNode }) => (
  <div className={`${parts.raised ?? ''} ${styles.empty ?? ''}`}>
    <span className={styles.icon} aria-hidden="true">
      {props.icon}
    </span>
    <h2 className={styles.emptyTitle}>{props.title}</h2>
    <p className={parts.muted}>{props.text}</p>
    {props.children && <div className={parts.row}>{props.children}</div>}
  </div>
)

/** How many have come since the list was read; they never push the rows away. */
export const Fresh = (props: { text: string; show: string; waiting: number; onShow: () => void }) => (
  <span role="status">
    {props.waiting > 0 && (
      <button type="button" className={styles.fresh} onClick={props.onShow}>
        <b>{props.text}</b> {props.show}
      </button>
    )}
  </span>
)
