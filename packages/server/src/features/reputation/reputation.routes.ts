import { bans, settings as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { isoOrNull } from '../../core/clock.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Http } from '../../http/http.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { ReputationService } from './reputation.service.ts'

export const mountReputation = (
  http: Http,
  reputation: ReputationService,
  { settings, secrets }: { settings: Pick<SettingsService, 'get' | 'update'>; secrets: Pick<Secrets, 'seal'> },
): void => {
  http.serve(bans.reportToReputation, ({ actor, params }) => reputation.report(actor, params.banId))
  http.serve(contract.getReputation, async () => {
    const { reportsToday, lastReport, pause } = await reputation.status()
    return {
      enabled: settings.get('reputation.enabled'),
      api_key_set: settings.get('reputation.api_key') !== null,
      rate_limit: settings.get('reputation.rate_limit'),
      reports_today: reportsToday,
      last_report: isoOrNull(lastReport),
      paused_until: isoOrNull(pause?.until ?? null),
      paused_because: pause?.reason ?? null,
    }
  })
  http.serve(contract.updateReputation, async ({ actor, body }) => {
    const { enabled, api_key, rate_limit } = body
    const changed = await settings.update(authorOf(actor), {
      ...(enabled === undefined ? {} : { 'reputation.enabled': enabled }),
      ...(api_key === undefined
        ? {}
        : { 'reputation.api_key': api_key ? secrets.seal(api_key, 'reputation.api_key') : null }),
      ...(rate_limit === undefined ? {} : { 'reputation.rate_limit': rate_limit }),
    })
    // A pause was about what is changed now: a key that was refused, or an account that was at its limit.
    if (changed.length > 0) await reputation.resume()
    return { message: changed.length > 0 ? 'The reputation settings are changed.' : 'Nothing was changed.' }
  })
}
