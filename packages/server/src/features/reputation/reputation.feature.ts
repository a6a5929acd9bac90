import { hour, second } from '../../core/clock.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { mountReputation } from './reputation.routes.ts'
import { createReputation } from './reputation.service.ts'
import type { ReputationService } from './reputation.service.ts'

export const reputationFeature = (
  needs: Core & { settings: SettingsService; outgoing: Outgoing; registry: Registry; mirror: Mirror },
): Feature<ReputationService> => {
  const { config, mirror } = needs
  const service = createReputation({
    ...needs,
    isListed: ip => mirror.covers(ip) !== null,
    url: config.reputationUrl,
  })
  return {
    service,
    mount: http => mountReputation(http, service, needs),
    jobs: [
      { name: 'reputation queue', every: 2 * second, run: service.collect },
      { name: 'reputation reports', every: 2 * second, run: service.send },
      { name: 'old reputation reports', every: hour, run: service.sweep },
    ],
  }
}
