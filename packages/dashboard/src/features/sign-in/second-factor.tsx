import { useEffect, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { Field } from '../../kit/field.tsx'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { sentenceOf, useCountdown } from '../../kit/trouble.tsx'
import { safeReturn } from '../../lib/place.ts'
import { locale, textsOf } from '../../lib/texts/catalogue.ts'
import { CodeField } from '../identity/code-field.tsx'
import { PasskeyButton } from '../identity/passkey-button.tsx'
import { signInByPasskey } from '../identity/passkeys.ts'
import { passkeysTexts } from '../identity/passkeys.texts.ts'
import { Entry } from './entry.tsx'
import { secondFactorTexts } from './second-factor.texts.ts'
import { allowed, secondStep } from './second-step.ts'
import type { SecondStep } from './second-step.ts'
import styles from './entry.module.css'

export const SecondFactor = () => {
  const { next } = useSearch({ from: '/login/mfa' })
  const [step] = useState(secondStep.read)
  // Without a password before it there is nothing to finish here.
  if (!step) return <Navigate to="/login" search={next ? { next } : {}} replace />
  return <Ask step={step} next={next} />
}

const Ask = ({ step, next }: { step: SecondStep; next: string | undefined }) => {
  const t = textsOf(secondFactorTexts)
  const exits = useExits(next)
  useTimeLimit(step, exits.leave)
  const form = useCodeForm(step, exits)
  const hasCodes = step.methods.includes('totp')
  return (
    <Entry title={t.title}>
      {step.methods.includes('passkey') && (
        <PasskeyButton
          words={textsOf(passkeysTexts).use}
          act={() => signInByPasskey(step.token)}
          onDone={exits.enter}
          className={styles.submit}
          fullWidth
          filled={!hasCodes}
        />
      )}
      {hasCodes && (
        <>
          <CodeForm form={form} />
          <ServerTime />
        </>
      )}
      <div className={styles.ways}>
        {hasCodes && (
          <button type="button" className={parts.quiet} onClick={form.turn}>
            {form.byBackup ? t.useApp : t.useBackup}
          </button>
        )}
        <button type="button" className={parts.quiet} onClick={() => exits.leave()}>
          {t.back}
        </button>
      </div>
    </Entry>
  )
}

type Leave = (why?: 'tries' | 'time') => void
/** The two ways out of this page: back to the password, or in. */
const useExits = (next: string | undefined) => {
  const navigate = useNavigate()
  const leave: Leave = why => {
    secondStep.forget()
    void navigate({ to: '/login', search: { ...(next ? { next } : {}), ...(why ? { why } : {}) }, replace: true })
  }
  const enter = (reply: Reply<'POST /auth/passkey'>) => {
    secondStep.forget()
    queries.clear()
    if (reply.mfa_setup_required) void navigate({ to: '/login/enrol', search: next ? { next } : {}, replace: true })
    else void navigate({ href: safeReturn(next), replace: true })
  }
  return { leave, enter }
}

/** Leaves when the server no longer takes a code for this password. */
const useTimeLimit = (step: SecondStep, leave: Leave) => {
  const leaving = useRef(leave)
  useEffect(() => {
    leaving.current = leave
  })
  useEffect(() => {
    const timer = setTimeout(() => leaving.current('time'), step.since + allowed.time - Date.now())
    return () => clearTimeout(timer)
  }, [step])
}

/** A code of the app, or a backup code in its place: what is typed, and what is wrong with it. */
const useCodeForm = (step: SecondStep, { leave, enter }: ReturnType<typeof useExits>) => {
  const t = textsOf(secondFactorTexts)
  const [byBackup, setByBackup] = useState(false)
  const [backup, setBackup] = useState('')
  const [problem, setProblem] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const verify = useMutation({
    mutationFn: (code: string) => api.call('POST /auth/mfa/verify', { body: { mfa_token: step.token, code } }),
    onSuccess: enter,
    onError: error => {
      const wrong = statusOf(error) === 401
      const left = wrong ? secondStep.wrong() : null
      if (left === 0) return leave('tries')
      setProblem(left === null ? sentenceOf(error) : t.wrong(sentenceOf(error), left))
      setTimeout(() => field.current?.select())
    },
  })
  const limit = useCountdown(verify.error, verify.submittedAt)
  useEffect(() => field.current?.focus(), [byBackup])
  const send = (code: string) => {
    if (verify.isPending || limit !== null) return
    setProblem(undefined)
    verify.mutate(code)
  }
  return {
    ...{ byBackup, backup, setBackup, field, send },
    error: limit === null ? problem : t.limited(limit),
    /** Read out; the seconds of a limit would be read each second. */
    alert: limit === null ? problem : undefined,
    busy: verify.isPending,
    turn() {
      setProblem(undefined)
      setByBackup(!byBackup)
    },
    submit() {
      const code = byBackup ? backup.trim() : (field.current?.value ?? '')
      if (code) return send(code)
      setProblem(t.fill)
      field.current?.focus()
    },
  }
}
type FormOfCode = ReturnType<typeof useCodeForm>

const CodeForm = ({ form }: { form: FormOfCode }) => {
  const t = textsOf(secondFactorTexts)
  const { error, busy, field } = form
  return (
    <PlainForm onSubmit={form.submit}>
      {form.byBackup ? (
        <BackupField form={form} />
      ) : (
        <CodeField label={t.code} help={t.codeHelp} error={error} busy={busy} onCode={form.send} field={field} />
      )}
      <span className={parts.hidden} role="alert">
        {form.alert}
      </span>
      <Button type="submit" fullWidth className={styles.submit} loading={busy}>
        {t.submit}
      </Button>
    </PlainForm>
  )
}

const BackupField = ({ form: { backup, setBackup, error, busy, field } }: { form: FormOfCode }) => {
  const t = textsOf(secondFactorTexts)
  return (
    <Field label={t.backup} help={t.backupHelp} error={error}>
      {ids => (
        <input
          {...ids}
          ref={field}
          className={parts.input}
          name="backup-code"
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          dir="ltr"
          readOnly={busy}
          value={backup}
          onChange={event => setBackup(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

const clock = new Intl.DateTimeFormat(locale, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
/** A clock that is off is the usual cause of codes that are refused. */
const ServerTime = () => {
  const t = textsOf(secondFactorTexts)
  const options = useQuery({ ...optionsQuery, staleTime: 0 })
  const ahead = options.data ? Date.parse(options.data.server_time) - options.dataUpdatedAt : 0
  const there = useWords(now => clock.format(now + ahead))
  const here = useWords(now => clock.format(now))
  if (!options.data) return null
  return (
    <p className={parts.help}>
      {t.serverTime(there)} {Math.abs(ahead) > 30_000 && t.clockDiffers(here)}
    </p>
  )
}
