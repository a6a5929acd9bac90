import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { optionsQuery } from '../../api/queries.ts'
import { SecretField, TextField } from '../../kit/form-fields.tsx'
import type { useForm } from '../../kit/form.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { CheckField } from '../identity/choices.tsx'
import { Delivery, DeliveryTest } from './delivery-test.tsx'
import { Changed, Help } from './fields.tsx'
import { masked, topics } from './notifications-form.ts'
import type { Channel, Chat, Email, Typed } from './notifications-form.ts'
import { notificationsTexts } from './notifications.texts.ts'
import styles from './settings.module.css'
import { readNames } from './typed.ts'

export type NotificationsForm = ReturnType<typeof useForm<Typed>>
const isUnsaved = (form: NotificationsForm, channel: Channel) =>
  [...form.changed].some(name => name.startsWith(channel))

export const ChatPanel = ({ is, form }: { is: Chat; form: NotificationsForm }) => {
  const t = textsOf(notificationsTexts)
  const site = useQuery(optionsQuery).data?.site_name ?? textsOf(commonTexts).product
  const webhook = form.values['chat.webhook_url']
  const willHave = webhook === '' ? is.webhook_url !== null : webhook !== null
  return (
    <Panel title={t.chat}>
      <div className={parts.form}>
        <p className={parts.muted}>{t.chatAbout}</p>
        <CheckField {...form.bind('chat.enabled')} meaning={<Changed of="chat.enabled" />} />
        {form.values['chat.enabled'] && !willHave && (
          <p className={parts.warn} role="status">
            {t.noWebhook}
          </p>
        )}
        <SecretField
          {...form.bind('chat.webhook_url')}
          most={2048}
          help={
            <Help of="chat.webhook_url">
              {t.webhookHelp} {is.webhook_url !== null && <CurrentWebhook url={is.webhook_url} />}
            </Help>
          }
          isSet={is.webhook_url !== null}
        />
        <Topics channel="chat" form={form} />
        <Delivery is={is} />
        <DeliveryTest
          channel={t.chat}
          unsaved={isUnsaved(form, 'chat')}
          says={t.saysWhat(site)}
          send={() => api.call('POST /settings/chat/test')}
        />
      </div>
    </Panel>
  )
}

/** Masked until somebody asks: who reads it can write to the channel. */
const CurrentWebhook = ({ url }: { url: string }) => {
  const t = textsOf(notificationsTexts)
  const [isShown, setShown] = useState(false)
  return (
    <span className={styles.changed}>
      {t.webhookNow('')} <bdi className={styles.key}>{isShown ? url : masked(url)}</bdi>{' '}
      <button type="button" className={parts.quiet} onClick={() => setShown(!isShown)}>
        {isShown ? t.webhookHide : t.webhookShow}
      </button>
    </span>
  )
}

export const EmailPanel = ({ is, form }: { is: Email; form: NotificationsForm }) => {
  const t = textsOf(notificationsTexts)
  const [to, setTo] = useState('')
  const hasHost = form.values['email.smtp_host'].trim() !== ''
  const hasRecipients = readNames(form.values['email.recipients']).length > 0
  return (
    <Panel title={t.email}>
      <div className={parts.form}>
        <p className={parts.muted}>{t.emailAbout}</p>
        <CheckField {...form.bind('email.enabled')} meaning={<Changed of="email.enabled" />} />
        {form.values['email.enabled'] && !(hasHost && hasRecipients) && (
          <p className={parts.warn} role="status">
            {hasHost ? t.noRecipients : t.noHost}
          </p>
        )}
        <MailServer form={form} isPassSet={is.smtp_pass_set} />
        <Topics channel="email" form={form} />
        <Delivery is={is} />
        <TextField
          label={t.testTo}
          help={t.testToHelp}
          error={undefined}
          most={254}
          kind="email"
          value={to}
          onValue={setTo}
        />
        <DeliveryTest
          channel={t.email}
          unsaved={isUnsaved(form, 'email')}
          send={() => api.call('POST /settings/email/test', { body: to.trim() ? { recipient: to.trim() } : {} })}
        />
      </div>
    </Panel>
  )
}

const MailServer = ({ form, isPassSet }: { form: NotificationsForm; isPassSet: boolean }) => {
  const t = textsOf(notificationsTexts)
  return (
    <>
      <div className={styles.pair}>
        <TextField
          {...form.bind('email.smtp_host')}
          help={<Help of="email.smtp_host">{t.hostHelp}</Help>}
          most={253}
          kind="url"
        />
        <TextField
          {...form.bind('email.smtp_port')}
          help={<Help of="email.smtp_port">{t.portHelp}</Help>}
          most={6}
          kind="numeric"
        />
      </div>
      <CheckField {...form.bind('email.smtp_tls')} meaning={<Help of="email.smtp_tls">{t.tlsHelp}</Help>} />
      <TextField {...form.bind('email.smtp_user')} help={<Help of="email.smtp_user">{t.userHelp}</Help>} most={254} />
      <SecretField
        {...form.bind('email.smtp_pass')}
        help={<Help of="email.smtp_pass">{t.passHelp}</Help>}
        isSet={isPassSet}
      />
      <TextField
        {...form.bind('email.from_address')}
        help={<Help of="email.from_address">{t.fromHelp}</Help>}
        most={254}
        kind="email"
      />
      <TextField
        {...form.bind('email.recipients')}
        help={<Help of="email.recipients">{t.recipientsHelp}</Help>}
        most={26_000}
        rows={3}
      />
    </>
  )
}

const Topics = ({ channel, form }: { channel: Channel; form: NotificationsForm }) => {
  const t = textsOf(notificationsTexts)
  const help = {
    notify_bans: t.bansHelp,
    notify_errors: t.errorsHelp,
    notify_syncs: t.syncsHelp,
    daily_summary: t.summaryHelp,
  }
  return (
    <fieldset className={`${parts.group ?? ''} ${styles.checks ?? ''}`}>
      <legend>{t.about}</legend>
      {topics.map(topic => (
        <CheckField
          key={topic}
          {...form.bind(`${channel}.${topic}`)}
          meaning={<Help of={`${channel}.${topic}`}>{help[topic]}</Help>}
        />
      ))}
    </fieldset>
  )
}
