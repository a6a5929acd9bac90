import { settings as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { isoOrNull } from '../../core/clock.ts'
import type { Http } from '../../http/http.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { DeliveryState, NotificationsService } from './notifications.service.ts'

const shown = ({ last_sent, last_error, failing_since }: DeliveryState) => ({
  last_sent: isoOrNull(last_sent),
  last_error,
  failing_since: isoOrNull(failing_since),
})

export const mountNotifications = (
  http: Http,
  notifications: NotificationsService,
  { get }: Pick<SettingsService, 'get'>,
): void => {
  const toggles = (channel: 'chat' | 'email') => ({
    enabled: get(`${channel}.enabled`),
    notify_bans: get(`${channel}.notify_bans`),
    notify_syncs: get(`${channel}.notify_syncs`),
    notify_errors: get(`${channel}.notify_errors`),
    daily_summary: get(`${channel}.daily_summary`),
    daily_summary_hour: get('notifications.daily_summary_hour'),
  })
  http.serve(contract.getChat, async () => ({
    ...toggles('chat'),
    webhook_url: notifications.webhookUrl(),
    ...shown(await notifications.state('chat')),
  }))
  http.serve(contract.updateChat, async ({ actor, body }) => {
    const changed = await notifications.changeChat(authorOf(actor), body)
    return { message: changed ? 'The chat settings are changed.' : 'Nothing was changed.' }
  })
  http.serve(contract.testChat, async () => ({
    steps: await notifications.testChat(),
    message: 'The chat took the test message.',
  }))
  http.serve(contract.getEmail, async () => ({
    ...toggles('email'),
    smtp_host: get('email.smtp_host'),
    smtp_port: get('email.smtp_port'),
    smtp_user: get('email.smtp_user'),
    smtp_pass_set: get('email.smtp_pass') !== null,
    smtp_tls: get('email.smtp_tls'),
    from_address: get('email.from_address'),
    recipients: [...get('email.recipients')],
    ...shown(await notifications.state('email')),
  }))
  http.serve(contract.updateEmail, async ({ actor, body }) => {
    const changed = await notifications.changeEmail(authorOf(actor), body)
    return { message: changed ? 'The e-mail settings are changed.' : 'Nothing was changed.' }
  })
  http.serve(contract.testEmail, ({ body }) => notifications.testEmail(body.recipient))
}
