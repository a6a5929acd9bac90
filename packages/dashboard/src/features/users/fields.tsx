import { ApiError } from '../../api/client.ts'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { usersTexts } from './users.texts.ts'

export const isUsername = (text: string): boolean => /^[A-Za-z0-9_]{3,50}$/.test(text)
export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254

/** What is taken, as the service says it, for the field that it is about. */
export const takenProblem = (error: unknown, field: 'username' | 'e-mail'): string | undefined =>
  error instanceof ApiError && error.status === 409 && error.message.includes(field) ? error.message : undefined

export const EmailField = (props: { value: string; onValue: (value: string) => void; error?: string | undefined }) => (
  <Field label={textsOf(usersTexts).email} error={props.error}>
    {ids => (
      <input
        {...ids}
        className={parts.input}
        name="email"
        type="email"
        // Somebody else's: not for the browser to fill in.
        autoComplete="off"
        dir="ltr"
        maxLength={254}
        value={props.value}
        onChange={event => props.onValue(event.currentTarget.value)}
      />
    )}
  </Field>
)
