import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { templatesQuery } from '../fleet/queries.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField } from '../../kit/form-fields.tsx'
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
  const submit = () => {
    setTried(true)
    if (chosen === '') return
    forServers.keep(servers)
    void navigate({ to: '/templates/$templateId/deploy', params: { templateId: chosen } })
  }
  return (
    <FormDialog title={t.deployTitle(servers.size)} onClose={onClose} onSubmit={submit}>
      <Trouble what={t.templates} query={query} />
      <SelectField
        label={t.template}
        error={tried && chosen === '' ? t.noTemplate : undefined}
        focus
        value={chosen}
        options={[
          { value: '', text: t.noTemplate },
          ...(query.data?.templates ?? []).map(({ id, display_name }) => ({
            value: String(id),
            text: nameOf(display_name),
          })),
        ]}
        onValue={setChosen}
      />
      <DialogButtons verb={t.next} onCancel={onClose} />
    </FormDialog>
  )
}
export default DeployDialog
