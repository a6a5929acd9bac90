import { useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Field } from '../../kit/field.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { Check, Choices } from '../identity/choices.tsx'
import { identityTexts } from '../identity/identity.texts.ts'
import identity from '../identity/identity.module.css'
import { settingsQuery } from '../identity/queries.ts'
import type { Role } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import { ServerChoice, allServers } from '../identity/server-choice.tsx'
import type { Access } from '../identity/server-choice.tsx'
import { EmailField, isEmail, isUsername, takenProblem } from './fields.tsx'
import { HandOver } from './hand-over.tsx'
import { Invitation } from './invitation.tsx'
import { temporaryPassword } from './temporary.ts'
import { usersTexts } from './users.texts.ts'

const ways = ['invite', 'password'] as const
type Way = (typeof ways)[number]

export const NewUser = () => {
  const [made, setMade] = useState(0)
  // Another one begins with empty fields.
  return <Form key={made} onAnother={() => setMade(made + 1)} />
}

const Form = ({ onAnother }: { onAnother: () => void }) => {
  const t = textsOf(usersTexts)
  const navigate = useNavigate()
  const security = useQuery(settingsQuery).data?.security
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('Viewer')
  const [access, setAccess] = useState<Access>(allServers)
  const [factor, setFactor] = useState(true)
  const [way, setWay] = useState<Way>('invite')
  const [tried, setTried] = useState(false)
  const restricted = role !== 'Admin' && access.type === 'specific'

  const add = useMutation({
    mutationFn: async () => {
      const password = way === 'invite' ? undefined : temporaryPassword(security?.password_min_length ?? 20)
      const user = await api.call('POST /users', {
        body: {
          username,
          email: email.trim(),
          role,
          ...(password === undefined ? { invite: true } : { password }),
          ...(factor ? { mfa_required: true } : {}),
        },
      })
      const accessFailed = restricted
        ? await api
            .call('PUT /users/{userId}/server-access', {
              params: { userId: user.id },
              body: { access_type: 'specific', server_ids: [...access.servers] },
            })
            .then(() => false)
            .catch(() => true)
        : false
      return { ...user, password, accessFailed }
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['users'] }),
  })
  const errors = {
    username: isUsername(username) ? undefined : t.invalidUsername,
    email: isEmail(email.trim()) ? undefined : t.invalidEmail,
    servers: restricted && access.servers.size === 0 ? textsOf(identityTexts).servers.missing : undefined,
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (errors.username) document.querySelector<HTMLElement>('[name="username"]')?.focus()
    else if (errors.email) document.querySelector<HTMLElement>('[name="email"]')?.focus()
    else if (!errors.servers && !add.isPending) add.mutate()
  }
  const said = (field: 'username' | 'email') =>
    (tried ? errors[field] : undefined) ??
    fieldProblem(add.error, field) ??
    takenProblem(add.error, field === 'email' ? 'e-mail' : field)
  const placed = said('username') !== undefined || said('email') !== undefined

  return (
    <Page title={t.newTitle}>
      <div className={identity.narrow}>
        {add.data ? (
          <div className={parts.form}>
            {add.data.accessFailed && (
              <p className={parts.refusal} role="alert">
                {t.accessFailed}
              </p>
            )}
            <Result made={add.data} note={factor || security?.mfa_required ? t.factorNext : undefined}>
              <Button onClick={() => void navigate({ to: '/users/$userId', params: { userId: String(add.data.id) } })}>
                {t.done}
              </Button>
              <Button variant="default" onClick={onAnother}>
                {t.another}
              </Button>
            </Result>
          </div>
        ) : (
          <Panel>
            <form className={parts.form} onSubmit={submit} noValidate>
              <Field label={t.username} help={t.usernameHelp} error={said('username')}>
                {ids => (
                  <input
                    {...ids}
                    className={parts.input}
                    name="username"
                    autoComplete="off"
                    autoCapitalize="none"
                    autoCorrect="off"
                    spellCheck={false}
                    dir="ltr"
                    maxLength={50}
                    value={username}
                    onChange={event => setUsername(event.currentTarget.value)}
                  />
                )}
              </Field>
              <EmailField value={email} onValue={setEmail} error={said('email')} />
              <RoleChoice legend={t.role} value={role} onValue={setRole} />
              {role !== 'Admin' && (
                <ServerChoice value={access} onValue={setAccess} error={tried ? errors.servers : undefined} />
              )}
              {security?.mfa_required ? (
                <p className={parts.help}>{t.factorForAll}</p>
              ) : (
                <Check label={t.requireFactor} meaning={t.requireFactorMeans} checked={factor} onChecked={setFactor} />
              )}
              <Choices
                legend={t.way}
                options={ways.map(value => ({ value, label: t.ways[value], meaning: t.wayMeans[value] }))}
                value={way}
                onValue={setWay}
              />
              {!placed && <Refusal error={add.error} />}
              <div className={parts.row}>
                <Button type="submit" loading={add.isPending}>
                  {t.create}
                </Button>
                <ButtonLink to="/users" variant="default">
                  {textsOf(commonTexts).cancel}
                </ButtonLink>
              </div>
            </form>
          </Panel>
        )}
      </div>
    </Page>
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
