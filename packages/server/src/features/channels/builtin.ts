import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { conditionKinds } from '@stockade/contract'
import { readOr } from '@stockade/contract/untrusted.ts'
import type { Author } from '../../core/author.ts'
import { hasControls, isHost, isMailAddress, isWebhook } from '../../core/checks.ts'
import { ownMailName } from '../../core/mail-name.ts'
import { invalid } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Message } from '../../db/tables/message.ts'
import type { StoredRoute } from '../../db/tables/stored.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note } from '../../outgoing/steps.ts'
import { boundTarget } from '../settings/bound.ts'
import type { Settings, SettingsService } from '../settings/settings.service.ts'
import { builtinIds } from './channel.ts'
import type { BuiltinId, Channel } from './channel.ts'
import { DeliveryFailure } from './delivery.ts'
import { sendMail } from './mail.ts'
import type { MailTarget, Refusal } from './mail.ts'
import type { Site } from './message.ts'
import type { News } from './notices.ts'
import { chatPresetOf } from './presets/chat.ts'
import { email } from './presets/email.ts'
import type { FieldValues } from './request.ts'

export interface ChatChange {
  readonly enabled?: boolean
  readonly notify_bans?: boolean
  readonly notify_syncs?: boolean
  readonly notify_errors?: boolean
  readonly daily_summary?: boolean
  readonly daily_summary_hour?: number
  readonly webhook_url?: string | null
}
export interface EmailChange extends Omit<ChatChange, 'webhook_url'> {
  readonly smtp_host?: string | null
  readonly smtp_port?: number
  readonly smtp_user?: string | null
  readonly smtp_pass?: string | null
  readonly smtp_tls?: boolean
  readonly from_address?: string | null
  readonly recipients?: readonly string[]
}

type Get = SettingsService['get']
type SecretName = 'chat.webhook_url' | 'email.smtp_pass'

/** Which of the two are switched on and have a target. */
export const readyChannels = (get: Get): Record<BuiltinId, boolean> => ({
  chat: get('chat.enabled') && get('chat.webhook_url') !== null,
  email: get('email.enabled') && get('email.smtp_host') !== null && get('email.recipients').length > 0,
})

/** Which of the two get the daily summary. */
export const summaryChannels = (get: Get): BuiltinId[] =>
  builtinIds.filter(id => readyChannels(get)[id] && get(`${id}.daily_summary`))

const everyHour = { hours: null, target: 'all' } as const
/** What the switches of the two say beside the routes: problems, and servers that did not take over the whitelist. */
const switchRoutes = (get: Get): StoredRoute[] =>
  builtinIds
    .filter(id => readyChannels(get)[id])
    .flatMap(id => [
      ...(get(`${id}.notify_errors`)
        ? [{ ...everyHour, severities: ['critical', 'warning'] as const, rules: conditionKinds, channels: [id] }]
        : []),
      ...(get(`${id}.notify_syncs`)
        ? [{ ...everyHour, severities: [], rules: ['whitelist-failed'], channels: [id] }]
        : []),
    ])

/** The settings that a change names. */
type Changed = { -readonly [K in keyof Settings]?: Settings[K] }
/** Null and the empty text remove a value. */
const orNull = <T>(value: T | null | undefined): T | null => (value === '' || value === undefined ? null : value)

const togglesOf = (channel: BuiltinId, change: ChatChange | EmailChange): Changed => {
  const values: Changed = {}
  for (const name of ['enabled', 'notify_bans', 'notify_syncs', 'notify_errors', 'daily_summary'] as const)
    if (change[name] !== undefined) values[`${channel}.${name}`] = change[name]
  if (change.daily_summary_hour !== undefined) values['notifications.daily_summary_hour'] = change.daily_summary_hour
  return values
}

const checkText = (change: EmailChange) => {
  const { smtp_host: host, smtp_user: user, smtp_pass: pass, from_address: from } = change
  if (orNull(host) !== null && !isHost(String(host)))
    throw invalid('smtp_host', 'smtp_host must be a host name or an address, without a port.')
  for (const [field, value] of [
    ['smtp_user', user],
    ['smtp_pass', pass],
  ] as const)
    if (orNull(value) !== null && hasControls(String(value)))
      throw invalid(field, `${field} must not hold control characters or line breaks.`)
  if (orNull(from) !== null && !isMailAddress(String(from)))
    throw invalid('from_address', 'from_address must be an e-mail address, such as stockade@corp.example.')
  change.recipients?.forEach((address, index) => {
    if (!isMailAddress(address)) throw invalid(`recipients.${index}`, `recipients.${index} must be an e-mail address.`)
  })
}

const names = { chat: 'Chat', email: 'E-mail' } as const
const unreadable = (field: string) =>
  new DeliveryFailure(
    'failure',
    `${field} was stored with another secret key and can't be read. Enter it in the settings again`,
  )

