import { Suspense, lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { valueAt } from '@stockade/contract/records.ts'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { alertChannelsTexts } from './alert-channels.texts.ts'
import { Delivery, DeliveryTest } from './delivery-test.tsx'
import { SettingsPage } from './settings-page.tsx'

const ChannelDialog = lazy(() => import('./alert-channel-dialog.tsx'))
const DeliveriesDialog = lazy(() => import('./alert-deliveries.tsx'))

type Channel = Reply<'GET /channels'>['channels'][number]
const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => api.call('GET /channels', { signal }),
  refetchInterval: every(15_000),
})
const reread = () => queries.invalidateQueries({ queryKey: channelsQuery.queryKey })
type Open = 'new' | { readonly what: 'change' | 'log' | 'remove'; readonly is: Channel } | null

/** Where alerts go, beside the chat and the e-mail of the settings. */
export const ChannelSettings = () => {
  const t = textsOf(alertChannelsTexts)
  const query = useQuery(channelsQuery)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const opened = open !== null && open !== 'new' ? open : null
  return (
    <SettingsPage title={t.title}>
      <p className={parts.help}>
        {t.lead} <Link to="/alerts">{t.toAlerts}</Link>
      </p>
      <div className={parts.row}>
        <Button onClick={() => setOpen('new')}>{t.add}</Button>
      </div>
      <Loading what={t.what} query={query} lines={4} />
      {query.data?.channels.map(channel => (
        <ChannelPanel key={channel.id} is={channel} onOpen={what => setOpen({ what, is: channel })} />
      ))}
      <Suspense>
        {open === 'new' && <ChannelDialog onClose={close} onSaved={reread} />}
        {opened?.what === 'change' && <ChannelDialog is={opened.is} onClose={close} onSaved={reread} />}
        {opened?.what === 'log' && <DeliveriesDialog is={opened.is} onClose={close} />}
        {opened?.what === 'remove' && (
          <Confirm
            title={t.removeOf(opened.is.name)}
            text={t.removeText}
            verb={t.remove}
            act={() => api.call('DELETE /channels/{id}', { params: { id: opened.is.id } }).then(reread)}
            onClose={close}
          />
        )}
      </Suspense>
    </SettingsPage>
  )
}

const ChannelPanel = ({ is, onOpen }: { is: Channel; onOpen: (what: 'change' | 'log' | 'remove') => void }) => {
  const t = textsOf(alertChannelsTexts)
  const tone = !is.enabled ? 'neutral' : is.failing_since ? 'danger' : 'ok'
  const word = !is.enabled ? t.off : is.failing_since ? t.failing : t.on
  return (
    <Panel title={is.name} aside={<Mark tone={tone}>{word}</Mark>}>
      {is.builtin && (
        <p className={parts.help}>
          {t.builtin} <Link to="/settings/notifications">{t.toSettings}</Link>
        </p>
      )}
      {!is.builtin && <Values is={is} />}
      <Delivery is={is} />
      {!is.builtin && <Acts is={is} onOpen={onOpen} />}
      {(!is.builtin || is.enabled) && (
        <DeliveryTest
          channel={is.name}
          unsaved={false}
          send={() => api.call('POST /channels/{id}/test', { params: { id: is.id } }).finally(reread)}
        />
      )}
    </Panel>
  )
}

const Values = ({ is }: { is: Channel }) => {
  const { fields } = textsOf(alertChannelsTexts)
  const filledFields = is.fields.filter(({ value }) => value !== null)
  if (filledFields.length === 0) return null
  return (
    <dl className={parts.details}>
      {filledFields.map(({ name, value }) => [
        <dt key={`${name} name`}>{valueAt(fields, name) ?? name}</dt>,
        <dd key={name}>
          <Stranger text={value ?? ''} most={200} />
        </dd>,
      ])}
    </dl>
  )
}

const Acts = ({ is, onOpen }: { is: Channel; onOpen: (what: 'change' | 'log' | 'remove') => void }) => {
  const t = textsOf(alertChannelsTexts)
  const set = useMutation({
    mutationFn: () => api.call('PATCH /channels/{id}', { params: { id: is.id }, body: { enabled: !is.enabled } }),
    onSettled: reread,
  })
  const verb = is.enabled ? t.switchOff : t.switchOn
  return (
    <>
      <div className={parts.row}>
        <Button variant="default" aria-label={t.editOf(is.name)} onClick={() => onOpen('change')}>
          {t.edit}
        </Button>
        <Button variant="default" aria-label={t.logOf(is.name)} onClick={() => onOpen('log')}>
          {t.log}
        </Button>
        <Button
          variant="default"
          aria-label={t.switchOf(verb, is.name)}
          loading={set.isPending}
          onClick={() => set.mutate()}
        >
          {verb}
        </Button>
        <Button variant="default" aria-label={t.removeOf(is.name)} onClick={() => onOpen('remove')}>
          {t.remove}
        </Button>
      </div>
      <Refusal error={set.error} />
    </>
  )
}
