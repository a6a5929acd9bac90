import { Suspense, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { meQuery, queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { useDraft } from '../../kit/draft.ts'
import { useLeaveGuard } from '../../kit/leave.ts'
import { useWords } from '../../kit/now.ts'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { readId } from '../../lib/numbers.ts'
import { Check } from '../identity/choices.tsx'
import { Confirm } from '../identity/dialogs.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import { Keys } from '../identity/keys.tsx'
import { limitsTexts } from '../identity/limits.texts.ts'
import { adminsQuery, forgetUser, userQuery } from '../identity/queries.ts'
import type { UserDetail } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import { ServerChoice } from '../identity/server-choice.tsx'
import type { Access } from '../identity/server-choice.tsx'
import { Sessions } from '../identity/sessions.tsx'
import identity from '../identity/identity.module.css'
import { EmailField, isEmail, takenProblem } from './fields.tsx'
import { HandOver } from './hand-over.tsx'
import { Invitation, Invited, Until } from './invitation.tsx'
import { usersTexts } from './users.texts.ts'

export const UserPage = () => {
  const t = textsOf(usersTexts)
  const { userId } = useParams({ from: '/inside/users/$userId' })
  const id = readId(userId)
  const user = useQuery({ ...userQuery(id ?? 0), enabled: id !== null })
  if (id === null || statusOf(user.error) === 404)
    return (
      <Page title={t.title}>
        <div className={parts.empty}>
          <p>{t.gone}</p>
          <Link to="/users" search={{}}>
            {t.toUsers}
          </Link>
        </div>
      </Page>
    )
  const name = user.data ? nameOf(user.data.username) : t.title
  return (
    <Page title={name} heading={<bdi>{name}</bdi>}>
      <Trouble what={t.whatOne} query={user} />
      {user.isPending && <Waiting />}
      {user.data && <Parts key={user.data.id} user={user.data} />}
    </Page>
  )
}

const Parts = ({ user }: { user: UserDetail }) => {
  const t = textsOf(usersTexts)
  const own = useMe()?.id === user.id
  const last = useQuery(adminsQuery).data === 1 && user.role === 'Admin'
  return (
    <>
      {own && (
        <p className={parts.note}>
          {t.isYou} <Link to="/account/security">{t.toAccount}</Link>
        </p>
      )}
      {user.invite_expires_at !== null && <Invite user={user} until={user.invite_expires_at} />}
      <div className={identity.columns}>
        <Account user={user} own={own} last={last} />
        <ServerAccess key={`${user.role} ${user.server_access} ${user.server_ids.join()}`} user={user} />
      </div>
      <Sessions userId={user.id} endAllText={t.endAllText(user.username)} />
      <Keys userId={user.id} role={user.role} title={textsOf(identityTexts).keys.title} />
      <Help user={user} own={own} />
      <Danger user={user} own={own} last={last} />
    </>
  )
}

/** An invitation that was not accepted yet. */
const Invite = ({ user, until }: { user: UserDetail; until: string }) => {
  const t = textsOf(usersTexts)
  const over = useWords(now => (Date.parse(until) <= now ? t.pendingOver : t.pendingUntil))
  const again = useMutation({
    mutationFn: () => api.call('POST /users/{userId}/invite', { params: { userId: user.id } }),
    onSuccess: () => forgetUser(user.id),
  })
  return (
    <Panel title={t.pendingTitle}>
      {again.data ? (
        <Invitation username={user.username} link={again.data.setup_url} until={again.data.invite_expires_at}>
          <Button onClick={() => again.reset()}>{t.done}</Button>
        </Invitation>
      ) : (
        <div className={identity.block}>
          <Invited until={until} />
          <p>
            {over} <Until at={until} />
          </p>
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate()}>
            {t.inviteAgain}
          </Button>
          <p className={parts.help}>{t.inviteAgainText}</p>
          <Refusal error={again.error} />
        </div>
      )}
    </Panel>
  )
}

const Account = ({ user, own, last }: { user: UserDetail; own: boolean; last: boolean }) => {
  const t = textsOf(usersTexts)
  const words = textsOf(identityTexts)
  const draft = useDraft({ email: user.email, role: user.role }, { name: `user ${user.id}` })
  const { email, role } = draft.values
  const changed = email.trim() !== user.email || role !== user.role
  const save = useMutation({
    mutationFn: () =>
      api.call('PATCH /users/{userId}', {
        params: { userId: user.id },
        body: {
          ...(email.trim() === user.email ? {} : { email: email.trim() }),
          ...(role === user.role ? {} : { role }),
        },
      }),
    onSuccess: () => {
      draft.reset()
      announce(t.saved)
      forgetUser(user.id)
      if (own) void queries.invalidateQueries({ queryKey: meQuery.queryKey })
    },
  })
  useLeaveGuard(changed && !save.isPending)
  const wrong = isEmail(email.trim())
    ? (fieldProblem(save.error, 'email') ?? takenProblem(save.error, 'e-mail'))
    : t.invalidEmail
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changed && isEmail(email.trim()) && !save.isPending) save.mutate()
  }
  return (
    <Panel title={t.account}>
      <form className={parts.form} onSubmit={submit} noValidate>
        <dl className={parts.details}>
          <dt>{t.factor}</dt>
          <dd>
            <State
              is={user.mfa_enabled ? 'enabled' : 'disabled'}
              word={user.mfa_enabled ? words.mfaOn : words.mfaOff}
            />
          </dd>
          <dt>{t.provider}</dt>
          <dd>{user.oauth_provider ? words.providers[user.oauth_provider] : t.password}</dd>
          <dt>{t.lastLogin}</dt>
          <dd>{user.last_login ? <Time at={user.last_login} /> : t.neverIn}</dd>
          <dt>{t.created}</dt>
          <dd>
            <Time at={user.created_at} />
          </dd>
        </dl>
        <EmailField value={email} onValue={email => draft.set({ email })} error={wrong} />
        <RoleChoice legend={t.role} value={role} onValue={role => draft.set({ role })} disabled={last} />
        <p className={parts.help}>{last ? t.lastAdminRole : own ? t.ownRole : t.changedRole}</p>
        {wrong === undefined && <Refusal error={save.error} />}
        <div className={parts.row}>
          <Button type="submit" variant={changed ? 'filled' : 'default'} loading={save.isPending}>
            {textsOf(commonTexts).save}
          </Button>
          {save.isSuccess && !changed && <span className={parts.muted}>{t.saved}</span>}
        </div>
      </form>
    </Panel>
  )
}

