import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { SelectField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { chatQuery, emailQuery, settingsQuery } from '../identity/queries.ts'
import { ChatPanel, EmailPanel } from './channels.tsx'
import { Help } from './fields.tsx'
import { chatChange, emailChange, fieldsOf, problemsOf, typedOf } from './notifications-form.ts'
import type { Chat, Email } from './notifications-form.ts'
import { notificationsTexts } from './notifications.texts.ts'
import { SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'

const hours = Array.from({ length: 24 }, (_, hour) => hour)

export const NotificationSettings = () => {
  const t = textsOf(settingsTexts)
  const settings = useQuery(settingsQuery)
  const chat = useQuery(chatQuery)
  const email = useQuery(emailQuery)
  const allQueries = [settings, chat, email]
  const wrong = allQueries.find(({ isError }) => isError) ?? settings
  return (
    <SettingsPage title={t.notifications}>
      {/* They are shown together or not at all: one thing went wrong, whichever of them it was. */}
      <Trouble
        what={t.what}
        query={{
          ...wrong,
          refetch: () => allQueries.filter(({ isError }) => isError).forEach(query => void query.refetch()),
        }}
      />
      {allQueries.some(query => query.isPending) && !wrong.isError && <Waiting />}
      {settings.data && chat.data && email.data && (
        <NotificationsForm
          hour={settings.data.notifications.daily_summary_hour}
          zone={settings.data.service.timezone}
          chat={chat.data}
          email={email.data}
        />
      )}
    </SettingsPage>
  )
}

const readFresh = async () => {
  const [settings, chat, email] = await Promise.all([
    queries.fetchQuery({ ...settingsQuery, staleTime: 0 }),
    queries.fetchQuery({ ...chatQuery, staleTime: 0 }),
    queries.fetchQuery({ ...emailQuery, staleTime: 0 }),
  ])
  return typedOf(settings.notifications.daily_summary_hour, chat, email)
}
const reread = () => queries.invalidateQueries({ queryKey: settingsQuery.queryKey })

/** One form, three requests. */
const useNotifications = (hour: number, chat: Chat, email: Email) =>
  useForm({
    name: 'notifications',
    is: typedOf(hour, chat, email),
    fields: fieldsOf(chat, email),
    problems: problemsOf,
    pathOf: name => (name === 'hour' ? 'notifications.daily_summary_hour' : name.replace(/^\w+\./, '')),
    fresh: readFresh,
    parts: [
      {
        has: name => name === 'hour',
        send: values => api.call('PATCH /settings', { body: { notifications: { daily_summary_hour: values.hour } } }),
      },
      {
        has: name => name.startsWith('chat.'),
        send: (values, changed) => api.call('PATCH /settings/chat', { body: chatChange(values, changed) }),
      },
      {
        has: name => name.startsWith('email.'),
        send: (values, changed) => api.call('PATCH /settings/email', { body: emailChange(values, changed) }),
      },
    ],
    reread,
  })

const NotificationsForm = (is: { hour: number; zone: string; chat: Chat; email: Email }) => {
  const t = textsOf(notificationsTexts)
  const form = useNotifications(is.hour, is.chat, is.email)
  return (
    <Form form={form}>
      <ChatPanel is={is.chat} form={form} />
      <EmailPanel is={is.email} form={form} />
      <Panel title={t.hourTitle}>
        <SelectField
          {...form.bind('hour')}
          help={
            <Help of="notifications.daily_summary_hour">
              {t.hourHelp(is.zone)} <Link to="/settings/general">{t.toZone}</Link>
            </Help>
          }
          options={hours.map(value => ({ value, text: t.hourOf(value) }))}
        />
      </Panel>
    </Form>
  )
}
