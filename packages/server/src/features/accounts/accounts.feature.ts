import type { Core, Feature } from '../feature.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { SessionsService } from '../sessions/sessions.model.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import { mountAccounts } from './accounts.routes.ts'
import { createAccounts } from './accounts.service.ts'
import { mountKeys } from './keys.routes.ts'

export const accountsFeature = (
  needs: Core & {
    settings: SettingsService
    baseUrl: () => string
    users: UsersService
    throttle: Throttle
    mfa: MfaService
    passkeys: PasskeysService
    sessions: SessionsService
    keys: KeysService
    servers: ServersService
    registry: Registry
  },
): Feature<null> => {
  const { keys, servers } = needs
  const accounts = createAccounts(needs)
  return {
    service: null,
    mount(http) {
      mountKeys(http, keys, servers)
      mountAccounts(http, accounts, keys, servers)
    },
  }
}