const ServerAccess = ({ user }: { user: UserDetail }) => {
  const t = textsOf(usersTexts)
  const [access, setAccess] = useState<Access>({ type: user.server_access, servers: new Set(user.server_ids) })
  const [tried, setTried] = useState(false)
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /users/{userId}/server-access', {
        params: { userId: user.id },
        body: {
          access_type: access.type,
          ...(access.type === 'specific' ? { server_ids: [...access.servers] } : {}),
        },
      }),
    onSuccess: () => {
      announce(t.saved)
      forgetUser(user.id)
    },
  })
  const missing = access.type === 'specific' && access.servers.size === 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!missing && !save.isPending) save.mutate()
  }
  return (
    <Panel title={t.accessTitle}>
      {user.role === 'Admin' ? (
        <p>{t.adminAccess}</p>
      ) : (
        <form className={parts.form} onSubmit={submit}>
          <ServerChoice
            value={access}
            onValue={setAccess}
            error={tried && missing ? textsOf(identityTexts).servers.missing : undefined}
          />
          <Refusal error={save.error} />
          <div className={parts.row}>
            <Button type="submit" variant="default" loading={save.isPending}>
              {textsOf(commonTexts).save}
            </Button>
          </div>
        </form>
      )}
    </Panel>
  )
}

const Help = ({ user, own }: { user: UserDetail; own: boolean }) => {
  const t = textsOf(usersTexts)
  const [asking, setAsking] = useState<'password' | 'factor'>()
  const [temporary, setTemporary] = useState<string>()
  const close = () => setAsking(undefined)
  const l = textsOf(limitsTexts)
  const [keep, setKeep] = useState(false)
  const keys = keep ? { keep_keys: true } : {}
  const resetPassword = async () => {
    const { temporary_password, revoked_keys } = await api.call('POST /users/{userId}/reset-password', {
      params: { userId: user.id },
      body: keys,
    })
    if (revoked_keys > 0) announce(l.revoked(revoked_keys))
    setTemporary(temporary_password ?? undefined)
    forgetUser(user.id)
  }
  const about = (text: string) => (
    <>
      {text} <Check label={l.keep} meaning={l.keepHelp} checked={keep} onChecked={setKeep} />
    </>
  )
  const resetFactor = async () => {
    const { revoked_keys } = await api.call('POST /users/{userId}/reset-mfa', {
      params: { userId: user.id },
      body: keys,
    })
    announce(revoked_keys > 0 ? `${t.factorReset} ${l.revoked(revoked_keys)}` : t.factorReset)
    forgetUser(user.id)
  }
  return (
    <Panel title={t.helpTitle}>
      <div className={parts.form}>
        {temporary ? (
          <HandOver username={user.username} password={temporary}>
            <Button onClick={() => setTemporary(undefined)}>{t.done}</Button>
          </HandOver>
        ) : (
          <div className={identity.block}>
            <Button variant="default" disabled={own} onClick={() => setAsking('password')}>
              {t.resetPassword}
            </Button>
            {own && <p className={parts.help}>{t.ownPassword}</p>}
          </div>
        )}
        <div className={identity.block}>
          <Button variant="default" disabled={own || !user.mfa_enabled} onClick={() => setAsking('factor')}>
            {t.resetFactor}
          </Button>
          {own ? (
            <p className={parts.help}>{t.ownFactor}</p>
          ) : (
            !user.mfa_enabled && <p className={parts.help}>{t.noFactorYet}</p>
          )}
        </div>
      </div>
      {asking && (
        <Suspense>
          {asking === 'password' ? (
            <Confirm
              title={t.resetPasswordTitle(user.username)}
              text={about(t.resetPasswordText)}
              verb={t.resetPasswordVerb}
              act={resetPassword}
              onClose={close}
            />
          ) : (
            <Confirm
              title={t.resetFactorTitle(user.username)}
              text={about(t.resetFactorText)}
              verb={t.resetFactorVerb}
              act={resetFactor}
              onClose={close}
            />
          )}
        </Suspense>
      )}
    </Panel>
  )
}

const Danger = ({ user, own, last }: { user: UserDetail; own: boolean; last: boolean }) => {
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
      <div className={identity.block}>
        <p className={parts.help}>{reason ?? t.dangerText}</p>
        <Button variant="default" disabled={reason !== undefined} onClick={() => setAsking(true)}>
          {t.delete}
        </Button>
      </div>
      {asking && (
        <Suspense>
          <Confirm
            title={t.dangerTitle}
            text={t.dangerText}
            verb={t.deleteVerb}
            name={user.username}
            nameLabel={t.typeName(user.username)}
            act={remove}
            onClose={() => setAsking(false)}
          />
        </Suspense>
      )}
    </Panel>
  )
}
