import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { Field } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { serverTexts } from './server.texts.ts'
import { nameOf } from '../../lib/clip.ts'

/** Irreversible: the name has to be typed. */
const DeleteDialog = ({ server, onClose }: { server: Server; onClose: () => void }) => {
  const t = textsOf(serverTexts)
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: () => api.call('DELETE /servers/{serverId}', { params: { serverId: server.id } }),
    onSuccess: async () => {
      await navigate({ to: '/servers', search: {} })
      queries.removeQueries({ queryKey: ['server', server.id] })
      await queries.invalidateQueries({ queryKey: ['servers'] })
    },
  })
  // Typed as it is shown: invisible characters cannot be typed.
  const name = nameOf(server.hostname)
  const same = typed.trim() === name.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (same) remove.mutate()
  }
  return (
    <Dialog title={t.dangerTitle} onClose={onClose}>
      <form className={parts.form} onSubmit={submit}>
        <p>{t.dangerText}</p>
        <Field label={t.typeName(name)}>
          {ids => (
            <input
              {...ids}
              className={parts.input}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              data-autofocus
              value={typed}
              onChange={event => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
        <Refusal error={remove.error} />
        <div className={parts.row}>
          <Button type="submit" variant="danger" disabled={!same} loading={remove.isPending}>
            {t.deleteNow}
          </Button>
          <Button variant="default" onClick={onClose}>
            {textsOf(commonTexts).cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
export default DeleteDialog
