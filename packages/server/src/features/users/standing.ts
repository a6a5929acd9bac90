import type { UsersService } from './users.service.ts'
import type { UserRow } from './users.store.ts'

/**
 * Whether somebody who does not sign in now, but acts by a key or a token, still counts; null when there is no password and no provider
 * vouches for the account any more. `mfaMissing`: a second factor is required and not set up, so nothing may be done before.
 */
export const standingOf = (
  users: Pick<UsersService, 'isVouchedFor' | 'lacksFactor'>,
  user: UserRow,
): { readonly mfaMissing: boolean } | null => {
  // A user without a password loses access when the sign-in provider is switched off.
  const byProvider = user.oauth_provider !== null && user.password_hash === null
  if (byProvider && !users.isVouchedFor(user)) return null
  return { mfaMissing: !byProvider && users.lacksFactor(user) }
}
