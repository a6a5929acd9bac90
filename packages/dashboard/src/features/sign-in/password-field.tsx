import { useState } from 'react'
import type { ReactNode } from 'react'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { signInTexts } from './sign-in.texts.ts'
import styles from './entry.module.css'

/** A password, shown as typed on demand. */
export const PasswordField = (props: {
  label: string
  help?: ReactNode
  error?: string | undefined
  value: string
  onValue: (value: string) => void
  complete: 'current-password' | 'new-password'
}) => {
  const t = textsOf(signInTexts)
  const [shown, setShown] = useState(false)
  return (
    <Field label={props.label} help={props.help} error={props.error}>
      {ids => (
        <div className={styles.password}>
          <input
            {...ids}
            className={parts.input}
            name="password"
            type={shown ? 'text' : 'password'}
            autoComplete={props.complete}
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            dir="ltr"
            value={props.value}
            onChange={event => props.onValue(event.currentTarget.value)}
          />
          <button
            type="button"
            aria-label={shown ? t.hidePassword : t.showPassword}
            aria-pressed={shown}
            onClick={() => setShown(!shown)}
          >
            {shown ? t.hide : t.show}
          </button>
        </div>
      )}
    </Field>
  )
}
