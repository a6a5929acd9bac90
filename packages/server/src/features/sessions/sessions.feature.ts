import { hour, second } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { MfaService } from '../mfa/mfa.service.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Throttle } from '../users/throttle.ts'
import type { UsersService } from '../users/users.service.ts'
import { createProofs } from './proof.ts'
import type { Proofs } from './proof.ts'
import { createSessions } from './sessions.service.ts'
import type { SessionsService } from './sessions.model.ts'
import { createTokens } from './tokens.ts'

export const sessionsFeature = (
  needs: Core & {
    settings: SettingsService
    users: UsersService
    throttle: Throttle
    mfa: MfaService
    passkeys: PasskeysService
  },
): Feature<SessionsService> & { readonly proofs: Proofs } => {
  const service = createSessions({ ...needs, tokens: createTokens(needs.secrets.tokens, needs.clock) })
  return {
    service,
    proofs: createProofs(needs),
    jobs: [
      { name: 'last activity of sessions', every: 20 * second, everywhere: true, run: service.flush },
      { name: 'old sessions', every: hour, run: service.sweep },
    ],
    close: service.flush,
  }
}
