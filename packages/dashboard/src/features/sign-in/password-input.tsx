import { useState } from 'react'
import type { FieldIds } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { signInTexts } from './sign-in.texts.ts'
import styles from './entry.module.css'

export const PasswordInput = (props: {
  ids: FieldIds
  value: string
  onValue: (value: string) => void
  autoComplete: 'current-password' | 'new-password'
}) => {
  const t = textsOf(signInTexts)
  const [shown, setShown] = useState(false)
  return (
    <div className={styles.password}>
      <input
        {...props.ids}
        className={parts.input}
        name="password"
        type={shown ? 'text' : 'password'}
        autoComplete={props.autoComplete}
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
  )
}
