import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { useMe } from '../../api/session.ts'
import { Loading } from '../../kit/loading.tsx'
import { useWords } from '../../kit/now.ts'
import { GonePage } from '../../kit/gone-page.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { readId } from '../../lib/numbers.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import { Keys } from '../identity/keys.tsx'
import { adminsQuery, forgetUser, userQuery } from '../identity/queries.ts'
import type { UserDetail } from '../identity/queries.ts'
import { Sessions } from '../identity/sessions.tsx'
import { Invitation, Invited, Until } from './invitation.tsx'
import { Danger, Resets } from './user-dangers.tsx'
import { UserForm } from './user-form.tsx'
import { usersTexts } from './users.texts.ts'

export const UserPage = () => {
  const t = textsOf(usersTexts)
  const { userId } = useParams({ from: '/inside/users/$userId' })
  const id = readId(userId)
  const user = useQuery({ ...userQuery(id ?? 0), enabled: id !== null })
  if (id === null || statusOf(user.error) === 404)
    return (
      <GonePage title={t.title} text={t.gone}>
        <Link to="/users" search={{}}>
          {t.toUsers}
        </Link>
      </GonePage>
    )
  const name = user.data ? nameOf(user.data.username) : t.title
  return (
    <Page title={name} heading={<bdi>{name}</bdi>} above={<Link to="/users">{t.title}</Link>}>
      <Loading what={t.whatOne} query={user} />
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
      <UserForm user={user} own={own} last={last} />
      <Sessions userId={user.id} endAllText={t.endAllText(user.username)} />
      <Keys userId={user.id} role={user.role} title={textsOf(identityTexts).keys.title} />
      {!own && <Resets user={user} />}
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
    onSuccess: () => void forgetUser(user.id),
  })
  return (
    <Panel title={t.pendingTitle}>
      {again.data ? (
        <Invitation username={user.username} link={again.data.setup_url} until={again.data.invite_expires_at}>
          <Button onClick={() => again.reset()}>{t.done}</Button>
        </Invitation>
      ) : (
        <div className={parts.block}>
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
