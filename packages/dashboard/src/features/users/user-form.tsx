import { api } from '../../api/client.ts'
import { meQuery, queries } from '../../api/queries.ts'
import { TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import { forgetUser } from '../identity/queries.ts'
import type { Role, UserDetail } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import { ServerChoice, accessBody, isNoAccess, sayAccess } from '../identity/server-choice.tsx'
import type { Access } from '../identity/server-choice.tsx'
import identity from '../identity/identity.module.css'
import { isEmail, takenProblem } from './fields.ts'
import { usersTexts } from './users.texts.ts'

interface Typed {
  readonly email: string
  readonly role: Role
  readonly access: Access
}
const typedOf = (user: UserDetail): Typed => ({
  email: user.email,
  role: user.role,
  access: { type: user.server_access, servers: user.server_ids.toSorted(), tags: user.tags.toSorted() },
})

/** Two requests: one for the account, one for the servers that it sees. */
const useUser = (user: UserDetail, own: boolean) => {
  const t = textsOf(usersTexts)
  const params = { userId: user.id }
  return useForm<Typed>({
    name: `user ${user.id}`,
    is: typedOf(user),
    fields: {
      email: t.email,
      role: { label: t.role, say: role => textsOf(commonTexts).roles[role] },
      access: { label: t.accessTitle, say: sayAccess },
    },
    problems: ({ email, role, access }) => ({
      email: isEmail(email.trim()) ? undefined : t.invalidEmail,
      access: role !== 'Admin' && isNoAccess(access) ? textsOf(identityTexts).servers.missing : undefined,
    }),
    refusalOf: (name, error) => (name === 'email' ? takenProblem(error, name) : undefined),
    parts: [
      {
        has: name => name !== 'access',
        send: async ({ email, role }, changed) => {
          const body = {
            ...(changed.has('email') ? { email: email.trim() } : {}),
            ...(changed.has('role') ? { role } : {}),
          }
          await api.call('PATCH /users/{userId}', { params, body })
        },
      },
      {
        has: name => name === 'access',
        send: ({ access }) => api.call('PUT /users/{userId}/server-access', { params, body: accessBody(access) }),
      },
    ],
    reread: () => {
      if (own) void queries.invalidateQueries({ queryKey: meQuery.queryKey })
      return forgetUser(user.id)
    },
  })
}

export const UserForm = ({ user, own, last }: { user: UserDetail; own: boolean; last: boolean }) => {
  const t = textsOf(usersTexts)
  const form = useUser(user, own)
  const role = form.bind('role')
  return (
    <Form form={form}>
      <div className={identity.columns}>
        <Panel title={t.account}>
          <div className={parts.form}>
            <Facts user={user} />
            <TextField {...form.bind('email')} most={254} kind="email" dir="ltr" />
            <RoleChoice {...role} legend={role.label} disabled={last} />
            <p className={parts.help}>{last ? t.lastAdminRole : own ? t.ownRole : t.changedRole}</p>
          </div>
        </Panel>
        <Panel title={t.accessTitle}>
          {form.values.role === 'Admin' ? <p>{t.adminAccess}</p> : <ServerChoice {...form.bind('access')} />}
        </Panel>
      </div>
    </Form>
  )
}

/** Read-only facts. */
const Facts = ({ user }: { user: UserDetail }) => {
  const t = textsOf(usersTexts)
  const words = textsOf(identityTexts)
  return (
    <dl className={parts.details}>
      <dt>{t.factor}</dt>
      <dd>
        <State is={user.mfa_enabled ? 'enabled' : 'disabled'} word={user.mfa_enabled ? words.mfaOn : words.mfaOff} />
      </dd>
      <dt>{t.provider}</dt>
      <dd>{user.oauth_provider ? words.providers[user.oauth_provider] : t.password}</dd>
      <dt>{t.lastLogin}</dt>
      <dd>{user.last_login ? <Time at={user.last_login} /> : t.neverIn}</dd>
      <dt>{t.created}</dt>
      <dd>
        <Time at={user.created_at} />
      </dd>
    </dl>
  )
}
