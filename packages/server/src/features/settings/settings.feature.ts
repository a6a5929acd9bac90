import type { Core, Feature } from '../feature.ts'
import { createBaseUrl } from './base-url.ts'
import { mountSettings } from './settings.routes.ts'
import { createSettings } from './settings.service.ts'
import type { SettingsService } from './settings.service.ts'

export const settingsFeature = async ({
  config,
  clock,
  db,
  events,
}: Core): Promise<Feature<SettingsService> & { readonly baseUrl: () => string }> => {
  const service = await createSettings(db, clock, events)
  const baseUrl = createBaseUrl(config, service)
  return {
    service,
    baseUrl,
    mount: http => mountSettings(http, service, { baseUrl, clock }),
    follow: { on: ['settings.*', 'siem.update', 'user.create'], reload: service.reload },
  }
}
