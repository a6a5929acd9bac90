import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form, FormButtons } from '../../kit/form.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { CheckField, Choices } from '../identity/choices.tsx'
import { identityTexts } from '../identity/identity.texts.ts'
import identity from '../identity/identity.module.css'
import { settingsQuery } from '../identity/queries.ts'
import type { Role } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import { ServerChoice, accessBody, allServers, isNoAccess, sayAccess } from '../identity/server-choice.tsx'
import type { Access } from '../identity/server-choice.tsx'
import { isEmail, isUsername, takenProblem } from './fields.ts'
import { HandOver } from './hand-over.tsx'
import { Invitation } from './invitation.tsx'
import { temporaryPassword } from './temporary.ts'
import { usersTexts } from './users.texts.ts'

const ways = ['invite', 'password'] as const
interface Typed {
  readonly username: string
  readonly email: string
  readonly role: Role
  readonly access: Access
  readonly factor: boolean
  readonly way: (typeof ways)[number]
}
const blank: Typed = { username: '', email: '', role: 'Viewer', access: allServers, factor: true, way: 'invite' }

export const NewUser = () => {
  const t = textsOf(usersTexts)
  const navigate = useNavigate()
  const [added, setAdded] = useState<Added>()
  return (
    <Page title={t.newTitle} above={<Link to="/users">{t.title}</Link>}>
      <div className={identity.narrow}>
        {added ? (
          <div className={parts.form}>
            {added.accessFailed && (
              <p className={parts.refusal} role="alert">
                {t.accessFailed}
              </p>
            )}
            <Result made={added} note={added.isFactorNext ? t.factorNext : undefined}>
              <Button onClick={() => void navigate({ to: '/users/$userId', params: { userId: String(added.id) } })}>
                {t.done}
              </Button>
              <Button variant="default" onClick={() => setAdded(undefined)}>
                {t.another}
              </Button>
            </Result>
          </div>
        ) : (
          <NewUserForm onAdded={setAdded} />
        )}
      </div>
    </Page>
  )
}

/** Two requests: the second one can fail after the first has added the user. */
const addUser = async ({ username, email, role, access, factor, way }: Typed, shortest: number) => {
  const password = way === 'invite' ? undefined : temporaryPassword(shortest)
  const user = await api.call('POST /users', {
    body: {
      username,
      email: email.trim(),
      role,
      ...(password === undefined ? { invite: true } : { password }),
      ...(factor ? { mfa_required: true } : {}),
    },
  })
  const isRestricted = role !== 'Admin' && access.type === 'specific'
  const accessFailed =
    isRestricted &&
    (await api
      .call('PUT /users/{userId}/server-access', { params: { userId: user.id }, body: accessBody(access) })
      .then(() => false)
      .catch(() => true))
  void queries.invalidateQueries({ queryKey: ['users'] })
  return { ...user, password, accessFailed, isFactorNext: factor }
}
type Added = Awaited<ReturnType<typeof addUser>>

const useNewUser = (onAdded: (user: Added) => void) => {
  const t = textsOf(usersTexts)
  const security = useQuery(settingsQuery).data?.security
  const form = useForm<Typed>({
    name: 'new user',
    is: blank,
    late: true,
    saved: null,
    fields: {
      username: t.username,
      email: t.email,
      role: { label: t.role, say: role => textsOf(commonTexts).roles[role] },
      access: { label: t.accessTitle, say: sayAccess },
      factor: t.requireFactor,
      way: { label: t.way, say: way => t.ways[way] },
    },
    problems: ({ username, email, role, access }) => ({
      username: isUsername(username) ? undefined : t.invalidUsername,
      email: isEmail(email.trim()) ? undefined : t.invalidEmail,
      access: role !== 'Admin' && isNoAccess(access) ? textsOf(identityTexts).servers.missing : undefined,
    }),
    refusalOf: (name, error) => (name === 'username' || name === 'email' ? takenProblem(error, name) : undefined),
    parts: [
      {
        send: async values => {
          const added = await addUser(values, security?.password_min_length ?? 20)
          onAdded({ ...added, isFactorNext: added.isFactorNext || security?.mfa_required === true })
        },
      },
    ],
  })
  return { form, isFactorForAll: security?.mfa_required === true }
}

const NewUserForm = ({ onAdded }: { onAdded: (user: Added) => void }) => {
  const t = textsOf(usersTexts)
  const { form, isFactorForAll } = useNewUser(onAdded)
  const { value: role, onValue: setRole } = form.bind('role')
  const { value: way, onValue: setWay } = form.bind('way')
  return (
    <Panel>
      <Form form={form} bar={false}>
        <TextField {...form.bind('username')} help={t.usernameHelp} most={50} dir="ltr" />
        <TextField {...form.bind('email')} most={254} kind="email" dir="ltr" />
        <RoleChoice legend={t.role} value={role} onValue={setRole} />
        {role !== 'Admin' && <ServerChoice {...form.bind('access')} />}
        {isFactorForAll ? (
          <p className={parts.help}>{t.factorForAll}</p>
        ) : (
          <CheckField {...form.bind('factor')} meaning={t.requireFactorMeans} />
        )}
        <Choices
          legend={t.way}
          options={ways.map(value => ({ value, label: t.ways[value], meaning: t.wayMeans[value] }))}
          value={way}
          onValue={setWay}
        />
        <FormButtons form={form} submit={t.create}>
          <ButtonLink to="/users" variant="default">
            {textsOf(commonTexts).cancel}
          </ButtonLink>
        </FormButtons>
      </Form>
    </Panel>
  )
}

/** What is to be passed on: the set-up link, or the password that was made. */
const Result = (props: {
  made: {
    readonly username: string
    readonly password: string | undefined
    readonly setup_url: string | null
    readonly invite_expires_at: string | null
  }
  note: string | undefined
  children: ReactNode
}) => {
  const { username, password, setup_url, invite_expires_at } = props.made
  if (setup_url !== null && invite_expires_at !== null)
    return (
      <Invitation username={username} link={setup_url} until={invite_expires_at} note={props.note}>
        {props.children}
      </Invitation>
    )
  return (
    <HandOver username={username} password={password ?? ''} {...(props.note ? { note: props.note } : {})}>
      {props.children}
    </HandOver>
  )
}
