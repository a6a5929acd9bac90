import { ConfigError } from '../../config-reader.ts'
import { minute } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { BadLicence } from './document.ts'
import { mountLicense } from './license.routes.ts'
import { createLicense } from './license.service.ts'
import type { LicenseService } from './license.service.ts'

/** @throws ConfigError if the environment holds a licence key that is refused */
export const licenseFeature = async (
  needs: Core & { settings: Pick<SettingsService, 'get'> },
): Promise<Feature<LicenseService>> => {
  const { licensePublicKey: publicKey, licenseKey: key, dataDir } = needs.config
  const siteName = () => needs.settings.get('service.site_name')
  const service = await createLicense({ ...needs, publicKey, key, dataDir, siteName }).catch((error: unknown) => {
    if (!(error instanceof BadLicence)) throw error
    throw new ConfigError(`STOCKADE_LICENSE_KEY is refused: ${error.message}`)
  })
  return {
    service,
    mount: http => mountLicense(http, service),
    jobs: [{ name: 'licence clock', every: minute, run: service.observe }],
    follow: { on: ['license.activate'], reload: service.reload },
  }
}
