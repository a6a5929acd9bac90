import type { SettingsService } from '../settings/settings.service.ts'
import type { UserRow } from './users.store.ts'

export type Factor = 'totp' | 'passkey'
type Factors = Pick<UserRow, 'role' | 'mfa_enabled' | 'mfa_required' | 'passkeys'>
type Get = SettingsService['get']

const isPasskeyRequired = (user: Factors, get: Get): boolean => {
  const required = get('security.passkey_required')
  return required === 'all' || (required === 'admins' && user.role === 'Admin')
}

/** Second factors that finish a sign-in with the password; none: the password is enough. */
export const factorsOf = (user: Factors, get: Get): Factor[] => {
  if (user.passkeys > 0 && isPasskeyRequired(user, get)) return ['passkey']
  return [...(user.mfa_enabled === 1 ? (['totp'] as const) : []), ...(user.passkeys > 0 ? (['passkey'] as const) : [])]
}

/** Whether the user has yet to set up a factor that is required. */
export const isFactorMissing = (user: Factors, get: Get): boolean => {
  if (isPasskeyRequired(user, get)) return user.passkeys === 0
  return (user.mfa_required === 1 || get('security.mfa_required')) && user.mfa_enabled === 0 && user.passkeys === 0
}
