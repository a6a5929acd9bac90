import { hour, second } from '../../core/clock.ts'
import { createReader } from '../../events/reader.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Core, Feature } from '../feature.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createChannelSettings } from './builtin.ts'
import { mountChannels } from './channels.routes.ts'
import { createChannels } from './channels.service.ts'
import { createNews } from './news.ts'
import { createOutbox } from './outbox.ts'
import type { Outbox } from './outbox.ts'
import { createSending } from './sending.ts'
import { createChannelWatcher } from './settings-changes.ts'
import { mountChannelSettings } from './settings.routes.ts'
import { createTests } from './settings-tests.ts'

/** Where messages go: the chat and the e-mail of the settings, and any number of services beside them. One queue, one sender. */
export const channelsFeature = (
  needs: Core & { settings: SettingsService; baseUrl: () => string; outgoing: Outgoing },
): Feature<Outbox> => {
  const { db, clock, config } = needs
  const settings = createChannelSettings({ ...needs, smtpName: config.smtpName })
  const sending = createSending({ ...needs, settings })
  const tests = createTests({ db, clock, settings, sending })
  const channels = createChannels({ ...needs, settings, sending, tests })
  const reader = createReader(db, 'notifications')
  needs.settings.watch(createChannelWatcher({ clock, reader }))
  return {
    service: createOutbox({ db, clock, settings }),
    mount(http) {
      mountChannels(http, channels)
      mountChannelSettings(http, { settings, tests })
    },
    jobs: [
      { name: 'notifications', every: second / 2, run: createNews({ ...needs, reader, settings }) },
      { name: 'channels', every: second / 2, run: sending.run },
      { name: 'old notifications', every: hour, run: sending.sweep },
    ],
    stop: sending.close,
  }
}
