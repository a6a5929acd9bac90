import type { Reply } from '@stockade/client'
import type { SecretDraft } from './fields.tsx'
import { readNames, readWhole } from './typed.ts'

export type Chat = Reply<'GET /settings/chat'>
export type Email = Reply<'GET /settings/email'>
export const topics = ['bans', 'errors', 'syncs'] as const

interface Toggles {
  readonly enabled: boolean
  readonly bans: boolean
  readonly errors: boolean
  readonly syncs: boolean
  readonly summary: boolean
}
export interface TypedChat extends Toggles {
  readonly webhook: SecretDraft
}
export interface TypedEmail extends Toggles {
  readonly host: string
  readonly port: string
  readonly user: string
  readonly pass: SecretDraft
  readonly tls: boolean
  readonly from: string
  readonly recipients: string
}

const togglesOf = (is: Chat | Email): Toggles => ({
  enabled: is.enabled,
  bans: is.notify_bans,
  errors: is.notify_errors,
  syncs: is.notify_syncs,
  summary: is.daily_summary,
})
export const typedChat = (is: Chat): TypedChat => ({ ...togglesOf(is), webhook: '' })
export const typedEmail = (is: Email): TypedEmail => ({
  ...togglesOf(is),
  host: is.smtp_host ?? '',
  port: String(is.smtp_port),
  user: is.smtp_user ?? '',
  pass: '',
  tls: is.smtp_tls,
  from: is.from_address ?? '',
  recipients: is.recipients.join('\n'),
})

/** What the API calls each field. */
export const toggleFields = {
  enabled: 'enabled',
  bans: 'notify_bans',
  errors: 'notify_errors',
  syncs: 'notify_syncs',
  summary: 'daily_summary',
} as const
type Toggle = keyof typeof toggleFields
const changedToggles = (typed: Toggles, changed: ReadonlySet<string>) =>
  Object.fromEntries(
    (Object.keys(toggleFields) as Toggle[])
      .filter(name => changed.has(name))
      .map(name => [toggleFields[name], typed[name]]),
  )

/** What to send of the chat: only what changed. */
export const chatChange = (typed: TypedChat, changed: ReadonlySet<string>) => ({
  ...changedToggles(typed, changed),
  ...(changed.has('webhook') ? { webhook_url: typed.webhook === null ? null : typed.webhook.trim() } : {}),
})
export const emailChange = (typed: TypedEmail, changed: ReadonlySet<string>) => {
  const port = readWhole(typed.port, 1, 65_535)
  return {
    ...changedToggles(typed, changed),
    ...(changed.has('host') ? { smtp_host: typed.host.trim() || null } : {}),
    ...(changed.has('port') && port !== null ? { smtp_port: port } : {}),
    ...(changed.has('user') ? { smtp_user: typed.user.trim() || null } : {}),
    ...(changed.has('pass') ? { smtp_pass: typed.pass } : {}),
    ...(changed.has('tls') ? { smtp_tls: typed.tls } : {}),
    ...(changed.has('from') ? { from_address: typed.from.trim() || null } : {}),
    ...(changed.has('recipients') ? { recipients: [...readNames(typed.recipients)] } : {}),
  }
}

/** Enough of a webhook to know which one it is, nothing that lets one write there. */
export const masked = (webhook: string): string => {
  const url = URL.parse(webhook)
  return url ? `${url.origin}/••••••` : '••••••'
}