/** The two channels that the settings of the interface configure: what is stored, what it means, and how it is changed. */
export const createChannelSettings = (needs: {
  settings: Pick<SettingsService, 'get' | 'update'>
  secrets: Pick<Secrets, 'open' | 'seal'>
  outgoing: Outgoing
  baseUrl: () => string
  /** What Stockade calls itself to mail servers; null: a name that is found. */
  smtpName: string | null
}) => {
  const { settings, secrets, outgoing, baseUrl } = needs
  const { get } = settings
  /** Null if there is none, or if it was sealed with another key, as in a copy that was restored without its secret key. */
  const opened = (name: SecretName): string | null => {
    const sealed = get(name)
    if (sealed === null) return null
    return readOr(null, () => secrets.open(sealed, name))
  }
  /** A secret that is given again unchanged stays sealed as it is. */
  const sealedOf = (name: SecretName, given: string | null | undefined) => {
    const before = get(name)
    const plain = orNull(given)
    if (plain === null) return null
    return before !== null && opened(name) === plain ? before : secrets.seal(plain, name)
  }
  /** Checks an address at once. A name is resolved and checked when it is used. */
  const checkTarget = async (field: string, host: string, port: number) => {
    if (!isIP(host.replace(/^\[|\]$/g, ''))) return
    try {
      await outgoing.reach(host, port)
    } catch (error) {
      if (error instanceof Refused) throw invalid(field, `${field} can't be used: ${error.message}`)
      throw error
    }
  }
  /** The server that the stored password is for; a password never goes to another one by a change of the address alone. */
  const passwordTarget = (change: EmailChange) => {
    const before = { host: get('email.smtp_host'), port: get('email.smtp_port'), tls: get('email.smtp_tls') }
    const stored = get('email.smtp_pass') !== null
    return boundTarget(
      'smtp_pass',
      { stored, given: change.smtp_pass, noted: get('email.smtp_pass_target') },
      [before.host, before.port, before.tls],
      [
        change.smtp_host === undefined ? before.host : orNull(change.smtp_host),
        change.smtp_port ?? before.port,
        change.smtp_tls ?? before.tls,
      ],
    )
  }
  const emailValues = (change: EmailChange): Changed => {
    const values = togglesOf('email', change)
    if (change.smtp_host !== undefined) values['email.smtp_host'] = orNull(change.smtp_host)
    if (change.smtp_user !== undefined) values['email.smtp_user'] = orNull(change.smtp_user)
    if (change.smtp_pass !== undefined) values['email.smtp_pass'] = sealedOf('email.smtp_pass', change.smtp_pass)
    if (change.from_address !== undefined) values['email.from_address'] = orNull(change.from_address)
    if (change.smtp_port !== undefined) values['email.smtp_port'] = change.smtp_port
    if (change.smtp_tls !== undefined) values['email.smtp_tls'] = change.smtp_tls
    if (change.recipients !== undefined) values['email.recipients'] = [...new Set(change.recipients)]
    return values
  }
  /** Null without an SMTP server. */
  const mailTarget = (recipients: readonly string[]): MailTarget | null => {
    const host = get('email.smtp_host')
    if (host === null) return null
    const user = get('email.smtp_user')
    const sender = get('email.from_address') ?? (user !== null && isMailAddress(user) ? user : null)
    const name = ownMailName({
      configured: needs.smtpName,
      site: new URL(baseUrl()).hostname,
      machine: hostname(),
      sender: sender === null ? null : sender.slice(sender.lastIndexOf('@') + 1),
    })
    return {
      host,
      port: get('email.smtp_port'),
      user,
      pass: opened('email.smtp_pass'),
      tls: get('email.smtp_tls'),
      from: sender ?? `stockade@${name}`,
      name,
      recipients,
    }
  }
  const site = (): Site => ({ name: get('service.site_name'), url: baseUrl(), timezone: get('service.timezone') })
  /** Sends one mail by the mail server of the settings, and answers whom it refused. @throws DeliveryFailure */
  const mailTo = async (recipients: readonly string[], message: Message, note?: Note): Promise<readonly Refusal[]> => {
    if (get('email.smtp_pass') !== null && opened('email.smtp_pass') === null) throw unreadable('smtp_pass')
    const target = mailTarget(recipients)
    if (target === null)
      throw new DeliveryFailure('failure', 'There is no mail server. Enter smtp_host in the e-mail settings')
    return sendMail(outgoing, target, message, site(), note)
  }
  const channel = (id: BuiltinId): Channel => {
    const url = id === 'chat' ? opened('chat.webhook_url') : null
    return {
      id,
      queue: id,
      name: names[id],
      isOn: readyChannels(get)[id],
      preset: id === 'email' ? email : chatPresetOf(url ?? 'https://unknown.invalid'),
      values(): FieldValues {
        if (id === 'email') return { recipients: get('email.recipients').join(' ') }
        if (url === null) throw unreadable('webhook_url')
        return { webhook_url: url }
      },
    }
  }
  return {
    get,
    webhookUrl: () => opened('chat.webhook_url'),
    ready: () => readyChannels(get),
    switchRoutes: () => switchRoutes(get),
    summaryChannels: () => summaryChannels(get),
    wants: (channel: BuiltinId, category: News) => readyChannels(get)[channel] && get(`${channel}.notify_${category}`),
    site,
    channel,
    mailTo,
    async changeChat(author: Author, change: ChatChange): Promise<boolean> {
      const url = orNull(change.webhook_url)
      if (url !== null) {
        if (!isWebhook(url))
          throw invalid(
            'webhook_url',
            'webhook_url must be an address that begins with http:// or https://, without a user name.',
          )
        const { hostname, port, protocol } = new URL(url)
        await checkTarget('webhook_url', hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
      }
      const names = await settings.update(author, {
        ...togglesOf('chat', change),
        ...(change.webhook_url === undefined ? {} : { 'chat.webhook_url': sealedOf('chat.webhook_url', url) }),
      })
      return names.length > 0
    },
    async changeEmail(author: Author, change: EmailChange): Promise<boolean> {
      checkText(change)
      const host = orNull(change.smtp_host)
      if (host !== null) await checkTarget('smtp_host', host, change.smtp_port ?? get('email.smtp_port'))
      const values = { ...emailValues(change), 'email.smtp_pass_target': passwordTarget(change) }
      return (await settings.update(author, values)).length > 0
    },
  }
}
export type ChannelSettings = ReturnType<typeof createChannelSettings>
