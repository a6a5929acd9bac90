import { useId } from 'react'
import type { ReactNode } from 'react'
import type { Bound } from '../../kit/form.ts'
import parts from '../../kit/parts.module.css'
import styles from './identity.module.css'

/** One of a few, each with what it means in one line. */
export const Choices = <T extends string>(props: {
  legend: string
  options: readonly { readonly value: T; readonly label: string; readonly meaning?: string }[]
  value: T
  onValue: (value: T) => void
  disabled?: boolean
  isChanged?: boolean
  children?: ReactNode
}) => {
  const name = useId()
  return (
    <fieldset className={`${parts.group ?? ''} ${styles.choices ?? ''}`} data-changed={props.isChanged || undefined}>
      <legend>{props.legend}</legend>
      {props.options.map(({ value, label, meaning }) => (
        <label key={value} className={styles.check}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={props.value === value}
            disabled={props.disabled}
            onChange={() => props.onValue(value)}
          />
          <span>
            {label}
            {meaning && <small>{meaning}</small>}
          </span>
        </label>
      ))}
      {props.children}
    </fieldset>
  )
}

export const Check = (props: {
  label: string
  meaning?: ReactNode
  checked: boolean
  onChecked: (checked: boolean) => void
  isChanged?: boolean
}) => (
  <label className={styles.check} data-changed={props.isChanged || undefined}>
    <input type="checkbox" checked={props.checked} onChange={event => props.onChecked(event.currentTarget.checked)} />
    <span>
      {props.label}
      {props.meaning && <small>{props.meaning}</small>}
    </span>
  </label>
)

/** A check as a field of a form. */
export const CheckField = (props: Bound<boolean> & { meaning?: ReactNode }) => (
  <Check {...props} checked={props.value} onChecked={props.onValue} />
)
