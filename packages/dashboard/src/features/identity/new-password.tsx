import { Field } from '../../kit/field.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { PasswordRules } from '../set-up/password-rules.tsx'
import { PasswordInput } from '../sign-in/password-input.tsx'
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
    <Field label={props.label} error={props.error} help={<PasswordRules password={props.value} words={t} />}>
      {ids => <PasswordInput ids={ids} value={props.value} onValue={props.onValue} autoComplete="new-password" />}
    </Field>
  )
}
