import type { ReactNode } from 'react'
import { number } from '../lib/numbers.ts'
import styles from './segmented.module.css'

export interface Segment<V extends string> {
  readonly value: V
  readonly text: string
  /** A shape before the word, such as that of a state. */
  readonly mark?: ReactNode
  readonly count?: number | undefined
}

/** One of a few views, all of them in sight. */
export const Segmented = <V extends string>(props: {
  label: string
  value: V
  options: readonly Segment<V>[]
  onChange: (value: V) => void
}) => (
  <div className={styles.segmented} role="group" aria-label={props.label}>
    {props.options.map(({ value, text, mark, count }) => (
      <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
        {mark}
        <span data-marked={mark !== undefined || undefined}>{text}</span>
        {count !== undefined && <span className={styles.count}>{number(count)}</span>}
      </button>
    ))}
  </div>
)
