import { keysOf } from '@stockade/contract/records.ts'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { passwordRules } from '../set-up/rules.ts'
import { PasswordInput } from '../sign-in/password-input.tsx'
import entry from '../sign-in/entry.module.css'
import { identityTexts } from './identity.texts.ts'

/** A password to be chosen, with the rules ticked off as it is typed. */
export const NewPassword = (props: {
  label: string
  value: string
  onValue: (value: string) => void
  error?: string | undefined
}) => {
  const t = textsOf(identityTexts).password
  return (
    <Field
      label={props.label}
      error={props.error}
      help={
        <ul className={entry.rules}>
          {keysOf(passwordRules).map(rule => {
            const met = passwordRules[rule](props.value)
            return (
              <li key={rule}>
                <State is={met ? 'done' : 'next'} word={t.rules[rule]} />
                <span className={parts.hidden}>{met ? t.met : t.notMet}</span>
              </li>
            )
          })}
        </ul>
      }
    >
      {ids => <PasswordInput ids={ids} value={props.value} onValue={props.onValue} autoComplete="new-password" />}
    </Field>
  )
}
