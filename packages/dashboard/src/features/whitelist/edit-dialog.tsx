import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Entry } from '../fleet/queries.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { localInput } from '../../lib/time.ts'
import { AddressLink } from './columns.tsx'
import { EndChoice } from './end-choice.tsx'
import { endAt, noEnd } from './ends.ts'
import type { End } from './ends.ts'
import { endsTexts } from './ends.texts.ts'
import { whitelistTexts } from './whitelist.texts.ts'

const endOf = ({ expires_at }: Entry): End =>
  expires_at === null ? noEnd() : { kind: 'until', until: localInput(Date.parse(expires_at)) }

const EditDialog = (props: { entry: Entry; onClose: () => void; onRemove: () => void }) => {
  const { entry, onClose, onRemove } = props
  const t = textsOf(whitelistTexts)
  const [description, setDescription] = useKeptState(`whitelist entry ${entry.id}/description`, entry.description)
  const [before] = useState(() => endOf(entry))
  const [end, setEnd] = useKeptState(`whitelist entry ${entry.id}/end`, before)
  // Whether the end was over when it was sent.
  const [late, setLate] = useState(false)
  const save = useMutation({
    mutationFn: () => {
      const expires_at = endAt(end)
      const changed = end.kind !== before.kind || (end.kind === 'until' && end.until !== before.until)
      return api.call('PATCH /whitelist/{id}', {
        params: { id: entry.id },
        body: { description, ...(changed && expires_at !== undefined ? { expires_at } : {}) },
      })
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['whitelist'] })
      onClose()
    },
  })
  const submit = () => {
    if (endAt(end) === undefined) setLate(true)
    else if (!save.isPending) save.mutate()
  }
  return (
    <FormDialog title={t.editTitle} onClose={onClose} onSubmit={submit}>
      <p>
        <AddressLink ip={entry.ip} />
      </p>
      <TextField
        label={t.dialog.description}
        error={fieldProblem(save.error, 'description')}
        value={description}
        onValue={setDescription}
        most={1000}
        focus
      />
      <EndChoice
        value={end}
        onValue={value => {
          setEnd(value)
          setLate(false)
        }}
        error={late ? textsOf(endsTexts).invalid : fieldProblem(save.error, 'expires_at')}
      />
      <Refusal error={save.error} />
      <div className={parts.row}>
        <Button type="submit" loading={save.isPending}>
          {textsOf(commonTexts).save}
        </Button>
        <CancelButton onClick={onClose} />
        <Button variant="default" onClick={onRemove}>
          {t.remove}
        </Button>
      </div>
    </FormDialog>
  )
}
export default EditDialog
