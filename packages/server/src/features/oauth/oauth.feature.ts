import { system } from '../../core/author.ts'
import { hour } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { Proofs } from '../sessions/proof.ts'
import type { SessionsService } from '../sessions/sessions.model.ts'
import { removeSessionsBy } from '../sessions/sessions.store.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { usersOfProvider } from '../users/users.store.ts'
import { mountOauth } from './oauth.routes.ts'
import { createOauth } from './oauth.service.ts'
import { createProviderSettings } from './providers.settings.ts'

export const oauthFeature = (
  needs: Core & {
    settings: SettingsService
    baseUrl: () => string
    users: UsersService
    sessions: SessionsService
    proofs: Proofs
    keys: KeysService
  },
): Feature<null> => {
  const { settings, keys, baseUrl, config } = needs
  const oauth = createOauth({
    ...needs,
    addresses: {
      providerA: config.providerAUrl,
      providerAApi: config.providerAApiUrl,
      providerBIssuer: config.providerBIssuer,
      providerBVouchesForEmails: config.providerBVouchesForEmails,
    },
  })
  // Turning a provider off ends the sessions and keys of everyone who signed in through it.
  settings.watch(async (change, before, after) => {
    for (const id of ['provider_a', 'provider_b'] as const) {
      if (!before[`oauth.${id}.enabled`] || after[`oauth.${id}.enabled`]) continue
      await removeSessionsBy(change.sql, id)
      for (const userId of await usersOfProvider(change.sql, id)) await keys.revokeOf(change, system, userId)
    }
  })
  return {
    service: null,
    mount: http => mountOauth(http, oauth, createProviderSettings(needs), baseUrl),
    jobs: [{ name: 'old provider sign-ins', every: hour, run: oauth.sweep }],
  }
}
