import { useEffect } from 'react'
import type { ReactNode } from 'react'
import { IconX } from '@tabler/icons-react'
import parts from './parts.module.css'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import styles from './selection.module.css'

/**
 * What is selected and what can be done with it; it floats at the bottom, and the page keeps room for it.
 * @param all selects more than the rows of the page
 */
export const SelectionBar = (props: {
  count: string
  about?: string | undefined
  all?: ReactNode
  onClear: () => void
  children: ReactNode
}) => {
  const t = textsOf(commonTexts)
  useEffect(() => {
    document.body.dataset.selecting = ''
    return () => {
      delete document.body.dataset.selecting
    }
  }, [])
  return (
    <div className={styles.bar} role="region" aria-label={t.selection}>
      <span role="status" className={styles.count}>
        <strong>{props.count}</strong> {props.about}
      </span>
      {props.all}
      <span className={styles.acts}>{props.children}</span>
      <button
        type="button"
        className={`${parts.icon ?? ''} ${styles.clear ?? ''}`}
        aria-label={t.clearSelection}
        title={t.clearSelection}
        onClick={props.onClear}
      >
        <IconX size={16} />
      </button>
    </div>
  )
}
