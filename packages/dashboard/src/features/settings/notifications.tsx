import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { stepsOf } from '../../kit/step-list.ts'
import type { Step } from '../../kit/step-list.ts'
import { Steps } from '../../kit/steps.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble, fieldProblem, sentenceOf } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { Check } from '../identity/choices.tsx'
import { chatQuery, emailQuery, settingsQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { useDraft } from '../../kit/draft.ts'
import { Changed, Help, SecretSetting, TextSetting, secretChange } from './fields.tsx'
import { SaveBar, SettingsPage } from './settings-page.tsx'
import { chatChange, emailChange, masked, toggleFields, topics, typedChat, typedEmail } from './notifications-form.ts'
import type { Chat, Email, TypedChat, TypedEmail } from './notifications-form.ts'
import { notificationsTexts } from './notifications.texts.ts'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'
import { readNames, readWhole } from './typed.ts'

const hours = Array.from({ length: 24 }, (_, hour) => hour)

export const NotificationSettings = () => {
  const t = textsOf(settingsTexts)
  const settings = useQuery(settingsQuery)
  const chat = useQuery(chatQuery)
  const email = useQuery(emailQuery)
  const asked = [settings, chat, email]
  const wrong = asked.find(({ isError }) => isError) ?? settings
  return (
    <SettingsPage title={t.notifications}>
      {/* They are shown together or not at all: one thing went wrong, whichever of them it was. */}
      <Trouble
        what={t.what}
        query={{
          ...wrong,
          refetch: () => asked.filter(({ isError }) => isError).forEach(query => void query.refetch()),
        }}
      />
      {asked.some(query => query.isPending) && !wrong.isError && <Waiting />}
      {settings.data && chat.data && email.data && (
        <Form
          hour={settings.data.notifications.daily_summary_hour}
          zone={settings.data.service.timezone}
          chat={chat.data}
          email={email.data}
        />
      )}
    </SettingsPage>
  )
}

const Form = (is: { hour: number; zone: string; chat: Chat; email: Email }) => {
  const common = textsOf(settingsTexts)
  const t = textsOf(notificationsTexts)
  const hour = useDraft({ hour: is.hour }, { name: 'summary' })
  const chat = useDraft(typedChat(is.chat), { name: 'chat', secrets: ['webhook'] })
  const email = useDraft(typedEmail(is.email), { name: 'email', secrets: ['pass'] })
  const reset = () => {
    hour.reset()
    chat.reset()
    email.reset()
  }

  const word = (on: boolean) => (on ? common.on : common.off)
  const names = {
    chat: {
      enabled: t.chatEnabled,
      bans: t.bans,
      errors: t.errors,
      syncs: t.syncs,
      summary: t.summary,
      webhook: t.webhook,
    },
    email: {
      enabled: t.emailEnabled,
      bans: t.bans,
      errors: t.errors,
      syncs: t.syncs,
      summary: t.summary,
      host: t.host,
      port: t.port,
      user: t.user,
      pass: t.pass,
      tls: t.tls,
      from: t.from,
      recipients: t.recipients,
    },
  }
  const said = (value: unknown) => (typeof value === 'boolean' ? word(value) : readLines(String(value)) || t.none)
  const chatWas = typedChat(is.chat)
  const emailWas = typedEmail(is.email)
  const changes = [
    ...(hour.changed.has('hour') ? [common.change(t.hourTitle, t.hourOf(is.hour), t.hourOf(hour.values.hour))] : []),
    ...[...chat.changed].map(name =>
      name === 'webhook'
        ? secretChange(`${t.chat}, ${t.webhook}`, is.chat.webhook_url !== null, chat.values.webhook)
        : common.change(`${t.chat}, ${names.chat[name]}`, said(chatWas[name]), said(chat.values[name])),
    ),
    ...[...email.changed].map(name =>
      name === 'pass'
        ? secretChange(`${t.email}, ${t.pass}`, is.email.smtp_pass_set, email.values.pass)
        : common.change(`${t.email}, ${names.email[name]}`, said(emailWas[name]), said(email.values[name])),
    ),
  ]
  const wrong = {
    webhook: chat.values.webhook && !/^https?:\/\/[^/]/i.test(chat.values.webhook.trim()) ? t.webhookWrong : undefined,
    port: readWhole(email.values.port, 1, 65_535) === null ? t.portWrong : undefined,
  }

  const saveHour = useMutation({
    mutationFn: () =>
      api.call('PATCH /settings', { body: { notifications: { daily_summary_hour: hour.values.hour } } }),
  })
  const saveChat = useMutation({
    mutationFn: () => api.call('PATCH /settings/chat', { body: chatChange(chat.values, chat.changed) }),
  })
  const saveEmail = useMutation({
    mutationFn: () => api.call('PATCH /settings/email', { body: emailChange(email.values, email.changed) }),
  })
  const parted = [
    { draft: hour, save: saveHour },
    { draft: chat, save: saveChat },
    { draft: email, save: saveEmail },
  ]
  /** Three requests, one after the other: what is refused stays typed, what was taken is saved. */
  const save = useMutation({
    mutationFn: async () => {
      const fresh = await Promise.all([
        queries.fetchQuery({ ...settingsQuery, staleTime: 0 }),
        queries.fetchQuery({ ...chatQuery, staleTime: 0 }),
        queries.fetchQuery({ ...emailQuery, staleTime: 0 }),
      ])
      const current = [
        hour.isCurrent({ hour: fresh[0].notifications.daily_summary_hour }),
        chat.isCurrent(typedChat(fresh[1])),
        email.isCurrent(typedEmail(fresh[2])),
      ]
      if (current.includes(false)) return
      for (const { draft, save: one } of parted) if (draft.changed.size === 0) one.reset()
      let refused = false
      for (const { draft, save: one } of parted) {
        if (draft.changed.size === 0) continue
        try {
          await one.mutateAsync()
          await queries.invalidateQueries({ queryKey: settingsQuery.queryKey })
          draft.reset()
        } catch {
          // It is shown where it belongs.
          refused = true
        }
      }
      if (!refused) announce(common.saved)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!wrong.webhook && !wrong.port && changes.length > 0 && !save.isPending) save.mutate()
  }
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <div className={identity.columns}>
        <div className={parts.form}>
          <ChatPanel
            is={is.chat}
            typed={chat.values}
            onTyped={chat.set}
            unsaved={chat.changed.size > 0}
            error={saveChat.error}
            wrong={wrong.webhook}
          />
          <Panel title={t.hourTitle}>
            <Field
              label={t.hour}
              help={
                <Help of="notifications.daily_summary_hour">
                  {t.hourHelp(is.zone)} <Link to="/settings/general">{t.toZone}</Link>
                </Help>
              }
              error={fieldProblem(saveHour.error, 'notifications.daily_summary_hour')}
            >
              {ids => (
                <select
                  {...ids}
                  className={parts.input}
                  value={hour.values.hour}
                  onChange={event => hour.set({ hour: Number(event.currentTarget.value) })}
                >
                  {hours.map(at => (
                    <option key={at} value={at}>
                      {t.hourOf(at)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </Panel>
        </div>
        <EmailPanel
          is={is.email}
          typed={email.values}
          onTyped={email.set}
          unsaved={email.changed.size > 0}
          error={saveEmail.error}
          wrong={wrong.port}
        />
      </div>
      <Refusal error={save.error ?? saveHour.error ?? saveChat.error ?? saveEmail.error} />
      <SaveBar
        changes={changes}
        overtaken={[
          ...hour.overtaken.map(() => t.hourTitle),
          ...chat.overtaken.map(name => `${t.chat}, ${names.chat[name]}`),
          ...email.overtaken.map(name => `${t.email}, ${names.email[name]}`),
        ]}
        busy={save.isPending}
        onDiscard={() => {
          reset()
          for (const one of [save, saveHour, saveChat, saveEmail]) one.reset()
        }}
      />
    </form>
  )
}
const readLines = (typed: string) => typed.trim().split('\n').join(', ')

interface Shown<Is, Typed> {
  readonly is: Is
  readonly typed: Typed
  readonly onTyped: (change: Partial<Typed>) => void
  readonly unsaved: boolean
  readonly error: unknown
  readonly wrong: string | undefined
}

const ChatPanel = ({ is, typed, onTyped, unsaved, error, wrong }: Shown<Chat, TypedChat>) => {
  const t = textsOf(notificationsTexts)
  const [shown, setShown] = useState(false)
  const site = useQuery(optionsQuery).data?.site_name ?? textsOf(commonTexts).product
  const willHave = typed.webhook === '' ? is.webhook_url !== null : typed.webhook !== null
  return (
    <Panel title={t.chat}>
      <div className={parts.form}>
        <p className={parts.muted}>{t.chatAbout}</p>
        <Check
          label={t.chatEnabled}
          meaning={<Changed of="chat.enabled" />}
          checked={typed.enabled}
          onChecked={enabled => onTyped({ enabled })}
        />
        {typed.enabled && !willHave && (
          <p className={parts.warn} role="status">
            {t.noWebhook}
          </p>
        )}
        <SecretSetting
          label={t.webhook}
          most={2048}
          help={
            <Help of="chat.webhook_url">
              {t.webhookHelp}
              {is.webhook_url !== null && (
                <span className={styles.changed}>
                  {t.webhookNow('')} <bdi className={styles.key}>{shown ? is.webhook_url : masked(is.webhook_url)}</bdi>{' '}
                  <button type="button" className={parts.quiet} onClick={() => setShown(!shown)}>
                    {shown ? t.webhookHide : t.webhookShow}
                  </button>
                </span>
              )}
            </Help>
          }
          error={wrong ?? fieldProblem(error, 'webhook_url')}
          isSet={is.webhook_url !== null}
          value={typed.webhook}
          onValue={webhook => onTyped({ webhook })}
        />
        <Topics channel="chat" typed={typed} onTyped={onTyped} />
        <Delivery is={is} />
        <Test
          channel={t.chat}
          unsaved={unsaved}
          says={t.saysWhat(site)}
          send={() => api.call('POST /settings/chat/test')}
        />
      </div>
    </Panel>
  )
}

const EmailPanel = ({ is, typed, onTyped, unsaved, error, wrong }: Shown<Email, TypedEmail>) => {
  const t = textsOf(notificationsTexts)
  const [to, setTo] = useState('')
  const problem = (field: string) => fieldProblem(error, field)
  const recipients = readNames(typed.recipients)
  // A refusal counts them: recipients.2.
  const badRecipient = recipients.map((_, index) => problem(`recipients.${index}`)).find(Boolean)
  return (
    <Panel title={t.email}>
      <div className={parts.form}>
        <p className={parts.muted}>{t.emailAbout}</p>
        <Check
          label={t.emailEnabled}
          meaning={<Changed of="email.enabled" />}
          checked={typed.enabled}
          onChecked={enabled => onTyped({ enabled })}
        />
        {typed.enabled && (typed.host.trim() === '' || recipients.length === 0) && (
          <p className={parts.warn} role="status">
            {typed.host.trim() === '' ? t.noHost : t.noRecipients}
          </p>
        )}
        <div className={styles.pair}>
          <TextSetting
            label={t.host}
            help={<Help of="email.smtp_host">{t.hostHelp}</Help>}
            error={problem('smtp_host')}
            most={253}
            kind="url"
            value={typed.host}
            onValue={host => onTyped({ host })}
          />
          <TextSetting
            label={t.port}
            help={<Help of="email.smtp_port">{t.portHelp}</Help>}
            error={wrong ?? problem('smtp_port')}
            most={6}
            kind="numeric"
            value={typed.port}
            onValue={port => onTyped({ port })}
          />
        </div>
        <Check
          label={t.tls}
          meaning={<Help of="email.smtp_tls">{t.tlsHelp}</Help>}
          checked={typed.tls}
          onChecked={tls => onTyped({ tls })}
        />
        <TextSetting
          label={t.user}
          help={<Help of="email.smtp_user">{t.userHelp}</Help>}
          error={problem('smtp_user')}
          most={254}
          value={typed.user}
          onValue={user => onTyped({ user })}
        />
        <SecretSetting
          label={t.pass}
          help={<Help of="email.smtp_pass">{t.passHelp}</Help>}
          error={problem('smtp_pass')}
          isSet={is.smtp_pass_set}
          value={typed.pass}
          onValue={pass => onTyped({ pass })}
        />
        <TextSetting
          label={t.from}
          help={<Help of="email.from_address">{t.fromHelp}</Help>}
          error={problem('from_address')}
          most={254}
          kind="email"
          value={typed.from}
          onValue={from => onTyped({ from })}
        />
        <TextSetting
          label={t.recipients}
          help={<Help of="email.recipients">{t.recipientsHelp}</Help>}
          error={problem('recipients') ?? badRecipient}
          most={26_000}
          rows={3}
          value={typed.recipients}
          onValue={typedRecipients => onTyped({ recipients: typedRecipients })}
        />
        <Topics channel="email" typed={typed} onTyped={onTyped} />
        <Delivery is={is} />
        <TextSetting label={t.testTo} help={t.testToHelp} most={254} kind="email" value={to} onValue={setTo} />
        <Test
          channel={t.email}
          unsaved={unsaved}
          send={() => api.call('POST /settings/email/test', { body: to.trim() ? { recipient: to.trim() } : {} })}
        />
      </div>
    </Panel>
  )
}

const Topics = <T extends TypedChat | TypedEmail>(props: {
  channel: 'chat' | 'email'
  typed: T
  onTyped: (change: Partial<T>) => void
}) => {
  const t = textsOf(notificationsTexts)
  const { channel, typed, onTyped } = props
  return (
    <fieldset className={styles.checks}>
      <legend>{t.about}</legend>
      {([...topics, 'summary'] as const).map(name => (
        <Check
          key={name}
          label={t[name]}
          meaning={<Help of={`${channel}.${toggleFields[name]}`}>{t[`${name}Help`]}</Help>}
          checked={typed[name]}
          onChecked={on => onTyped({ [name]: on } as unknown as Partial<T>)}
        />
      ))}
    </fieldset>
  )
}

/** How it went so far, in the other side's words. */
const Delivery = ({ is }: { is: Chat | Email }) => {
  const t = textsOf(notificationsTexts)
  return (
    <dl className={parts.details}>
      <dt>{t.lastSent}</dt>
      <dd>{is.last_sent ? <Time at={is.last_sent} /> : t.nothingSent}</dd>
      {is.failing_since && (
        <>
          <dt>{t.failingSince}</dt>
          <dd>
            <Time at={is.failing_since} />
          </dd>
        </>
      )}
      {is.last_error && (
        <>
          <dt>{t.lastError}</dt>
          <dd className={styles.outcome}>
            <bdi>{is.last_error}</bdi>
          </dd>
        </>
      )}
    </dl>
  )
}

interface Outcome {
  readonly message: string
  readonly steps: readonly Step[]
}
const timed = async (send: () => Promise<Outcome>) => {
  const began = performance.now()
  const { message, steps } = await send()
  return { words: message, steps, seconds: ((performance.now() - began) / 1000).toFixed(1) }
}

const Test = (props: { channel: string; unsaved: boolean; says?: string; send: () => Promise<Outcome> }) => {
  const t = textsOf(notificationsTexts)
  const [early, setEarly] = useState(false)
  const run = useMutation({
    mutationFn: () => timed(props.send),
    onSettled: () => queries.invalidateQueries({ queryKey: settingsQuery.queryKey }),
  })
  const steps = stepsOf(run.error)
  const start = () => {
    setEarly(props.unsaved)
    if (!props.unsaved && !run.isPending) run.mutate()
  }
  return (
    <div className={identity.block}>
      <Button variant="default" aria-label={t.testOf(props.channel)} onClick={start} loading={run.isPending}>
        {t.test}
      </Button>
      {props.says && <p className={parts.help}>{props.says}</p>}
      <div role="status" className={styles.outcome}>
        {early && props.unsaved && <p className={parts.warn}>{t.testSaveFirst}</p>}
        {run.isPending && <p>{t.testing}</p>}
        {run.data && (
          <p>
            <Mark tone="ok">{t.testDone}</Mark> {t.testTook(run.data.words, run.data.seconds)}
          </p>
        )}
      </div>
      {run.data && <Steps done={run.data.steps} />}
      {run.error && (
        <div className={`${parts.refusal ?? ''} ${styles.outcome ?? ''}`} role="alert">
          <strong>{t.testFailed}</strong>
          <p>{sentenceOf(run.error)}</p>
        </div>
      )}
      {steps.length > 0 && <Steps done={steps} />}
    </div>
  )
}
