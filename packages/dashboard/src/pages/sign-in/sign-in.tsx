import { useRef, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { Field } from '../../parts/field.tsx'
import { useTitle } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { sentenceOf, useCountdown } from '../../parts/trouble.tsx'
import { ownAddress, safeReturn } from '../../place.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { PasswordInput } from './password-input.tsx'
import { signInTexts } from './sign-in.texts.ts'
import styles from './entry.module.css'

export const SignIn = () => {
  const t = textsOf(signInTexts)
  const { next, ended } = useSearch({ from: '/login' })
  const navigate = useNavigate()
  const options = useQuery(optionsQuery).data
  const site = options?.site_name ?? textsOf(commonTexts).product
  useTitle(t.title)
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [asked, setAsked] = useState(false)
  const trouble = useRef<HTMLParagraphElement>(null)

  const signIn = useMutation({
    mutationFn: () => api.call('POST /auth/login', { body: { username, password } }),
    onSuccess: reply => {
      if ('mfa_required' in reply) return
      // Another person may have been here before.
      queries.clear()
      void navigate({ href: safeReturn(next), replace: true })
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

  const problem =
    signIn.data && 'mfa_required' in signIn.data
      ? t.secondFactor
      : signIn.error
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

  if (options?.setup_required) return <Navigate to="/setup" search={{}} replace />
  const secureAddress =
    options?.base_url.startsWith('https:') && location.protocol === 'http:' ? options.base_url : null
  const elsewhere = options && !secureAddress && new URL(options.base_url).origin !== location.origin
  return (
    <main className={styles.entry}>
      <div className={styles.brand}>
        <img src="./icon.svg" alt="" />
        <bdi>{site}</bdi>
      </div>
      <h1 className={parts.title}>{t.title}</h1>
      {ended && !signIn.error && (
        <p className={parts.note} role="status">
          {t.ended}
        </p>
      )}
      {secureAddress && (
        <p className={parts.warn}>
          {t.needsHttps} <a href={secureAddress}>{secureAddress}</a>
        </p>
      )}
      {options?.local_login_disabled ? (
        <p className={parts.note}>{t.localDisabled}</p>
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
        </form>
      )}
      {elsewhere && options.base_url !== ownAddress && <p className={parts.help}>{t.otherAddress(options.base_url)}</p>}
    </main>
  )
}
