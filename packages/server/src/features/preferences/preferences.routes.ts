import { users as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { PreferencesService } from './preferences.service.ts'

export const mountPreferences = (http: Http, preferences: PreferencesService): void => {
  http.serve(contract.getPreferences, async ({ actor }) => ({ preferences: await preferences.read(actor.userId) }))
  http.serve(contract.putPreferences, async ({ actor, body }) => ({
    preferences: await preferences.replace(actor.userId, body.preferences),
  }))
}
