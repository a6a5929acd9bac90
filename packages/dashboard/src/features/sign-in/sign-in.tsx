import { useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import type { Options } from '../../api/queries.ts'
import { DemoTag } from '../../kit/demo-tag.tsx'
import { TextField } from '../../kit/text-field.tsx'
import { useTitle } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { sentenceOf, useCountdown } from '../../kit/trouble.tsx'
import { ownAddress, safeReturn } from '../../lib/place.ts'
import { duration } from '../../lib/time.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { PasskeyButton } from '../identity/passkey-button.tsx'
import { signInByPasskey } from '../identity/passkeys.ts'
import { passkeysTexts } from '../identity/passkeys.texts.ts'
import { Frame } from './entry.tsx'
import { PasswordField } from './password-field.tsx'
import { afterProvider, lastProvider, secondStep } from './second-step.ts'
import { signInTexts } from './sign-in.texts.ts'
import styles from './entry.module.css'

/** The account that `npm run demo` makes. */
const demoAccount = { username: 'demo', password: 'Look-around-42' } as const

const useSignInSearch = () => useSearch({ from: '/login' })

export const SignIn = () => {
  const t = textsOf(signInTexts)
  const options = useQuery(optionsQuery).data
  const site = options?.site_name ?? textsOf(commonTexts).product
  useTitle(t.title)
  const form = useSignIn()
  if (options?.setup_required) return <Navigate to="/setup" search={{}} replace />
  return (
    <Frame title={t.titleOf(site)} aside={<DemoTag />}>
      {options?.demo && <DemoNote onFill={form.set} />}
      {form.isFresh && <Before />}
      {options && <SecureAddress of={options} />}
      {options?.local_login_disabled ? (
        <p className={parts.note}>
          {t.localDisabled} {options.providers.length === 0 && t.noWay}
        </p>
      ) : (
        <PasswordForm form={form} />
      )}
      {options && options.providers.length > 0 && (
        <Providers of={options.providers} alone={options.local_login_disabled} />
      )}
      {options && <OtherAddress of={options} />}
    </Frame>
  )
}

/** What is typed, and the request that it ends in. */
const useSignIn = () => {
  const t = textsOf(signInTexts)
  const { next } = useSignInSearch()
  const navigate = useNavigate()
  const [typed, setTyped] = useState({ username: '', password: '' })
  const [asked, setAsked] = useState(false)
  const trouble = useRef<HTMLParagraphElement>(null)
  const search = next ? { next } : {}
  const enter = (reply: Reply<'POST /auth/passkey'>) => {
    // Another person may have been here before.
    queries.clear()
    if (reply.mfa_setup_required) void navigate({ to: '/login/enrol', search, replace: true })
    else void navigate({ href: safeReturn(next), replace: true })
  }
  const request = useMutation({
    mutationFn: () => api.call('POST /auth/login', { body: typed }),
    onSuccess: reply => {
      if (!('mfa_required' in reply)) return enter(reply)
      secondStep.begin(reply.mfa_token, reply.methods)
      void navigate({ to: '/login/mfa', search })
    },
    onError: () => setTimeout(() => trouble.current?.focus()),
  })
  const wait = useCountdown(request.error, request.submittedAt)
  const isFilled = typed.username !== '' && typed.password !== ''
  const refusal = () => {
    switch (statusOf(request.error)) {
      case 401:
        return t.wrong
      case 429:
        return wait === null ? t.limitOver : t.limited(wait)
      default:
        return sentenceOf(request.error)
    }
  }
  return {
    ...{ typed, trouble, wait, enter },
    set: (change: Partial<typeof typed>) => setTyped(before => ({ ...before, ...change })),
    /** Whether nothing was sent from here yet. */
    isFresh: !asked && !request.error,
    isPending: request.isPending,
    problem: request.error ? refusal() : asked && !isFilled ? t.fill : null,
    submit() {
      setAsked(true)
      if (isFilled && wait === null && !request.isPending) request.mutate()
    },
  }
}

const PasswordForm = ({ form }: { form: ReturnType<typeof useSignIn> }) => {
  const t = textsOf(signInTexts)
  const { typed, set, problem, trouble, submit, isPending, wait, enter } = form
  return (
    <PlainForm onSubmit={submit}>
      <p ref={trouble} tabIndex={-1} role="alert" className={problem ? parts.refusal : parts.hidden}>
        {problem}
      </p>
      <TextField
        label={t.username}
        name="username"
        complete="username"
        dir="ltr"
        value={typed.username}
        onValue={username => set({ username })}
      />
      <PasswordField
        label={t.password}
        value={typed.password}
        onValue={password => set({ password })}
        complete="current-password"
      />
      <Button type="submit" fullWidth className={styles.submit} loading={isPending} disabled={wait !== null}>
        {t.submit}
      </Button>
      <PasskeyButton
        words={textsOf(passkeysTexts).signIn}
        act={signInByPasskey}
        onDone={enter}
        className={styles.submit}
        fullWidth
      />
    </PlainForm>
  )
}

const DemoNote = ({ onFill }: { onFill: (account: typeof demoAccount) => void }) => {
  const t = textsOf(signInTexts)
  return (
    <p className={parts.note}>
      {t.madeUp} {t.demoAccount(demoAccount.username, demoAccount.password)}{' '}
      <button type="button" className={styles.fill} onClick={() => onFill(demoAccount)}>
        {t.fillIn}
      </button>
    </p>
  )
}

const needsHttps = ({ base_url }: Options): boolean => base_url.startsWith('https:') && location.protocol === 'http:'
const SecureAddress = ({ of: options }: { of: Options }) =>
  needsHttps(options) && (
    <p className={parts.warn}>
      {textsOf(signInTexts).needsHttps} <a href={options.base_url}>{options.base_url}</a>
    </p>
  )
const OtherAddress = ({ of: options }: { of: Options }) => {
  const url = options.base_url
  const isElsewhere = !needsHttps(options) && new URL(url).origin !== location.origin && url !== ownAddress
  return isElsewhere && <p className={parts.help}>{textsOf(signInTexts).otherAddress(url)}</p>
}

/** Why somebody is here again: the session ended, the code took too long, or the provider refused. */
const Before = () => {
  const t = textsOf(signInTexts)
  const { ended, why, error, seconds } = useSignInSearch()
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
          {error === 'clock_differs' && seconds ? t.clockDiffers(duration(seconds)) : t.errors[error]}
        </p>
      )}
    </>
  )
}

/** The other ways in. They lead through another site, so these are links and leave this page. */
const Providers = (props: { of: Options['providers']; alone: boolean }) => {
  const t = textsOf(signInTexts)
  const { next } = useSignInSearch()
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
            afterProvider.keep(next)
          }}
        >
          {t.continueWith(label)}
        </Button>
      ))}
      {last && <p className={parts.help}>{t.lastUsed(last.label)}</p>}
    </div>
  )
}
