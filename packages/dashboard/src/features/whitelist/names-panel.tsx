import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { whitelistNamesQuery } from '../fleet/queries.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time, TimeSentence } from '../../kit/time.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { whitelistTexts } from './whitelist.texts.ts'

type Name = Reply<'GET /whitelist/names'>['names'][number]
const readAgain = () => queries.invalidateQueries({ queryKey: ['whitelist'] })

/** DNS names on the whitelist, with the addresses that hold now. */
export const NamesPanel = () => {
  const t = textsOf(whitelistTexts).names
  const { may } = useMay('write')
  const [isOpen, setOpen] = useState(false)
  const query = useQuery(whitelistNamesQuery)
  return (
    <Panel title={t.title}>
      <div className={fleet.stack}>
        <Loading what={t.what} query={query} lines={2} />
        {query.data?.names.length === 0 && <p className={parts.muted}>{t.none}</p>}
        <ul className={fleet.lines} aria-label={t.title}>
          {query.data?.names.map(row => (
            <NameRow key={row.id} row={row} />
          ))}
        </ul>
        {query.data && may && (
          <div className={fleet.line}>
            <SmallButton onClick={() => setOpen(true)}>{t.add}</SmallButton>
          </div>
        )}
      </div>
      {isOpen && <AddName onClose={() => setOpen(false)} />}
    </Panel>
  )
}

const NameRow = ({ row }: { row: Name }) => {
  const texts = textsOf(whitelistTexts)
  const t = texts.names
  const { may } = useMay('write')
  const remove = useMutation({
    mutationFn: () => api.call('DELETE /whitelist/names/{id}', { params: { id: row.id } }),
    onSuccess: readAgain,
  })
  const { last_error: error, checked_at: at } = row
  return (
    <li data-name={row.name}>
      <span>
        <Stranger text={row.name} most={100} />
        <p className={parts.help}>
          {row.addresses.length === 0 ? t.noAddress : row.addresses.join(', ')}
          {row.since !== null && (
            <>
              {' · '}
              <Time at={row.since} />
            </>
          )}
        </p>
        {error !== null && at !== null && (
          <p className={parts.error}>
            <TimeSentence at={at} say={moment => t.failed(moment, error)} />
          </p>
        )}
        <Refusal error={remove.error} />
      </span>
      {may && (
        <SmallButton
          aria-label={texts.removeOf(nameOf(row.name))}
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          {texts.remove}
        </SmallButton>
      )}
    </li>
  )
}

const AddName = ({ onClose }: { onClose: () => void }) => {
  const texts = textsOf(whitelistTexts)
  const t = texts.names
  const [name, setName] = useKeptState('whitelist name/name', '')
  const [description, setDescription] = useKeptState('whitelist name/description', '')
  const add = useMutation({
    mutationFn: () => api.call('POST /whitelist/names', { body: { name: name.trim(), description } }),
    onSuccess: () => {
      setName('')
      setDescription('')
      void readAgain()
      onClose()
    },
  })
  return (
    <FormDialog title={t.add} onClose={onClose} onSubmit={() => add.mutate()}>
      <TextField label={t.name} help={t.help} error={fieldProblem(add.error, 'name')} value={name} onValue={setName} />
      <TextField label={texts.dialog.description} value={description} onValue={setDescription} />
      <Refusal error={add.error} />
      <DialogButtons verb={texts.add} isRunning={add.isPending} onCancel={onClose} />
    </FormDialog>
  )
}
