import { useState } from 'react'
import type { FormEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { templatesQuery } from '../fleet/queries.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { Field } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { forServers } from '../templates/for-servers.ts'
import { serversTexts } from './servers.texts.ts'

/** Which template goes to the chosen servers; its settings and the review come on its own page. */
const DeployDialog = ({ servers, onClose }: { servers: ReadonlySet<string>; onClose: () => void }) => {
  const t = textsOf(serversTexts).bulk
  const navigate = useNavigate()
  const query = useQuery(templatesQuery({}))
  const [chosen, setChosen] = useKeptState('deploy to servers/template', '')
  const [tried, setTried] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (chosen === '') return
    forServers.keep(servers)
    void navigate({ to: '/templates/$templateId/deploy', params: { templateId: chosen } })
  }
  return (
    <Dialog title={t.deployTitle(servers.size)} onClose={onClose}>
      <form className={parts.form} onSubmit={submit} noValidate>
        <Trouble what={t.templates} query={query} />
        <Field label={t.template} error={tried && chosen === '' ? t.noTemplate : undefined}>
          {ids => (
            <select
              {...ids}
              className={parts.input}
              data-autofocus
              value={chosen}
              onChange={event => setChosen(event.currentTarget.value)}
            >
              <option value="">{t.noTemplate}</option>
              {query.data?.templates.map(({ id, display_name }) => (
                <option key={id} value={id}>
                  {nameOf(display_name)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <DialogButtons verb={t.next} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
export default DeployDialog
