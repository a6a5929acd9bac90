import { useRef, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import type { Options } from '../../api/queries.ts'
import { DemoTag } from '../../kit/demo-tag.tsx'
import { Field } from '../../kit/field.tsx'
import { useTitle } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { sentenceOf, useCountdown } from '../../kit/trouble.tsx'
import { ownAddress, safeReturn } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { PasskeyButton } from '../identity/passkey-button.tsx'
import { signInByPasskey } from '../identity/passkeys.ts'
import { passkeysTexts } from '../identity/passkeys.texts.ts'
import { Frame } from './entry.tsx'
import { PasswordInput } from './password-input.tsx'
import { afterProvider, lastProvider, secondStep } from './second-step.ts'
import { signInTexts } from './sign-in.texts.ts'
import styles from './entry.module.css'

/** The account that `npm run demo` makes. */
const demoAccount = { username: 'demo', password: 'Look-around-42' } as const

const useSignInSearch = () => useSearch({ from: '/login' })

export const SignIn = () => {
  const t = textsOf(signInTexts)
  const { next, ended, error, why } = useSignInSearch()
  const navigate = useNavigate()
  const options = useQuery(optionsQuery).data
  const site = options?.site_name ?? textsOf(commonTexts).product
  useTitle(t.title)
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [asked, setAsked] = useState(false)
  const trouble = useRef<HTMLParagraphElement>(null)

  const search = next ? { next } : {}
  const enter = (reply: Reply<'POST /auth/passkey'>) => {
    // Another person may have been here before.
    queries.clear()
    if (reply.mfa_setup_required) void navigate({ to: '/login/enrol', search, replace: true })
    else void navigate({ href: safeReturn(next), replace: true })
  }
  const signIn = useMutation({
    mutationFn: () => api.call('POST /auth/login', { body: { username, password } }),
    onSuccess: reply => {
      if (!('mfa_required' in reply)) return enter(reply)
      secondStep.begin(reply.mfa_token, reply.methods)
      void navigate({ to: '/login/mfa', search })
    },
    onError: () => setTimeout(() => trouble.current?.focus()),
  })
  const wait = useCountdown(signIn.error, signIn.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setAsked(true)
    if (!username || !password || wait !== null || signIn.isPending) return
    signIn.mutate()
  }

  const problem = signIn.error
    ? statusOf(signIn.error) === 401
      ? t.wrong
      : statusOf(signIn.error) === 429
        ? wait === null
          ? t.limitOver
          : t.limited(wait)
        : sentenceOf(signIn.error)
    : asked && (!username || !password)
      ? t.fill
      : null
  const again = !asked && !signIn.error

  if (options?.setup_required) return <Navigate to="/setup" search={{}} replace />
  const secureAddress =
    options?.base_url.startsWith('https:') && location.protocol === 'http:' ? options.base_url : null
  const elsewhere = options && !secureAddress && new URL(options.base_url).origin !== location.origin
  return (
    <Frame title={t.titleOf(site)} aside={<DemoTag />}>
      {options?.demo && (
        <p className={parts.note}>
          {t.madeUp} {t.demoAccount(demoAccount.username, demoAccount.password)}{' '}
          <button
            type="button"
            className={styles.fill}
            onClick={() => {
              setUsername(demoAccount.username)
              setPassword(demoAccount.password)
            }}
          >
            {t.fillIn}
          </button>
        </p>
      )}
      {again && <Before ended={ended} why={why} error={error} />}
      {secureAddress && (
        <p className={parts.warn}>
          {t.needsHttps} <a href={secureAddress}>{secureAddress}</a>
        </p>
      )}
      {options?.local_login_disabled ? (
        <p className={parts.note}>
          {t.localDisabled} {options.providers.length === 0 && t.noWay}
        </p>
      ) : (
        <form className={parts.form} onSubmit={submit} noValidate>
          <p ref={trouble} tabIndex={-1} role="alert" className={problem ? parts.refusal : parts.hidden}>
            {problem}
          </p>
          <Field label={t.username}>
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
          <Field label={t.password}>
            {ids => <PasswordInput ids={ids} value={password} onValue={setPassword} autoComplete="current-password" />}
          </Field>
          <Button type="submit" fullWidth className={styles.submit} loading={signIn.isPending} disabled={wait !== null}>
            {t.submit}
          </Button>
          <PasskeyButton
            words={textsOf(passkeysTexts).signIn}
            act={signInByPasskey}
            onDone={enter}
            className={styles.submit}
            fullWidth
          />
        </form>
      )}
      {options && options.providers.length > 0 && (
        <Providers of={options.providers} next={next} alone={options.local_login_disabled} />
      )}
      {elsewhere && options.base_url !== ownAddress && <p className={parts.help}>{t.otherAddress(options.base_url)}</p>}
    </Frame>
  )
}

/** Why somebody is here again: the session ended, the code took too long, or the provider refused. */
const Before = ({ ended, why, error }: Pick<ReturnType<typeof useSignInSearch>, 'ended' | 'why' | 'error'>) => {
  const t = textsOf(signInTexts)
  return (
    <>
      {ended && (
        <p className={parts.note} role="status">
          {t.ended}
        </p>
      )}
      {why && (
        <p className={parts.warn} role="status">
          {t.why[why]}
        </p>
      )}
      {error && (
        <p className={parts.refusal} role="alert">
          {t.errors[error]}
        </p>
      )}
    </>
  )
}

/** The other ways in. They lead through another site, so these are links and leave this page. */
const Providers = (props: { of: Options['providers']; next: string | undefined; alone: boolean }) => {
  const t = textsOf(signInTexts)
  const last = props.of.find(({ id }) => id === lastProvider.read())
  return (
    <div className={styles.providers}>
      {!props.alone && (
        <p className={styles.or} aria-hidden="true">
          {t.or}
        </p>
      )}
      {props.of.map(({ id, label }) => (
        <Button
          key={id}
          component="a"
          href={`${ownAddress}/api/v1/auth/${id}`}
          variant={props.alone ? 'filled' : 'default'}
          fullWidth
          className={styles.submit}
          onClick={() => {
            lastProvider.keep(id)
            afterProvider.keep(props.next)
          }}
        >
          {t.continueWith(label)}
        </Button>
      ))}
      {last && <p className={parts.help}>{t.lastUsed(last.label)}</p>}
    </div>
  )
}
