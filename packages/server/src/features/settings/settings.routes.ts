import { settings as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { conflict, invalid } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Http } from '../../http/http.ts'
import { roleNamed } from '../users/users.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { isTimeZone, webAddress } from './checks.ts'
import type { SettingName, Settings, SettingsService } from './settings.service.ts'

const authorOf = (actor: Principal) => ({ name: actor.name, userId: actor.userId, ip: actor.ip })
/** `{ a: { b: 1 } }` as `{ 'a.b': 1 }`. */
const dotted = (sections: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>) =>
  Object.fromEntries(
    Object.entries(sections).flatMap(([section, fields]) =>
      Object.entries(fields ?? {}).map(([field, value]) => [`${section}.${field}`, value]),
    ),
  )

/** The service, security and integrations sections, and the sign-in providers. Notifications have no say yet. */
export const mountSettings = (
  http: Http,
  settings: SettingsService,
  needs: { baseUrl: () => string; secrets: Pick<Secrets, 'seal'>; users: Pick<UsersService, 'adminByProvider'> },
): void => {
  const { get } = settings
  http.serve(contract.getSettings, () => ({
    service: {
      site_name: get('service.site_name'),
      site_url: get('service.site_url') ?? needs.baseUrl(),
      timezone: get('service.timezone'),
    },
    security: {
      session_timeout: get('security.session_timeout'),
      mfa_required: get('security.mfa_required'),
      password_min_length: get('security.password_min_length'),
    },
    notifications: { chat_enabled: false, email_enabled: false, daily_summary: false, daily_summary_hour: 8 },
    integrations: {
      reputation_enabled: get('reputation.enabled'),
      reputation_rate_limit: get('reputation.rate_limit'),
    },
  }))
  http.serve(contract.updateSettings, async ({ actor, body }) => {
    const { service, security, integrations, ...later } = body
    for (const [section, fields] of Object.entries(later))
      for (const field of Object.keys(fields ?? {}))
        throw invalid(`${section}.${field}`, `${section}.${field} can't be set: this version sends no notifications.`)
    if (service?.site_url !== undefined && webAddress(service.site_url) === null)
      throw invalid('service.site_url', 'service.site_url must be an address that begins with http:// or https://.')
    if (service?.timezone !== undefined && !isTimeZone(service.timezone))
      throw invalid('service.timezone', 'service.timezone must be an IANA time zone, such as Europe/Vienna.')
    const url = service?.site_url === undefined ? null : webAddress(service.site_url)
    const values = dotted({
      service: { ...service, ...(url === null ? {} : { site_url: url }) },
      security,
    }) as Partial<Settings>
    const { reputation_enabled, reputation_rate_limit } = integrations ?? {}
    const changed = await settings.update(authorOf(actor), {
      ...values,
      ...(reputation_enabled === undefined ? {} : { 'reputation.enabled': reputation_enabled }),
      ...(reputation_rate_limit === undefined ? {} : { 'reputation.rate_limit': reputation_rate_limit }),
    })
    const updated_fields = changed.map(name => name.replace(/^reputation\./, 'integrations.reputation_'))
    return { message: updated_fields.length > 0 ? 'The settings are changed.' : 'Nothing was changed.', updated_fields }
  })

  http.serve(contract.getOauth, () => ({
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
  }))
  http.serve(contract.updateOauth, async ({ actor, body }) => {
    if (body.local_login_disabled === true && !(await needs.users.adminByProvider()))
      throw conflict('No administrator signs in through a provider: without passwords everybody would be locked out.')
    /** Null and the empty text take a value away; a secret is sealed before it goes anywhere. */
    const provider = (fields: Readonly<Record<string, unknown>> | undefined) =>
      Object.fromEntries(
        Object.entries(fields ?? {}).map(([field, value]) => {
          if (value === '' || value === null) return [field, null]
          return [field, field === 'client_secret' ? needs.secrets.seal(String(value)) : value]
        }),
      )
    const { provider_a, provider_b, default_role, local_login_disabled } = body
    const values = {
      ...dotted({ 'oauth.provider_a': provider(provider_a), 'oauth.provider_b': provider(provider_b) }),
      ...(default_role === undefined ? {} : { 'oauth.default_role': roleNamed(default_role) }),
      ...(local_login_disabled === undefined ? {} : { 'oauth.local_login_disabled': local_login_disabled }),
    } as Partial<Settings>
    const names: SettingName[] = await settings.update(authorOf(actor), values)
    return { message: names.length > 0 ? 'The sign-in providers are changed.' : 'Nothing was changed.' }
  })
}
