import type { ReactNode } from 'react'
import { IconChevronDown, IconPlus, IconX } from '@tabler/icons-react'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { attackersTexts } from './attackers.texts.ts'
import styles from './chips.module.css'

interface Option {
  readonly value: string
  readonly text: string
}

/** A filter of one field with its value in sight: the browser's own menu below it, and a cross where it is set. */
export const SelectChip = (props: {
  name: string
  value: string
  /** What is shown of the value. */
  shown: string
  options: readonly Option[]
  onValue: (value: string) => void
}) => {
  const { name, value, shown, options, onValue } = props
  return (
    <span className={styles.chip}>
      <span className={styles.field}>
        <span aria-hidden="true">
          <span className={styles.name}>{name}</span>
          <b>{shown}</b>
          <IconChevronDown size={14} />
        </span>
        <select aria-label={name} value={value} onChange={event => onValue(event.currentTarget.value)}>
          {options.map(option => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      </span>
      {value !== '' && (
        <button
          type="button"
          className={styles.cross}
          aria-label={textsOf(attackersTexts).remove(name)}
          onClick={() => onValue('')}
        >
          <IconX size={14} />
        </button>
      )}
    </span>
  )
}

/** A dashed chip that adds something. */
export const AddChip = (props: { onClick: () => void; children: ReactNode }) => (
  <button type="button" className={styles.add} aria-haspopup="dialog" onClick={props.onClick}>
    <IconPlus size={14} />
    {props.children}
  </button>
)
