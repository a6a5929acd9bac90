import type { Core, Feature } from '../feature.ts'
import type { LookupService } from '../lookup/lookup.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createMe } from './me.ts'
import type { Me } from './me.ts'
import { createSignInOptions } from './options.ts'
import type { SignInOptions } from './options.ts'
import { mountPasskeys } from './passkeys.routes.ts'
import type { Proofs } from './proof.ts'
import { mountSessions } from './sessions.routes.ts'
import type { SessionsService } from './sessions.model.ts'

/** The endpoints of signing in. They are above most features, because their replies contain servers and bans. */
export const signInFeature = (
  needs: Core & {
    settings: SettingsService
    baseUrl: () => string
    passkeys: PasskeysService
    sessions: SessionsService
    proofs: Proofs
    registry: Pick<Registry, 'all'>
    lookup: LookupService
  },
): Feature<{ readonly me: Me; readonly options: SignInOptions }> => {
  const { baseUrl, config, sessions } = needs
  const me = createMe(needs)
  const options = createSignInOptions({ ...needs, demo: config.demo })
  return {
    service: { me, options },
    mount(http) {
      mountSessions(http, sessions, needs.proofs, needs.settings, { baseUrl, me, options })
      mountPasskeys(http, needs.passkeys, sessions, baseUrl)
    },
  }
}
