import { hour } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createPasskeys } from './passkeys.service.ts'
import type { PasskeysService } from './passkeys.service.ts'

/** Its endpoints are mounted with those of the sessions that passkeys begin. */
export const passkeysFeature = (
  needs: Core & { settings: SettingsService; baseUrl: () => string },
): Feature<PasskeysService> => {
  const service = createPasskeys(needs)
  return { service, jobs: [{ name: 'old passkey challenges', every: hour, run: service.sweep }] }
}
