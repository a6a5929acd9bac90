import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { announce } from '../../kit/announce.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { addPasskey, hasPasskeys, passkeySentence } from './passkeys.ts'
import { passkeysTexts } from './passkeys.texts.ts'

/** A name, and then the browser asks which device shall keep the passkey. */
export const AddPasskey = ({ onDone }: { onDone?: () => void }) => {
  const t = textsOf(passkeysTexts)
  const [name, setName] = useKeptState('new passkey', '')
  const [tried, setTried] = useState(false)
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim()),
    onSuccess: added => {
      setName('')
      setTried(false)
      announce(t.added(added.name))
      onDone?.()
    },
  })
  if (!hasPasskeys()) return <p className={parts.note}>{t.unsupported}</p>
  const submit = () => {
    setTried(true)
    if (name.trim() && !add.isPending) add.mutate()
  }
  return (
    <PlainForm style={{ maxInlineSize: 480 }} onSubmit={submit}>
      <TextField
        label={t.name}
        help={t.nameHelp}
        error={tried && !name.trim() ? t.nameMissing : undefined}
        value={name}
        onValue={setName}
        most={64}
      />
      {add.error && (
        <p className={parts.refusal} role="alert">
          {passkeySentence(add.error)}
        </p>
      )}
      <div className={parts.row}>
        <Button type="submit" variant="default" loading={add.isPending}>
          {t.add}
        </Button>
      </div>
    </PlainForm>
  )
}
