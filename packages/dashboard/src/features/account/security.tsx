import { useRef, useState } from 'react'
import type { RefObject } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, statusOf } from '../../api/client.ts'
import { mayBeWrong, meQuery, queries } from '../../api/queries.ts'
import type { Me } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { State } from '../../kit/state.tsx'
import { Refusal, Trouble, fieldProblem, sentenceOf } from '../../kit/trouble.tsx'
import { Waiting, isFirstRead } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { BackupCodes } from '../identity/backup-codes.tsx'
import { WithPassword } from '../identity/dialogs.ts'
import { Enrolment } from '../identity/enrolment.tsx'
import { identityTexts } from '../identity/identity.texts.ts'
import { NewPassword } from '../identity/new-password.tsx'
import { passkeysQuery } from '../identity/passkeys.ts'
import { forgetUser, sessionsQuery, userQuery } from '../identity/queries.ts'
import type { UserDetail } from '../identity/queries.ts'
import { Sessions } from '../identity/sessions.tsx'
import identity from '../identity/identity.module.css'
import { keepsRules } from '../set-up/rules.ts'
import { PasswordField } from '../sign-in/password-field.tsx'
import { Addresses } from './addresses.tsx'
import { AccountPage } from './account-page.tsx'
import { Passkeys } from './passkeys.tsx'
import { accountTexts } from './account.texts.ts'

export const OwnSecurity = () => {
  const t = textsOf(accountTexts)
  const me = useMe()
  return <AccountPage title={t.security}>{me && <Parts me={me} />}</AccountPage>
}

const Parts = ({ me }: { me: Me }) => {
  const t = textsOf(accountTexts)
  const user = useQuery(userQuery(me.id))
  const others = [useQuery(passkeysQuery), useQuery(sessionsQuery(me.id))]
  if ([user, ...others].some(isFirstRead)) return <Waiting lines={12} />
  return (
    <>
      <Trouble what={t.what} query={user} />
      {user.data && (
        <div className={identity.columns}>
          <Factor me={me} user={user.data} />
          <Password user={user.data} />
        </div>
      )}
      <Passkeys />
      <Addresses me={me} />
      <Sessions userId={me.id} endAllText={t.endOthersText} />
    </>
  )
}

const Password = ({ user }: { user: UserDetail }) => {
  const t = textsOf(accountTexts)
  const words = textsOf(identityTexts)
  const [current, setCurrent] = useState('')
  const [fresh, setFresh] = useState('')
  const [tried, setTried] = useState(false)
  const change = useMutation({
    meta: mayBeWrong,
    mutationFn: () =>
      api.call('POST /auth/password', {
        body: { current_password: current, new_password: fresh, refuse_common: true },
      }),
    onSuccess: () => {
      setCurrent('')
      setFresh('')
      setTried(false)
      announce(t.changed)
      void queries.invalidateQueries({ queryKey: sessionsQuery(user.id).queryKey })
    },
  })
  if (user.oauth_provider)
    return (
      <Panel title={t.password}>
        <p>{t.byProvider(words.providers[user.oauth_provider])}</p>
      </Panel>
    )
  const wrong = statusOf(change.error) === 401
  const passwordProblem = fieldProblem(change.error, 'new_password')
  const problem = !keepsRules(fresh) ? words.password.invalid : fresh === current ? t.same : undefined
  const submit = () => {
    setTried(true)
    if (current && !problem && !change.isPending) change.mutate()
  }
  return (
    <Panel title={t.password}>
      <PlainForm onSubmit={submit}>
        <p className={parts.help}>{t.passwordText}</p>
        {/* Password managers want to know whose password this is. */}
        <input type="text" hidden readOnly autoComplete="username" value={user.username} />
        <PasswordField
          label={t.current}
          error={tried && !current ? words.password.missing : wrong ? sentenceOf(change.error) : undefined}
          value={current}
          onValue={setCurrent}
          complete="current-password"
        />
        <NewPassword
          label={t.fresh}
          value={fresh}
          onValue={setFresh}
          error={tried ? (problem ?? passwordProblem) : undefined}
        />
        {!wrong && !passwordProblem && <Refusal error={change.error} />}
        {change.isSuccess && !fresh && <p className={parts.note}>{t.changed}</p>}
        <div className={parts.row}>
          <Button type="submit" loading={change.isPending}>
            {t.change}
          </Button>
        </div>
      </PlainForm>
    </Panel>
  )
}

const FactorOn = (props: {
  me: Me
  user: UserDetail
  renewing: RefObject<HTMLButtonElement | null>
  onAsk: (asking: 'codes' | 'off') => void
}) => {
  const t = textsOf(accountTexts)
  const { me, user, renewing, onAsk } = props
  return (
    <div className={parts.block}>
      <State is="enabled" word={textsOf(identityTexts).mfaOn} />
      <p>{t.factorOn}</p>
      {me.backup_codes_left !== null && (
        <p className={me.backup_codes_left < 3 ? parts.warn : parts.muted}>{t.codesLeft(me.backup_codes_left)}</p>
      )}
      {user.oauth_provider === null && (
        <div className={parts.row}>
          <Button ref={renewing} variant="default" onClick={() => onAsk('codes')}>
            {t.newCodes}
          </Button>
          <Button variant="default" onClick={() => onAsk('off')}>
            {t.turnOff}
          </Button>
        </div>
      )}
    </div>
  )
}

const Factor = ({ me, user }: { me: Me; user: UserDetail }) => {
  const t = textsOf(accountTexts)
  const words = textsOf(identityTexts)
  // Confirming turns it on, and the backup codes are still to be saved then.
  const [finished, setFinished] = useState(me.mfa_enabled)
  const [asking, setAsking] = useState<'codes' | 'off'>()
  const [codes, setCodes] = useState<readonly string[]>()
  const renewing = useRef<HTMLButtonElement>(null)
  /** What had the focus is gone then. */
  const done = () => {
    setFinished(true)
    setCodes(undefined)
    setTimeout(() => renewing.current?.focus())
  }
  const disable = async (password: string) => {
    await api.call('POST /auth/mfa/disable', { body: { password } })
    setFinished(false)
    setCodes(undefined)
    announce(t.turnedOff)
    await queries.invalidateQueries({ queryKey: meQuery.queryKey })
    void forgetUser(me.id)
  }
  const renew = async (password: string) => {
    const { backup_codes } = await api.call('POST /auth/mfa/backup-codes', { body: { password } })
    setCodes(backup_codes)
    await queries.invalidateQueries({ queryKey: meQuery.queryKey })
  }
  return (
    <Panel title={t.factor}>
      {!finished ? (
        <>
          {user.oauth_provider && (
            <p className={parts.help}>{t.factorByProvider(words.providers[user.oauth_provider])}</p>
          )}
          <Enrolment onDone={done} />
        </>
      ) : codes ? (
        <BackupCodes codes={codes} onDone={done} />
      ) : (
        <FactorOn me={me} user={user} renewing={renewing} onAsk={setAsking} />
      )}
      {asking && (
        <Dialogs>
          {asking === 'codes' ? (
            <WithPassword
              title={t.newCodes}
              text={t.newCodesText}
              verb={t.newCodesVerb}
              act={renew}
              onClose={() => setAsking(undefined)}
            />
          ) : (
            <WithPassword
              title={t.turnOffTitle}
              text={t.turnOffText}
              verb={t.turnOffVerb}
              danger
              act={disable}
              onClose={() => setAsking(undefined)}
            />
          )}
        </Dialogs>
      )}
    </Panel>
  )
}
