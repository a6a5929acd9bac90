import type { BodyOf, ReplyOf, settings as contract } from '@stockade/contract'
import { roleNamed } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { conflict } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Settings, SettingsService } from '../settings/settings.service.ts'
import type { UsersService } from '../users/users.service.ts'
import type { ProviderId } from './providers.ts'

/** The settings of the sign-in providers. */
export interface ProviderSettings {
  read(): ReplyOf<typeof contract.getOauth>
  /** Returns whether anything changed. @throws Problem 409 if nobody could sign in any more */
  update(actor: Principal, change: BodyOf<typeof contract.updateOauth>): Promise<boolean>
}

export const createProviderSettings = (needs: {
  settings: Pick<SettingsService, 'get' | 'update'>
  secrets: Pick<Secrets, 'seal'>
  users: Pick<UsersService, 'adminByProvider'>
}): ProviderSettings => {
  const { get } = needs.settings
  /** Null and the empty text remove a value. A secret is sealed before it goes anywhere. */
  const valuesOf = (id: ProviderId, fields: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(
      Object.entries(fields).map(([field, given]) => {
        const name = `oauth.${id}.${field}`
        const value = given === '' ? null : given
        return [name, field === 'client_secret' && value !== null ? needs.secrets.seal(String(value), name) : value]
      }),
    )
  return {
    read: () => ({
      provider_a: {
        enabled: get('oauth.provider_a.enabled'),
        client_id_set: get('oauth.provider_a.client_id') !== null,
        client_secret_set: get('oauth.provider_a.client_secret') !== null,
        allowed_users: [...get('oauth.provider_a.allowed_users')],
        allowed_org: get('oauth.provider_a.allowed_org'),
      },
      provider_b: {
        enabled: get('oauth.provider_b.enabled'),
        client_id_set: get('oauth.provider_b.client_id') !== null,
        client_secret_set: get('oauth.provider_b.client_secret') !== null,
        allowed_domains: [...get('oauth.provider_b.allowed_domains')],
      },
      default_role: get('oauth.default_role'),
      local_login_disabled: get('oauth.local_login_disabled'),
    }),
    async update(actor, { provider_a, provider_b, default_role, local_login_disabled }) {
      if (local_login_disabled === true && !(await needs.users.adminByProvider()))
        throw conflict('No administrator signs in through a provider: without passwords everybody would be locked out.')
      const values = {
        ...valuesOf('provider_a', provider_a),
        ...valuesOf('provider_b', provider_b),
        ...(default_role === undefined ? {} : { 'oauth.default_role': roleNamed(default_role) }),
        ...(local_login_disabled === undefined ? {} : { 'oauth.local_login_disabled': local_login_disabled }),
      } as Partial<Settings>
      return (await needs.settings.update(authorOf(actor), values)).length > 0
    },
  }
}
