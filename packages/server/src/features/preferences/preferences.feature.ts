import type { Core, Feature } from '../feature.ts'
import { mountPreferences } from './preferences.routes.ts'
import { createPreferences } from './preferences.service.ts'
import type { PreferencesService } from './preferences.service.ts'

export const preferencesFeature = ({ db, clock }: Core): Feature<PreferencesService> => {
  const service = createPreferences(db, clock)
  return { service, mount: http => mountPreferences(http, service) }
}
