import { settings as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { isoOrNull } from '../../core/clock.ts'
import type { Http } from '../../http/http.ts'
import type { ChannelSettings } from './builtin.ts'
import type { BuiltinId } from './channel.ts'
import type { ChannelTests } from './settings-tests.ts'

/** The two channels of the interface, under the paths that it has for them. */
export const mountChannelSettings = (
  http: Http,
  { settings, tests }: { settings: ChannelSettings; tests: ChannelTests },
): void => {
  const { get } = settings
  const deliveriesOf = async (channel: BuiltinId) => {
    const { last_sent, last_error, failing_since } = await tests.state(channel)
    return { last_sent: isoOrNull(last_sent), last_error, failing_since: isoOrNull(failing_since) }
  }
  const toggles = (channel: BuiltinId) => ({
    enabled: get(`${channel}.enabled`),
    notify_bans: get(`${channel}.notify_bans`),
    notify_syncs: get(`${channel}.notify_syncs`),
    notify_errors: get(`${channel}.notify_errors`),
    daily_summary: get(`${channel}.daily_summary`),
    daily_summary_hour: get('notifications.daily_summary_hour'),
  })
  http.serve(contract.getChat, async () => ({
    ...toggles('chat'),
    webhook_url: settings.webhookUrl(),
    ...(await deliveriesOf('chat')),
  }))
  http.serve(contract.updateChat, async ({ actor, body }) => {
    const changed = await settings.changeChat(authorOf(actor), body)
    return { message: changed ? 'The chat settings are changed.' : 'Nothing was changed.' }
  })
  http.serve(contract.testChat, () => tests.testChat())
  http.serve(contract.getEmail, async () => ({
    ...toggles('email'),
    smtp_host: get('email.smtp_host'),
    smtp_port: get('email.smtp_port'),
    smtp_user: get('email.smtp_user'),
    smtp_pass_set: get('email.smtp_pass') !== null,
    smtp_tls: get('email.smtp_tls'),
    from_address: get('email.from_address'),
    recipients: [...get('email.recipients')],
    ...(await deliveriesOf('email')),
  }))
  http.serve(contract.updateEmail, async ({ actor, body }) => {
    const changed = await settings.changeEmail(authorOf(actor), body)
    return { message: changed ? 'The e-mail settings are changed.' : 'Nothing was changed.' }
  })
  http.serve(contract.testEmail, ({ body }) => tests.testEmail(body.recipient))
}
