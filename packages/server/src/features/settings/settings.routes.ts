import { settings as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Http } from '../../http/http.ts'
import { roleNamed } from '../users/users.service.ts'
import type { UsersService } from '../users/users.service.ts'
import { defaultsOfSections, fieldsOf, sectionsOf, storedOf } from './sections.ts'
import type { SettingName, Settings, SettingsService } from './settings.service.ts'

const authorOf = (actor: Principal) => ({ name: actor.name, userId: actor.userId, ip: actor.ip })
/** `{ a: { b: 1 } }` as `{ 'a.b': 1 }`. */
const dotted = (sections: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>) =>
  Object.fromEntries(
    Object.entries(sections).flatMap(([section, fields]) =>
      Object.entries(fields ?? {}).map(([field, value]) => [`${section}.${field}`, value]),
    ),
  )

/** The sections, their export and import, and the sign-in providers. */
export const mountSettings = (
  http: Http,
  settings: SettingsService,
  needs: {
    baseUrl: () => string
    clock: Clock
    secrets: Pick<Secrets, 'seal'>
    users: Pick<UsersService, 'adminByProvider'>
  },
): void => {
  const { get } = settings
  const sections = () => sectionsOf(get, needs.baseUrl)
  const shownUrl = () => ({ site_url: sections().service.site_url, isOwnUrl: get('service.site_url') !== null })
  http.serve(contract.getSettings, sections)
  http.serve(contract.updateSettings, async ({ actor, body }) => {
    const updated_fields = fieldsOf(await settings.update(authorOf(actor), storedOf(body, shownUrl())))
    return { message: updated_fields.length > 0 ? 'The settings are changed.' : 'Nothing was changed.', updated_fields }
  })
  http.serve(contract.exportSettings, () => ({
    version: contract.exportVersion,
    exported_at: iso(needs.clock()),
    settings: sections(),
  }))
  http.serve(contract.importSettings, async ({ actor, body }) => {
    const { merge = true } = body
    const given = storedOf(body.settings, shownUrl(), 'settings.')
    const updated_sections = merge
      ? contract.sectionNames.filter(name => body.settings[name] !== undefined)
      : [...contract.sectionNames]
    await settings.update(authorOf(actor), merge ? given : { ...defaultsOfSections(), ...given }, {
      name: 'settings.import',
      author: authorOf(actor),
      data: { merge, sections: updated_sections },
    })
    return { message: 'The settings are imported.', updated_sections }
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
    const provider = (id: 'provider_a' | 'provider_b', fields: Readonly<Record<string, unknown>> | undefined) =>
      Object.fromEntries(
        Object.entries(fields ?? {}).map(([field, value]) => {
          if (value === '' || value === null) return [field, null]
          return [
            field,
            field === 'client_secret' ? needs.secrets.seal(String(value), `oauth.${id}.client_secret`) : value,
          ]
        }),
      )
    const { provider_a, provider_b, default_role, local_login_disabled } = body
    const values = {
      ...dotted({
        'oauth.provider_a': provider('provider_a', provider_a),
        'oauth.provider_b': provider('provider_b', provider_b),
      }),
      ...(default_role === undefined ? {} : { 'oauth.default_role': roleNamed(default_role) }),
      ...(local_login_disabled === undefined ? {} : { 'oauth.local_login_disabled': local_login_disabled }),
    } as Partial<Settings>
    const names: SettingName[] = await settings.update(authorOf(actor), values)
    return { message: names.length > 0 ? 'The sign-in providers are changed.' : 'Nothing was changed.' }
  })
}
