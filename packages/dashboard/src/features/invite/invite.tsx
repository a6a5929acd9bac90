import { useState } from 'react'
import { Button } from '@mantine/core'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Loading } from '../../kit/loading.tsx'
import { TextField } from '../../kit/text-field.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { State } from '../../kit/state.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { exactTime } from '../../lib/time.ts'
import { Entry } from '../sign-in/entry.tsx'
import entry from '../sign-in/entry.module.css'
import { PasswordField } from '../sign-in/password-field.tsx'
import { inviteTexts } from './invite.texts.ts'
import { ruleStates } from './rules.ts'

const inviteQuery = (code: string) =>
  queryOptions({
    queryKey: ['invite', code],
    queryFn: ({ signal }) => api.call('GET /auth/invite', { query: { code }, signal }),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })

/** Where a set-up link leads: the password is chosen by the one who will use it. */
export const Invite = () => {
  const t = textsOf(inviteTexts)
  const { code } = useSearch({ from: '/invite' })
  const invite = useQuery({ ...inviteQuery(code ?? ''), enabled: code !== undefined })
  const gone = statusOf(invite.error) === 401
  return (
    <Entry title={t.title} wide>
      {code === undefined || gone ? (
        <Gone text={code === undefined ? t.noCode : t.gone} />
      ) : (
        <>
          <Loading what={t.what} query={invite} lines={4} />
          {invite.data && <Form code={code} invite={invite.data} />}
        </>
      )}
    </Entry>
  )
}

const Gone = ({ text }: { text: string }) => (
  <>
    <p className={parts.refusal} role="alert">
      {text}
    </p>
    <Link to="/login" search={{}}>
      {textsOf(inviteTexts).toSignIn}
    </Link>
  </>
)

const Form = ({ code, invite }: { code: string; invite: Reply<'GET /auth/invite'> }) => {
  const t = textsOf(inviteTexts)
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const accept = useMutation({
    mutationFn: () => api.call('POST /auth/invite', { body: { code, password, refuse_common: true } }),
    onSuccess: reply => {
      // Another person may have been here before.
      queries.clear()
      void navigate({ to: reply.mfa_setup_required ? '/login/enrol' : '/', search: {}, replace: true })
    },
  })
  const rules = ruleStates(password, invite.password_rules)
  const keepsAll = rules.every(({ met }) => met)
  const submit = () => {
    setTried(true)
    if (!keepsAll) document.querySelector<HTMLElement>('[autocomplete="new-password"]')?.focus()
    else if (!accept.isPending) accept.mutate()
  }
  const problem = fieldProblem(accept.error, 'password')
  if (statusOf(accept.error) === 401) return <Gone text={t.gone} />
  return (
    <PlainForm onSubmit={submit}>
      <p>{invite.mfa_required ? t.textFactor : t.text}</p>
      <TextField
        label={t.username}
        name="username"
        complete="username"
        dir="ltr"
        isFixed
        value={invite.username}
        onValue={() => undefined}
      />
      <PasswordField
        label={t.password}
        error={tried && !keepsAll ? t.invalid : problem}
        help={
          <ul className={entry.rules}>
            {rules.map(({ rule, met }) => (
              <li key={rule}>
                <State
                  is={met ? 'done' : 'next'}
                  word={rule === 'length' ? t.rules.length(invite.password_rules.min_length) : t.rules[rule]}
                />
                <span className={parts.hidden}>{met ? t.met : t.notMet}</span>
              </li>
            ))}
          </ul>
        }
        value={password}
        onValue={setPassword}
        complete="new-password"
      />
      {!problem && <Refusal error={accept.error} />}
      <Button type="submit" className={entry.submit} loading={accept.isPending}>
        {t.submit}
      </Button>
      <p className={parts.help}>{t.until(exactTime(Date.parse(invite.expires_at)))}</p>
    </PlainForm>
  )
}
