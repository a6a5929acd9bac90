import { useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { statusOf } from '../../api/client.ts'
import { mayBeWrong } from '../../api/queries.ts'
import { Field } from '../../kit/field.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { PasswordInput } from '../sign-in/password-input.tsx'
import { identityTexts } from './identity.texts.ts'

interface Asked {
  readonly title: string
  readonly text: ReactNode
  readonly verb: string
  readonly onClose: () => void
}

/** Says what will happen and to whom; Cancel has the focus. With `name` the name has to be typed. */
const Confirm = ({
  title,
  text,
  verb,
  onClose,
  act,
  name,
  nameLabel,
}: Asked & { act: () => Promise<unknown>; name?: string; nameLabel?: string }) => {
  const [typed, setTyped] = useState('')
  const run = useMutation({ mutationFn: act, onSuccess: onClose })
  const sure = name === undefined || typed.trim() === name
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (sure && !run.isPending) run.mutate()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={parts.form} onSubmit={submit}>
        <p>{text}</p>
        {name !== undefined && <TextField label={nameLabel ?? name} value={typed} onValue={setTyped} focus />}
        <Refusal error={run.error} />
        <div className={parts.row}>
          <Button type="submit" variant="danger" disabled={!sure} loading={run.isPending}>
            {verb}
          </Button>
          <Button variant="default" onClick={onClose} data-autofocus={name === undefined || undefined}>
            {textsOf(commonTexts).cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
export default Confirm

/** Asks for one's own password before it acts. */
export const WithPassword = ({
  title,
  text,
  verb,
  onClose,
  danger = false,
  act,
}: Asked & { danger?: boolean; act: (password: string) => Promise<unknown> }) => {
  const t = textsOf(identityTexts).password
  const [password, setPassword] = useState('')
  const [missing, setMissing] = useState(false)
  const run = useMutation({ meta: mayBeWrong, mutationFn: () => act(password), onSuccess: onClose })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setMissing(password === '')
    if (password !== '' && !run.isPending) run.mutate()
  }
  const wrong = statusOf(run.error) === 401
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={parts.form} onSubmit={submit} noValidate>
        <p>{text}</p>
        <Field label={t.yours} error={missing ? t.missing : wrong ? sentenceOf(run.error) : undefined}>
          {ids => <PasswordInput ids={ids} value={password} onValue={setPassword} autoComplete="current-password" />}
        </Field>
        {!wrong && <Refusal error={run.error} />}
        <div className={parts.row}>
          <Button type="submit" variant={danger ? 'danger' : 'filled'} loading={run.isPending}>
            {verb}
          </Button>
          <Button variant="default" onClick={onClose}>
            {textsOf(commonTexts).cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
