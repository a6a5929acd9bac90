import { textsOf } from '../../lib/texts/catalogue.ts'
import { PasswordRules } from '../set-up/password-rules.tsx'
import { PasswordField } from '../sign-in/password-field.tsx'
import { identityTexts } from './identity.texts.ts'

/** A password to be chosen, with the rules ticked off as it is typed. */
export const NewPassword = (props: {
  label: string
  value: string
  onValue: (value: string) => void
  error?: string | undefined
}) => (
  <PasswordField
    {...props}
    help={<PasswordRules password={props.value} words={textsOf(identityTexts).password} />}
    complete="new-password"
  />
)
