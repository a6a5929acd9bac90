import { hour, second } from '../../core/clock.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { BansService } from '../bans/bans.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { LicenseService } from '../license/license.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { mountSiem } from './siem.routes.ts'
import { createSiem } from './siem.service.ts'

export const siemFeature = (
  needs: Core & {
    settings: SettingsService
    baseUrl: () => string
    outgoing: Outgoing
    bans: BansService
    license: LicenseService
  },
): Feature<null> => {
  const siem = createSiem({ ...needs, licensed: () => needs.license.refusal('siem') === null })
  return {
    service: null,
    mount: http => mountSiem(http, siem),
    jobs: [
      { name: 'SIEM queue', every: second / 4, run: siem.collect },
      { name: 'SIEM', every: second / 4, run: siem.send },
      { name: 'SIEM connection', every: 10 * second, everywhere: true, run: siem.yield },
      { name: 'old SIEM figures', every: hour, run: siem.sweep },
    ],
    stop: siem.close,
  }
}
