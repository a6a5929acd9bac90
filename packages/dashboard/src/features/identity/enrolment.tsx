import { useEffect, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { mayBeWrong, meQuery, optionsQuery, queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { CopyField } from '../../kit/copy.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { BackupCodes } from './backup-codes.tsx'
import { CodeField } from './code-field.tsx'
import { identityTexts } from './identity.texts.ts'
import { forgetUser } from './queries.ts'
import styles from './identity.module.css'

type Prepared = Reply<'POST /auth/mfa/enable'>

/** The way to a second factor: the key, a code that proves it, the backup codes. Nothing is on before the code. */
export const Enrolment = ({ onDone, begun = false }: { onDone: () => void; begun?: boolean }) => {
  const t = textsOf(identityTexts).secondFactor
  const [confirmed, setConfirmed] = useState(false)
  const prepare = useMutation({ mutationFn: () => api.call('POST /auth/mfa/enable') })
  if (confirmed && prepare.data)
    return (
      <div className={parts.form}>
        <p className={parts.note} role="status">
          {t.on}
        </p>
        <BackupCodes codes={prepare.data.backup_codes} onDone={onDone} />
      </div>
    )
  if (prepare.data) return <Confirm prepared={prepare.data} onConfirmed={() => setConfirmed(true)} />
  return (
    <div className={parts.block}>
      <p>{t.what}</p>
      <Refusal error={prepare.error} />
      <Button variant={begun ? 'filled' : 'default'} loading={prepare.isPending} onClick={() => prepare.mutate()}>
        {t.begin}
      </Button>
    </div>
  )
}

/** As the picture says it. */
const addressOf = (secret: string, username: string, site: string) =>
  `otpauth://totp/${encodeURIComponent(site)}:${encodeURIComponent(username)}?issuer=${encodeURIComponent(site)}&secret=${secret}&algorithm=SHA1&digits=6&period=30`

const Confirm = ({ prepared, onConfirmed }: { prepared: Prepared; onConfirmed: () => void }) => {
  const t = textsOf(identityTexts).secondFactor
  const me = useMe()
  const phone = usePhone()
  const site = useQuery(optionsQuery).data?.site_name ?? textsOf(commonTexts).product
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string>()
  const confirm = useMutation({
    meta: mayBeWrong,
    mutationFn: (code: string) => api.call('POST /auth/mfa/confirm', { body: { code } }),
    onSuccess: () => {
      onConfirmed()
      void queries.invalidateQueries({ queryKey: meQuery.queryKey })
      if (me) void forgetUser(me.id)
    },
    onError: error => {
      setProblem(sentenceOf(error))
      setTimeout(() => field.current?.select())
    },
  })
  const send = (code: string) => {
    if (confirm.isPending) return
    setProblem(undefined)
    confirm.mutate(code)
  }
  useEffect(() => {
    // A keyboard over the picture would be in the way.
    if (!phone) field.current?.focus()
  }, [phone])
  const submit = () => {
    const code = field.current?.value ?? ''
    if (code.length === 6) send(code)
    else field.current?.focus()
  }
  return (
    <PlainForm onSubmit={submit}>
      {me && (
        <a className={styles.open} href={addressOf(prepared.secret, me.username, site)}>
          {t.link}
        </a>
      )}
      {!phone && (
        <figure className={styles.qr}>
          <figcaption>{t.scan}</figcaption>
          <img src={prepared.qr_code} alt={t.qr} width={200} height={200} />
        </figure>
      )}
      <div className={parts.block}>
        <p>{t.key}</p>
        <CopyField text={prepared.secret.replace(/.{4}(?=.)/g, '$& ')} label={t.keyLabel} />
      </div>
      <CodeField
        label={t.code}
        help={t.codeHelp}
        error={problem}
        busy={confirm.isPending}
        onCode={send}
        field={field}
      />
      <span className={parts.hidden} role="alert">
        {problem}
      </span>
      <div className={parts.row}>
        <Button type="submit" loading={confirm.isPending}>
          {t.confirm}
        </Button>
      </div>
    </PlainForm>
  )
}
