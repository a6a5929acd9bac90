import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { keysOf } from '@stockade/contract/records.ts'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { Announcer } from '../../kit/announce.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { Panel, useTitle } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { isLocal } from '../../lib/local-url.ts'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { browserZone } from '../../lib/preferences.ts'
import { PasswordField } from '../sign-in/password-field.tsx'
import { Frame } from '../sign-in/entry.tsx'
import entry from '../sign-in/entry.module.css'
import { PasswordRules } from './password-rules.tsx'
import { keepsRules } from './rules.ts'
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
  const submit = () => {
    if (typed.trim()) void navigate({ to: '/setup', search: { code: typed.trim() } })
  }
  return (
    <Panel>
      <PlainForm onSubmit={submit}>
        {wrong && (
          <p className={parts.refusal} role="alert">
            {t.wrongCode}
          </p>
        )}
        <p>{t.noCodeText}</p>
        <CopyField text={t.codeCommand} label={t.commandLabel} />
        <TextField label={t.code} dir="ltr" value={typed} onValue={setTyped} />
        <Button type="submit">{t.go}</Button>
      </PlainForm>
    </Panel>
  )
}

/** What is typed, what is wrong with it, and the request that it ends in. */
const useForm = (code: string, baseUrl: string) => {
  const t = textsOf(setUpTexts)
  const navigate = useNavigate()
  const [typed, setTyped] = useState({
    username: '',
    email: '',
    password: '',
    address: isLocal(baseUrl) ? ownAddress : baseUrl,
    timezone: browserZone,
  })
  const [tried, setTried] = useState(false)
  const { username, email, password, address, timezone } = typed
  const request = useMutation({
    mutationFn: () =>
      api.call('POST /setup', {
        body: {
          ...{ code, username, email, password, timezone },
          site_url: address.trim().replace(/\/+$/, ''),
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
  const errors = {
    username: !/^\w{3,50}$/.test(username) || /[^\w]/.test(username) ? t.invalidUsername : undefined,
    email: !/^[^\s@]+@[^\s@]+\.?[^\s@]+$/.test(email) ? t.invalidEmail : undefined,
    password: keepsRules(password) ? undefined : t.invalidPassword,
    address: /^https?:$/.test(URL.parse(address)?.protocol ?? '') ? undefined : t.invalidAddress,
    timezone: undefined,
  }
  return {
    ...{ typed, errors, request },
    set: (change: Partial<typeof typed>) => setTyped(before => ({ ...before, ...change })),
    problemOf: (field: keyof typeof errors) =>
      (tried ? errors[field] : undefined) ?? fieldProblem(request.error, field === 'address' ? 'site_url' : field),
    submit() {
      setTried(true)
      const wrong = keysOf(errors).find(field => errors[field])
      if (wrong) document.querySelector<HTMLElement>(`[name="${wrong}"]`)?.focus()
      else if (!request.isPending) request.mutate()
    },
  }
}
type SetUpForm = ReturnType<typeof useForm>

const Form = ({ code, baseUrl }: { code: string; baseUrl: string }) => {
  const t = textsOf(setUpTexts)
  const form = useForm(code, baseUrl)
  const { request } = form
  if (statusOf(request.error) === 401) return <AskCode wrong />
  return (
    <PlainForm onSubmit={form.submit}>
      <p>{t.intro}</p>
      <Account form={form} />
      <Place form={form} />
      <Refusal error={request.error} />
      <Button type="submit" className={entry.submit} loading={request.isPending}>
        {t.submit}
      </Button>
    </PlainForm>
  )
}

/** The first administrator. */
const Account = ({ form: { typed, set, problemOf } }: { form: SetUpForm }) => {
  const t = textsOf(setUpTexts)
  return (
    <Panel title={t.account}>
      <div className={parts.form}>
        <p className={parts.help}>{t.accountHelp}</p>
        <TextField
          label={t.username}
          help={t.usernameHelp}
          error={problemOf('username')}
          name="username"
          complete="username"
          dir="ltr"
          value={typed.username}
          onValue={username => set({ username })}
        />
        <TextField
          label={t.email}
          error={problemOf('email')}
          name="email"
          type="email"
          complete="email"
          dir="ltr"
          value={typed.email}
          onValue={email => set({ email })}
        />
        <PasswordField
          label={t.password}
          error={problemOf('password')}
          help={<PasswordRules password={typed.password} words={t} />}
          value={typed.password}
          onValue={password => set({ password })}
          complete="new-password"
        />
      </div>
    </Panel>
  )
}

/** Where Stockade answers, and in which time zone. */
const Place = ({ form: { typed, set, errors, problemOf } }: { form: SetUpForm }) => {
  const t = textsOf(setUpTexts)
  const { address, timezone } = typed
  const isElsewhere = !errors.address && address.replace(/\/+$/, '') !== ownAddress
  return (
    <Panel title={t.place}>
      <div className={parts.form}>
        <TextField
          label={t.address}
          help={t.addressHelp}
          error={problemOf('address')}
          name="address"
          type="url"
          kind="url"
          dir="ltr"
          value={address}
          onValue={typedAddress => set({ address: typedAddress })}
        />
        {isLocal(address) ? (
          <p className={parts.warn} role="status">
            {t.local}
          </p>
        ) : (
          isElsewhere && <p className={parts.help}>{t.differs(ownAddress)}</p>
        )}
        <SelectField
          label={t.timezone}
          help={t.timezoneHelp}
          error={problemOf('timezone')}
          name="timezone"
          value={timezone}
          options={[...new Set([browserZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map(zone => ({
            value: zone,
            text: zone,
          }))}
          onValue={zone => set({ timezone: zone })}
        />
      </div>
    </Panel>
  )
}
