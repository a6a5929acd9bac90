import type { ReplyOf, auth } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { SessionsService } from './sessions.model.ts'

/** The facts that the sign-in page needs, and with them every page. */
export type SignInOptions = () => Promise<ReplyOf<typeof auth.authOptions>>

const providersOf = (settings: Pick<SettingsService, 'get'>) => {
  const ready = (id: 'provider_a' | 'provider_b') =>
    settings.get(`oauth.${id}.enabled`) && settings.get(`oauth.${id}.client_id`) !== null
  return [
    ...(ready('provider_a') ? [{ id: 'provider_a' as const, label: 'GitHub' }] : []),
    ...(ready('provider_b') ? [{ id: 'provider_b' as const, label: 'Single sign-on' }] : []),
  ]
}

export const createSignInOptions =
  (needs: {
    settings: Pick<SettingsService, 'get'>
    sessions: Pick<SessionsService, 'setupRequired'>
    baseUrl: () => string
    clock: Clock
    demo: boolean
  }): SignInOptions =>
  async () => {
    const { settings, sessions, baseUrl, clock, demo } = needs
    return {
      site_name: settings.get('service.site_name'),
      base_url: baseUrl(),
      timezone: settings.get('service.timezone'),
      providers: providersOf(settings),
      local_login_disabled: settings.get('oauth.local_login_disabled'),
      setup_required: await sessions.setupRequired(),
      server_time: iso(clock()),
      demo,
    }
  }
