import { hour } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Throttle } from '../users/throttle.ts'
import { mountMfa } from './mfa.routes.ts'
import { createMfa } from './mfa.service.ts'
import type { MfaService } from './mfa.service.ts'

export const mfaFeature = (needs: Core & { settings: SettingsService; throttle: Throttle }): Feature<MfaService> => {
  const service = createMfa(needs)
  return {
    service,
    mount: http => mountMfa(http, service),
    jobs: [{ name: 'old second-factor challenges', every: hour, run: service.sweep }],
  }
}
