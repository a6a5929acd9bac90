import { second } from '../../core/clock.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Core, Feature } from '../feature.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import { mountChannels } from './channels.routes.ts'
import { createChannels } from './channels.service.ts'
import type { ChannelsService } from './channels.service.ts'
import { createSending } from './sending.ts'

/** Where alerts go: the chat and the e-mail of the settings, and any number of services beside them. */
export const channelsFeature = (
  needs: Core & { outgoing: Outgoing; notifications: NotificationsService },
): Feature<ChannelsService> => {
  const sending = createSending(needs)
  const service = createChannels({ ...needs, sending })
  return {
    service,
    mount: http => mountChannels(http, service),
    jobs: [{ name: 'channels', every: second / 2, run: sending.run }],
    stop: sending.close,
  }
}
