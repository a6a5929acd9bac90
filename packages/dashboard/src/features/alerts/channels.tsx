import { lazy, useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { DeliveryTest } from '../settings/delivery-test.tsx'
import { alertChannelsTexts } from './alert-channels.texts.ts'
import { alertsQuery, routeChannelsQuery } from './queries.ts'
import type { Channel } from './queries.ts'
import styles from './alerts.module.css'

const ChannelDialog = lazy(() => import('./channel-dialog.tsx'))
const DeliveriesDialog = lazy(() => import('./deliveries-dialog.tsx'))

/** Channels and routes change what nobody hears, so the alerts are read again too. */
const reread = () =>
  Promise.all([
    queries.invalidateQueries({ queryKey: routeChannelsQuery.queryKey }),
    queries.invalidateQueries({ queryKey: alertsQuery.queryKey }),
  ])
type Open = { readonly what: 'change' | 'log' | 'remove'; readonly is: Channel } | null

/** Where messages go: the chat and the e-mail of the settings, and any number of services beside them. */
export const Channels = ({ isAdding, onAdding }: { isAdding: boolean; onAdding: (isAdding: boolean) => void }) => {
  const t = textsOf(alertChannelsTexts)
  const query = useQuery(routeChannelsQuery)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  return (
    <Panel title={t.title} aside={<SmallButton onClick={() => onAdding(true)}>{t.add}</SmallButton>}>
      <Trouble what={t.what} query={query} />
      <ul className={styles.list}>
        {query.data?.channels.map(channel => (
          <ChannelLine key={channel.id} is={channel} onOpen={what => setOpen({ what, is: channel })} />
        ))}
      </ul>
      <Dialogs>
        {isAdding && <ChannelDialog onClose={() => onAdding(false)} onSaved={reread} />}
        {open?.what === 'change' && <ChannelDialog is={open.is} onClose={close} onSaved={reread} />}
        {open?.what === 'log' && <DeliveriesDialog is={open.is} onClose={close} />}
        {open?.what === 'remove' && (
          <Confirm
            title={t.removeOf(open.is.name)}
            text={t.removeText}
            verb={t.remove}
            act={() => api.call('DELETE /channels/{id}', { params: { id: open.is.id } }).then(reread)}
            onClose={close}
          />
        )}
      </Dialogs>
    </Panel>
  )
}

const ChannelLine = ({ is, onOpen }: { is: Channel; onOpen: (what: 'change' | 'log' | 'remove') => void }) => {
  const t = textsOf(alertChannelsTexts)
  const tone = !is.enabled ? 'neutral' : is.failing_since ? 'danger' : 'ok'
  const word = !is.enabled ? t.off : is.failing_since ? t.failing : t.on
  return (
    <li>
      <div className={styles.words}>
        <span>
          <Mark tone={tone}>{word}</Mark>{' '}
          <strong>
            <Stranger text={is.name} most={60} />
          </strong>
        </span>
        {is.last_error && (
          <span className={parts.muted}>
            <Stranger text={is.last_error} most={300} />
          </span>
        )}
        {is.enabled && (
          <DeliveryTest
            channel={is.name}
            unsaved={false}
            send={() => api.call('POST /channels/{id}/test', { params: { id: is.id } }).finally(reread)}
          />
        )}
      </div>
      <div className={parts.row}>
        {is.builtin && <Link to="/settings/notifications">{t.builtin}</Link>}
        <SmallButton aria-label={t.logOf(is.name)} onClick={() => onOpen('log')}>
          {t.log}
        </SmallButton>
        {!is.builtin && <Acts is={is} onOpen={onOpen} />}
      </div>
    </li>
  )
}

const Acts = ({ is, onOpen }: { is: Channel; onOpen: (what: 'change' | 'remove') => void }) => {
  const t = textsOf(alertChannelsTexts)
  const set = useMutation({
    mutationFn: () => api.call('PATCH /channels/{id}', { params: { id: is.id }, body: { enabled: !is.enabled } }),
    onSettled: reread,
  })
  const verb = is.enabled ? t.switchOff : t.switchOn
  return (
    <>
      <SmallButton aria-label={t.editOf(is.name)} onClick={() => onOpen('change')}>
        {t.edit}
      </SmallButton>
      <SmallButton aria-label={t.switchOf(verb, is.name)} loading={set.isPending} onClick={() => set.mutate()}>
        {verb}
      </SmallButton>
      <SmallButton aria-label={t.removeOf(is.name)} onClick={() => onOpen('remove')}>
        {t.remove}
      </SmallButton>
      <Refusal error={set.error} />
    </>
  )
}
