import type { Reply } from '@stockade/client'
import { unchangedSecret } from '../../kit/secret-draft.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { settingsTexts } from './settings.texts.ts'
import { readNames } from './typed.ts'

export type Oauth = Reply<'GET /settings/oauth'>
export type ProviderId = 'provider_a' | 'provider_b'

/** The credentials go in and never come out; the client ID is shown where it is typed only. */
export const typedOf = ({ provider_a, provider_b, default_role, local_login_disabled }: Oauth) => ({
  'provider_a.enabled': provider_a.enabled,
  'provider_a.client_id': '',
  'provider_a.client_secret': unchangedSecret,
  'provider_a.allowed': provider_a.allowed_users.join('\n'),
  'provider_a.org': provider_a.allowed_org ?? '',
  'provider_b.enabled': provider_b.enabled,
  'provider_b.client_id': '',
  'provider_b.client_secret': unchangedSecret,
  'provider_b.allowed': provider_b.allowed_domains.join('\n'),
  role: default_role,
  localOff: local_login_disabled,
})
export type TypedOauth = ReturnType<typeof typedOf>

export const fieldsOf = (is: Oauth) => {
  const t = textsOf(settingsTexts)
  const listed = (typed: string) => readNames(typed).join(', ') || t.empty
  const provider = (id: ProviderId) => {
    const within = t[id]
    return {
      enabled: { within, label: t.enabled },
      clientId: { within, label: t.clientId },
      clientSecret: { within, label: t.clientSecret, isSet: is[id].client_secret_set },
    }
  }
  const [a, b] = [provider('provider_a'), provider('provider_b')]
  return {
    'provider_a.enabled': a.enabled,
    'provider_a.client_id': a.clientId,
    'provider_a.client_secret': a.clientSecret,
    'provider_a.allowed': { within: t.provider_a, label: t.users, say: listed },
    'provider_a.org': t.org,
    'provider_b.enabled': b.enabled,
    'provider_b.client_id': b.clientId,
    'provider_b.client_secret': b.clientSecret,
    'provider_b.allowed': { within: t.provider_b, label: t.domains, say: listed },
    role: { label: t.defaultRole, say: (role: Oauth['default_role']) => textsOf(commonTexts).roles[role] },
    localOff: t.localOff,
  }
}

/** Only what was touched: what somebody else changed meanwhile stays. */
export const bodyOf = (typed: TypedOauth, changed: ReadonlySet<keyof TypedOauth>) => {
  const common = (id: ProviderId) => ({
    ...(changed.has(`${id}.enabled`) ? { enabled: typed[`${id}.enabled`] } : {}),
    ...(typed[`${id}.client_id`].trim() ? { client_id: typed[`${id}.client_id`].trim() } : {}),
    ...(typed[`${id}.client_secret`] ? { client_secret: typed[`${id}.client_secret`] } : {}),
  })
  const allowed = (id: ProviderId) => [...readNames(typed[`${id}.allowed`])]
  return {
    provider_a: {
      ...common('provider_a'),
      ...(changed.has('provider_a.allowed') ? { allowed_users: allowed('provider_a') } : {}),
      ...(changed.has('provider_a.org') ? { allowed_org: typed['provider_a.org'].trim() || null } : {}),
    },
    provider_b: {
      ...common('provider_b'),
      ...(changed.has('provider_b.allowed') ? { allowed_domains: allowed('provider_b') } : {}),
    },
    ...(changed.has('role') ? { default_role: typed.role } : {}),
    ...(changed.has('localOff') ? { local_login_disabled: typed.localOff } : {}),
  }
}
