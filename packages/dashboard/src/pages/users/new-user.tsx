import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { Field } from '../../parts/field.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { Refusal, fieldProblem } from '../../parts/trouble.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import identity from '../identity/identity.module.css'
import { settingsQuery } from '../identity/queries.ts'
import type { Role } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import { ServerChoice, allServers } from '../identity/server-choice.tsx'
import type { Access } from '../identity/server-choice.tsx'
import { EmailField, isEmail, isUsername, takenProblem } from './fields.tsx'
import { HandOver } from './hand-over.tsx'
import { temporaryPassword } from './temporary.ts'
import { usersTexts } from './users.texts.ts'

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
  const [tried, setTried] = useState(false)
  const restricted = role !== 'Admin' && access.type === 'specific'

  const add = useMutation({
    mutationFn: async () => {
      const password = temporaryPassword(security?.password_min_length ?? 20)
      const user = await api.call('POST /users', { body: { username, email: email.trim(), password, role } })
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
            <HandOver
              username={add.data.username}
              password={add.data.password}
              {...(security?.mfa_required ? { note: t.factorNext } : {})}
            >
              <Button onClick={() => void navigate({ to: '/users/$userId', params: { userId: String(add.data.id) } })}>
                {t.done}
              </Button>
              <Button variant="default" onClick={onAnother}>
                {t.another}
              </Button>
            </HandOver>
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
              <p className={parts.help}>{t.passwordNote}</p>
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
