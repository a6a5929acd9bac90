import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { statusOf } from '../../api/client.ts'
import { mayBeWrong } from '../../api/queries.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { PasswordField } from '../sign-in/password-field.tsx'
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
  const submit = () => {
    if (sure && !run.isPending) run.mutate()
  }
  return (
    <FormDialog title={title} onClose={onClose} onSubmit={submit}>
      <p>{text}</p>
      {name !== undefined && <TextField label={nameLabel ?? name} value={typed} onValue={setTyped} focus />}
      <Refusal error={run.error} />
      <div className={parts.row}>
        <Button type="submit" variant="danger" disabled={!sure} loading={run.isPending}>
          {verb}
        </Button>
        <CancelButton onClick={onClose} focus={name === undefined} />
      </div>
    </FormDialog>
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
  const submit = () => {
    setMissing(password === '')
    if (password !== '' && !run.isPending) run.mutate()
  }
  const wrong = statusOf(run.error) === 401
  return (
    <FormDialog title={title} onClose={onClose} onSubmit={submit}>
      <p>{text}</p>
      <PasswordField
        label={t.yours}
        error={missing ? t.missing : wrong ? sentenceOf(run.error) : undefined}
        value={password}
        onValue={setPassword}
        complete="current-password"
      />
      {!wrong && <Refusal error={run.error} />}
      <div className={parts.row}>
        <Button type="submit" variant={danger ? 'danger' : 'filled'} loading={run.isPending}>
          {verb}
        </Button>
        <CancelButton onClick={onClose} />
      </div>
    </FormDialog>
  )
}
