import { useState } from 'react'
import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check } from '../identity/choices.tsx'
import { Confirm } from '../identity/dialogs.ts'
import { limitsTexts } from '../identity/limits.texts.ts'
import { forgetUser } from '../identity/queries.ts'
import type { UserDetail } from '../identity/queries.ts'
import { HandOver } from './hand-over.tsx'
import { usersTexts } from './users.texts.ts'

/** A password or a second factor that somebody lost. */
export const Resets = ({ user }: { user: UserDetail }) => {
  const t = textsOf(usersTexts)
  const [asking, setAsking] = useState<'password' | 'factor'>()
  const [temporary, setTemporary] = useState<string>()
  return (
    <Panel title={t.helpTitle}>
      <div className={parts.form}>
        {temporary ? (
          <HandOver username={user.username} password={temporary}>
            <Button onClick={() => setTemporary(undefined)}>{t.done}</Button>
          </HandOver>
        ) : (
          <div className={parts.row}>
            <Button variant="default" onClick={() => setAsking('password')}>
              {t.resetPassword}
            </Button>
            {user.mfa_enabled && (
              <Button variant="default" onClick={() => setAsking('factor')}>
                {t.resetFactor}
              </Button>
            )}
          </div>
        )}
        {!user.mfa_enabled && <p className={parts.help}>{t.noFactorYet}</p>}
      </div>
      {asking && (
        <Dialogs>
          <ResetQuestion
            key={asking}
            user={user}
            lost={asking}
            onTemporary={setTemporary}
            onClose={() => setAsking(undefined)}
          />
        </Dialogs>
      )}
    </Panel>
  )
}

const ResetQuestion = (props: {
  user: UserDetail
  lost: 'password' | 'factor'
  onTemporary: (password: string | undefined) => void
  onClose: () => void
}) => {
  const t = textsOf(usersTexts)
  const l = textsOf(limitsTexts)
  const { user, lost } = props
  const [keep, setKeep] = useState(false)
  const request = { params: { userId: user.id }, body: keep ? { keep_keys: true } : {} }
  const resetPassword = async () => {
    const { temporary_password, revoked_keys } = await api.call('POST /users/{userId}/reset-password', request)
    if (revoked_keys > 0) announce(l.revoked(revoked_keys))
    props.onTemporary(temporary_password ?? undefined)
    void forgetUser(user.id)
  }
  const resetFactor = async () => {
    const { revoked_keys } = await api.call('POST /users/{userId}/reset-mfa', request)
    announce(revoked_keys > 0 ? `${t.factorReset} ${l.revoked(revoked_keys)}` : t.factorReset)
    void forgetUser(user.id)
  }
  const words =
    lost === 'password'
      ? { title: t.resetPasswordTitle(user.username), text: t.resetPasswordText, verb: t.resetPasswordVerb }
      : { title: t.resetFactorTitle(user.username), text: t.resetFactorText, verb: t.resetFactorVerb }
  return (
    <Confirm
      {...words}
      text={
        <>
          {words.text} <Check label={l.keep} meaning={l.keepHelp} checked={keep} onChecked={setKeep} />
        </>
      }
      act={lost === 'password' ? resetPassword : resetFactor}
      onClose={props.onClose}
    />
  )
}

/** The end of an account; its name is typed first. */
export const Danger = ({ user, own, last }: { user: UserDetail; own: boolean; last: boolean }) => {
  const t = textsOf(usersTexts)
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = async () => {
    await api.call('DELETE /users/{userId}', { params: { userId: user.id } })
    await navigate({ to: '/users', search: {} })
    announce(t.deleted(user.username))
    queries.removeQueries({ queryKey: ['user', user.id] })
    await queries.invalidateQueries({ queryKey: ['users'] })
  }
  const reason = own ? t.ownDelete : last ? t.lastAdminDelete : undefined
  return (
    <Panel title={t.dangerTitle}>
      <div className={parts.block}>
        <p className={parts.help}>{reason ?? t.dangerText}</p>
        <Button variant="default" disabled={reason !== undefined} onClick={() => setAsking(true)}>
          {t.delete}
        </Button>
      </div>
      {asking && (
        <Dialogs>
          <Confirm
            title={t.dangerTitle}
            text={t.dangerText}
            verb={t.deleteVerb}
            name={user.username}
            nameLabel={t.typeName(user.username)}
            act={remove}
            onClose={() => setAsking(false)}
          />
        </Dialogs>
      )}
    </Panel>
  )
}
