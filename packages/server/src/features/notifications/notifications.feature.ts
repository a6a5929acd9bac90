import { hour, second } from '../../core/clock.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { mountNotifications } from './notifications.routes.ts'
import { createNotifications } from './notifications.service.ts'
import type { NotificationsService } from './notifications.service.ts'

export const notificationsFeature = (
  needs: Core & { settings: SettingsService; baseUrl: () => string; outgoing: Outgoing; registry: Registry },
): Feature<NotificationsService> => {
  const notifications = createNotifications({ ...needs, smtpName: needs.config.smtpName })
  return {
    service: notifications,
    mount: http => mountNotifications(http, notifications, needs.settings),
    jobs: [
      { name: 'notifications', every: second / 2, run: notifications.collect },
      { name: 'chat', every: second / 2, run: () => notifications.send('chat') },
      { name: 'e-mail', every: second / 2, run: () => notifications.send('email') },
      { name: 'daily summary', every: second, run: notifications.summarize },
      { name: 'old notifications', every: hour, run: notifications.sweep },
    ],
    stop: notifications.close,
  }
}
