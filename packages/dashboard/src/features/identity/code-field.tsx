import { useState } from 'react'
import type { Ref } from 'react'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import styles from './identity.module.css'

/** Six digits of an authenticator: typed, pasted or filled in by the device; sent when there are six. */
export const CodeField = (props: {
  label: string
  help: string
  error?: string | undefined
  busy: boolean
  onCode: (code: string) => void
  field: Ref<HTMLInputElement>
}) => {
  const [value, setValue] = useState('')
  const change = (typed: string) => {
    const digits = typed.replace(/\D/g, '').slice(0, 6)
    setValue(digits)
    if (digits.length === 6 && digits !== value) props.onCode(digits)
  }
  return (
    <Field label={props.label} help={props.help} error={props.error}>
      {ids => (
        <input
          {...ids}
          ref={props.field}
          className={`${parts.input ?? ''} ${styles.code ?? ''}`}
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          autoCorrect="off"
          spellCheck={false}
          dir="ltr"
          // Disabled it would lose the focus.
          readOnly={props.busy}
          value={value}
          onChange={event => change(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
