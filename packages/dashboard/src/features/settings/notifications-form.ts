import type { Reply } from '@stockade/client'
import { unchangedSecret } from '../../kit/secret-draft.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { notificationsTexts } from './notifications.texts.ts'
import { readNames, readWhole } from './typed.ts'

export type Chat = Reply<'GET /settings/chat'>
export type Email = Reply<'GET /settings/email'>
export type Channel = 'chat' | 'email'
export const topics = ['notify_bans', 'notify_errors', 'notify_syncs', 'daily_summary'] as const

/** Both channels and the hour in one form; the names are those of the API behind the channel's. */
export const typedOf = (hour: number, chat: Chat, email: Email) => ({
  hour,
  'chat.enabled': chat.enabled,
  'chat.webhook_url': unchangedSecret,
  'chat.notify_bans': chat.notify_bans,
  'chat.notify_errors': chat.notify_errors,
  'chat.notify_syncs': chat.notify_syncs,
  'chat.daily_summary': chat.daily_summary,
  'email.enabled': email.enabled,
  'email.smtp_host': email.smtp_host ?? '',
  'email.smtp_port': String(email.smtp_port),
  'email.smtp_user': email.smtp_user ?? '',
  'email.smtp_pass': unchangedSecret,
  'email.smtp_tls': email.smtp_tls,
  'email.from_address': email.from_address ?? '',
  'email.recipients': email.recipients.join('\n'),
  'email.notify_bans': email.notify_bans,
  'email.notify_errors': email.notify_errors,
  'email.notify_syncs': email.notify_syncs,
  'email.daily_summary': email.daily_summary,
})
export type Typed = ReturnType<typeof typedOf>

export const fieldsOf = (chat: Chat, email: Email) => {
  const t = textsOf(notificationsTexts)
  const of = (within: string) => (label: string) => ({ within, label })
  const [ofChat, ofEmail] = [of(t.chat), of(t.email)]
  return {
    hour: { within: t.hourTitle, label: t.hour, say: t.hourOf },
    'chat.enabled': ofChat(t.chatEnabled),
    'chat.webhook_url': { ...ofChat(t.webhook), isSet: chat.webhook_url !== null },
    'chat.notify_bans': ofChat(t.bans),
    'chat.notify_errors': ofChat(t.errors),
    'chat.notify_syncs': ofChat(t.syncs),
    'chat.daily_summary': ofChat(t.summary),
    'email.enabled': ofEmail(t.emailEnabled),
    'email.smtp_host': ofEmail(t.host),
    'email.smtp_port': ofEmail(t.port),
    'email.smtp_user': ofEmail(t.user),
    'email.smtp_pass': { ...ofEmail(t.pass), isSet: email.smtp_pass_set },
    'email.smtp_tls': ofEmail(t.tls),
    'email.from_address': ofEmail(t.from),
    'email.recipients': ofEmail(t.recipients),
    'email.notify_bans': ofEmail(t.bans),
    'email.notify_errors': ofEmail(t.errors),
    'email.notify_syncs': ofEmail(t.syncs),
    'email.daily_summary': ofEmail(t.summary),
  }
}

export const problemsOf = (typed: Typed) => {
  const t = textsOf(notificationsTexts)
  const webhook = typed['chat.webhook_url']
  return {
    'chat.webhook_url': webhook && !/^https?:\/\/[^/]/i.test(webhook.trim()) ? t.webhookWrong : undefined,
    'email.smtp_port': readWhole(typed['email.smtp_port'], 1, 65_535) === null ? t.portWrong : undefined,
  }
}

type Changed = ReadonlySet<string>
const switches = ['enabled', ...topics] as const
const changedSwitches = (channel: Channel, typed: Typed, changed: Changed) =>
  Object.fromEntries(
    switches.filter(name => changed.has(`${channel}.${name}`)).map(name => [name, typed[`${channel}.${name}`]]),
  )

/** What to send of the chat: only what changed. */
export const chatChange = (typed: Typed, changed: Changed) => ({
  ...changedSwitches('chat', typed, changed),
  ...(changed.has('chat.webhook_url') ? { webhook_url: typed['chat.webhook_url']?.trim() ?? null } : {}),
})
export const emailChange = (typed: Typed, changed: Changed) => {
  const port = readWhole(typed['email.smtp_port'], 1, 65_535)
  const text = (name: 'smtp_host' | 'smtp_user' | 'from_address') =>
    changed.has(`email.${name}`) ? { [name]: typed[`email.${name}`].trim() || null } : {}
  return {
    ...changedSwitches('email', typed, changed),
    ...text('smtp_host'),
    ...text('smtp_user'),
    ...text('from_address'),
    ...(changed.has('email.smtp_port') && port !== null ? { smtp_port: port } : {}),
    ...(changed.has('email.smtp_pass') ? { smtp_pass: typed['email.smtp_pass'] } : {}),
    ...(changed.has('email.smtp_tls') ? { smtp_tls: typed['email.smtp_tls'] } : {}),
    ...(changed.has('email.recipients') ? { recipients: [...readNames(typed['email.recipients'])] } : {}),
  }
}

/** Enough of a webhook to know which one it is, nothing that lets one write there. */
export const masked = (webhook: string): string => {
  const url = URL.parse(webhook)
  return url ? `${url.origin}/••••••` : '••••••'
}
