import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Entry } from '../../fleet/queries.ts'
import { Field } from '../../parts/field.tsx'
import { Dialog } from '../../parts/modal.tsx'
import parts from '../../parts/parts.module.css'
import { Refusal, fieldProblem } from '../../parts/trouble.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { whitelistTexts } from './whitelist.texts.ts'

const EditDialog = ({ entry, onClose }: { entry: Entry; onClose: () => void }) => {
  const t = textsOf(whitelistTexts)
  const [description, setDescription] = useState(entry.description)
  const save = useMutation({
    mutationFn: () => api.call('PATCH /whitelist/{id}', { params: { id: entry.id }, body: { description } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['whitelist'] })
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!save.isPending) save.mutate()
  }
  return (
    <Dialog title={t.editTitle} onClose={onClose}>
      <form className={parts.form} onSubmit={submit} noValidate>
        <p className={parts.mono}>{entry.ip}</p>
        <Field label={t.dialog.description} error={fieldProblem(save.error, 'description')}>
          {ids => (
            <input
              {...ids}
              className={parts.input}
              autoComplete="off"
              maxLength={1000}
              data-autofocus
              value={description}
              onChange={event => setDescription(event.currentTarget.value)}
            />
          )}
        </Field>
        <Refusal error={save.error} />
        <div className={parts.row}>
          <Button type="submit" loading={save.isPending}>
            {textsOf(commonTexts).save}
          </Button>
          <Button variant="default" onClick={onClose}>
            {textsOf(commonTexts).cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
export default EditDialog
