import { Suspense, lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { CommandType } from '../fleet/queries.ts'
import { tellSyncAgain } from '../fleet/undo.ts'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

const RunDialog = lazy(() => import('../commands/run-dialog.tsx'))
const DeployDialog = lazy(() => import('./deploy-dialog.tsx'))

const commands = ['reload-all', 'service-restart', 'ban-ip', 'unban-ip'] as const satisfies readonly CommandType[]

/** What can be done with the servers that are chosen. `more`: how many others match, and what chooses them too. */
export const BulkBar = (props: {
  chosen: ReadonlySet<string>
  onClear: () => void
  more: { readonly total: number; readonly choose: () => void; readonly busy: boolean } | null
}) => {
  const t = textsOf(serversTexts).bulk
  const { chosen, more } = props
  const [open, setOpen] = useState<CommandType | 'deploy' | null>(null)
  const sync = useMutation({
    mutationFn: () => api.call('POST /whitelist/sync', { body: { server_ids: [...chosen] } }),
    onSuccess: ({ servers_notified: servers }) => tellSyncAgain(servers),
  })
  const close = () => setOpen(null)
  return (
    <div className={styles.bulk} role="region" aria-label={t.label}>
      <strong role="status">{t.chosen(chosen.size)}</strong>
      {more && (
        <Button size="compact-sm" variant="subtle" loading={more.busy} onClick={more.choose}>
          {t.all(more.total)}
        </Button>
      )}
      {commands.map(type => (
        <Button key={type} size="compact-sm" variant="default" onClick={() => setOpen(type)}>
          {t.acts[type]}
        </Button>
      ))}
      <Button size="compact-sm" variant="default" onClick={() => setOpen('deploy')}>
        {t.deploy}
      </Button>
      <Button size="compact-sm" variant="default" loading={sync.isPending} onClick={() => sync.mutate()}>
        {t.sync}
      </Button>
      <button type="button" className={parts.quiet} onClick={props.onClear}>
        {t.clear}
      </button>
      <Refusal error={sync.error} />
      {open && (
        <Suspense>
          {open === 'deploy' ? (
            <DeployDialog servers={chosen} onClose={close} />
          ) : (
            <RunDialog type={open} servers={chosen} onClose={close} />
          )}
        </Suspense>
      )}
    </div>
  )
}
