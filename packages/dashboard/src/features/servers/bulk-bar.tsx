import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { CommandType } from '../fleet/queries.ts'
import { tellSyncAgain } from '../fleet/undo.ts'
import { targetsTexts } from '../fleet/targets.texts.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { SelectionBar } from '../../kit/selection-bar.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { serversTexts } from './servers.texts.ts'

const RunDialog = lazy(() => import('../commands/run-dialog.tsx'))
const DeployDialog = lazy(() => import('./deploy-dialog.tsx'))
const TagsDialog = lazy(() => import('./tags-dialog.tsx'))

const commands = ['reload-all', 'service-restart', 'ban-ip', 'unban-ip'] as const satisfies readonly CommandType[]

/** What can be done with the servers that are chosen. `more`: how many others match, and what chooses them too. */
export const BulkBar = (props: {
  chosen: ReadonlySet<string>
  onClear: () => void
  more: { readonly total: number; readonly choose: () => void; readonly busy: boolean } | null
}) => {
  const t = textsOf(serversTexts).bulk
  const { chosen, more } = props
  const [open, setOpen] = useState<CommandType | 'deploy' | 'tags' | null>(null)
  const sync = useMutation({
    mutationFn: () => api.call('POST /whitelist/sync', { body: { server_ids: [...chosen] } }),
    onSuccess: ({ servers_notified: servers }) => tellSyncAgain(servers),
  })
  const close = () => setOpen(null)
  return (
    <SelectionBar
      count={t.chosen(chosen.size)}
      onClear={props.onClear}
      all={
        more && (
          <Button size="xs" variant="subtle" loading={more.busy} onClick={more.choose}>
            {t.all(more.total)}
          </Button>
        )
      }
    >
      {commands.map(type => (
        <SmallButton key={type} onClick={() => setOpen(type)}>
          {t.acts[type]}
        </SmallButton>
      ))}
      <SmallButton onClick={() => setOpen('deploy')}>{t.deploy}</SmallButton>
      <SmallButton onClick={() => setOpen('tags')}>{textsOf(targetsTexts).bulk.open}</SmallButton>
      <SmallButton loading={sync.isPending} onClick={() => sync.mutate()}>
        {t.sync}
      </SmallButton>
      <Refusal error={sync.error} />
      {open && (
        <Dialogs>
          {open === 'deploy' ? (
            <DeployDialog servers={chosen} onClose={close} />
          ) : open === 'tags' ? (
            <TagsDialog servers={chosen} onClose={close} />
          ) : (
            <RunDialog type={open} servers={chosen} onClose={close} />
          )}
        </Dialogs>
      )}
    </SelectionBar>
  )
}
