import type { Core, Feature } from '../feature.ts'
import { mountPreferences } from './preferences.routes.ts'
import { createPreferences } from './preferences.service.ts'

export const preferencesFeature = ({ db, clock }: Core): Feature<null> => ({
  service: null,
  mount: http => mountPreferences(http, createPreferences(db, clock)),
})
