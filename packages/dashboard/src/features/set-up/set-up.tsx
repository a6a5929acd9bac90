import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { keysOf } from '@stockade/contract/records.ts'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { Announcer } from '../../kit/announce.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel, useTitle } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { isLocal } from '../../lib/local-url.ts'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { browserZone } from '../../lib/preferences.ts'
import { PasswordInput } from '../sign-in/password-input.tsx'
import { Frame } from '../sign-in/entry.tsx'
import entry from '../sign-in/entry.module.css'
import { keepsRules, passwordRules } from './rules.ts'
import { setUpTexts } from './set-up.texts.ts'

export const SetUp = () => {
  const t = textsOf(setUpTexts)
  const { code } = useSearch({ from: '/setup' })
  const options = useQuery(optionsQuery)
  const checked = useCodeCheck(code)
  useTitle(t.title)
  if (options.data && !options.data.setup_required) return <Navigate to="/login" search={{}} replace />
  return (
    <Frame title={code ? t.heading : t.noCode} wide>
      <Trouble what={t.title} query={options} />
      {checked === 'none' && <AskCode />}
      {checked === 'refused' && <AskCode wrong />}
      {checked === 'asking' && <Waiting />}
      {code && checked === 'accepted' && options.data && <Form code={code} baseUrl={options.data.base_url} />}
      <Announcer />
    </Frame>
  )
}

/**
 * Whether the code is right, before anybody fills in a form for nothing. The service checks the code first and the
 * password second, so a password that no policy allows asks about the code and changes nothing.
 */
const useCodeCheck = (code: string | undefined): 'none' | 'asking' | 'accepted' | 'refused' => {
  const check = useQuery({
    queryKey: ['setup-code', code],
    enabled: code !== undefined,
    retry: false,
    staleTime: Infinity,
    queryFn: async () => {
      try {
        await api.call('POST /setup', {
          body: { code: code ?? '', username: 'admin', email: 'admin@stockade.example', password: '-' },
        })
      } catch (error) {
        return statusOf(error) !== 401
      }
      return true
    },
  })
  if (code === undefined) return 'none'
  if (check.data === undefined) return 'asking'
  return check.data ? 'accepted' : 'refused'
}

/** Set-up requires the code from the console; this says where to find it. */
const AskCode = ({ wrong = false }: { wrong?: boolean }) => {
  const t = textsOf(setUpTexts)
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typed.trim()) void navigate({ to: '/setup', search: { code: typed.trim() } })
  }
  return (
    <Panel>
      <form className={parts.form} onSubmit={submit}>
        {wrong && (
          <p className={parts.refusal} role="alert">
            {t.wrongCode}
          </p>
        )}
        <p>{t.noCodeText}</p>
        <CopyField text={t.codeCommand} label={t.commandLabel} />
        <Field label={t.code}>
          {ids => (
            <input
              {...ids}
              className={parts.input}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              dir="ltr"
              value={typed}
              onChange={event => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
        <Button type="submit">{t.go}</Button>
      </form>
    </Panel>
  )
}

const Form = ({ code, baseUrl }: { code: string; baseUrl: string }) => {
  const t = textsOf(setUpTexts)
  const navigate = useNavigate()
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [address, setAddress] = useState(isLocal(baseUrl) ? ownAddress : baseUrl)
  const [timezone, setTimezone] = useState(browserZone)
  const [tried, setTried] = useState(false)

  const setUp = useMutation({
    mutationFn: () =>
      api.call('POST /setup', {
        body: {
          code,
          username,
          email,
          password,
          site_url: address.trim().replace(/\/+$/, ''),
          timezone,
          refuse_common: true,
        },
      }),
    onSuccess: async () => {
      queries.removeQueries({ queryKey: ['me'] })
      await navigate({ to: '/servers/new', search: {}, replace: true })
      // Not before: this page would take itself for a late visitor and lead to the sign-in.
      await queries.fetchQuery({ ...optionsQuery, staleTime: 0 }).catch(() => {})
    },
  })
  const sent = setUp.error
  const errors = {
    username: !/^\w{3,50}$/.test(username) || /[^\w]/.test(username) ? t.invalidUsername : undefined,
    email: !/^[^\s@]+@[^\s@]+\.?[^\s@]+$/.test(email) ? t.invalidEmail : undefined,
    password: keepsRules(password) ? undefined : t.invalidPassword,
    address: /^https?:$/.test(URL.parse(address)?.protocol ?? '') ? undefined : t.invalidAddress,
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    const wrong = keysOf(errors).find(field => errors[field])
    if (wrong) document.querySelector<HTMLElement>(`[name="${wrong}"]`)?.focus()
    else if (!setUp.isPending) setUp.mutate()
  }
  const shown = (field: keyof typeof errors) =>
    (tried ? errors[field] : undefined) ?? fieldProblem(sent, field === 'address' ? 'site_url' : field)

  if (statusOf(sent) === 401) return <AskCode wrong />
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <p>{t.intro}</p>
      <Panel title={t.account}>
        <div className={parts.form}>
          <p className={parts.help}>{t.accountHelp}</p>
          <Field label={t.username} help={t.usernameHelp} error={shown('username')}>
            {ids => (
              <input
                {...ids}
                className={parts.input}
                name="username"
                autoComplete="username"
                autoCapitalize="none"
                autoCorrect="off"
                spellCheck={false}
                dir="ltr"
                value={username}
                onChange={event => setUsername(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t.email} error={shown('email')}>
            {ids => (
              <input
                {...ids}
                className={parts.input}
                name="email"
                type="email"
                autoComplete="email"
                dir="ltr"
                value={email}
                onChange={event => setEmail(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field
            label={t.password}
            error={shown('password')}
            help={
              <ul className={entry.rules}>
                {keysOf(passwordRules).map(rule => {
                  const met = passwordRules[rule](password)
                  return (
                    <li key={rule}>
                      <State is={met ? 'done' : 'next'} word={t.rules[rule]} />
                      <span className={parts.hidden}>{met ? t.met : t.notMet}</span>
                    </li>
                  )
                })}
              </ul>
            }
          >
            {ids => <PasswordInput ids={ids} value={password} onValue={setPassword} autoComplete="new-password" />}
          </Field>
        </div>
      </Panel>
      <Panel title={t.place}>
        <div className={parts.form}>
          <Field label={t.address} help={t.addressHelp} error={shown('address')}>
            {ids => (
              <input
                {...ids}
                className={parts.input}
                name="address"
                type="url"
                inputMode="url"
                autoComplete="off"
                dir="ltr"
                value={address}
                onChange={event => setAddress(event.currentTarget.value)}
              />
            )}
          </Field>
          {isLocal(address) ? (
            <p className={parts.warn} role="status">
              {t.local}
            </p>
          ) : (
            !errors.address &&
            address.replace(/\/+$/, '') !== ownAddress && <p className={parts.help}>{t.differs(ownAddress)}</p>
          )}
          <Field label={t.timezone} help={t.timezoneHelp} error={fieldProblem(sent, 'timezone')}>
            {ids => (
              <select
                {...ids}
                className={parts.input}
                name="timezone"
                value={timezone}
                onChange={event => setTimezone(event.currentTarget.value)}
              >
                {[...new Set([browserZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map(zone => (
                  <option key={zone}>{zone}</option>
                ))}
              </select>
            )}
          </Field>
        </div>
      </Panel>
      <Refusal error={sent} />
      <Button type="submit" className={entry.submit} loading={setUp.isPending}>
        {t.submit}
      </Button>
    </form>
  )
}
