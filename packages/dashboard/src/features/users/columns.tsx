import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/session.ts'
import type { ListColumn } from '../../kit/list-rows.ts'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import type { User } from '../identity/queries.ts'
import { Invited } from './invitation.tsx'
import { usersTexts } from './users.texts.ts'
import styles from './users.module.css'

const Name = ({ user }: { user: User }) => {
  const me = useMe()
  return (
    <>
      <Link to="/users/$userId" params={{ userId: String(user.id) }} className={styles.name} data-open>
        <Stranger text={user.username} most={60} />
      </Link>{' '}
      <Invited until={user.invite_expires_at} />
      {me?.id === user.id && <span className={parts.muted}>({textsOf(usersTexts).you})</span>}
    </>
  )
}

/** The table's head names it. Lists without a head, as on a phone, name it beside the state. */
const Factor = ({ on }: { on: boolean }) => {
  const t = textsOf(identityTexts)
  const word = on ? t.mfaOn : t.mfaOff
  const { factor } = textsOf(usersTexts)
  return <State is={on ? 'enabled' : 'disabled'} word={useNarrow() ? `${factor}: ${word}` : word} />
}

const providerOf = (user: User) =>
  user.oauth_provider ? textsOf(identityTexts).providers[user.oauth_provider] : textsOf(usersTexts).password

export const columnsOf = (): readonly ListColumn<User>[] => {
  const t = textsOf(usersTexts)
  const { columns: names } = t
  const { roles } = textsOf(commonTexts)
  return [
    { key: 'name', name: names.name, at: 'title', cell: user => <Name user={user} /> },
    { key: 'email', name: names.email, at: 'about', cell: ({ email }) => <Stranger text={email} most={60} /> },
    { key: 'role', name: names.role, width: 110, at: 'end', cell: ({ role }) => roles[role] },
    { key: 'factor', name: names.factor, width: 110, at: 'end-about', cell: user => <Factor on={user.mfa_enabled} /> },
    { key: 'provider', name: names.provider, width: 140, wideOnly: true, cell: providerOf },
    {
      key: 'login',
      name: names.login,
      width: 140,
      cell: ({ last_login: at }) => (at ? <Time at={at} /> : t.neverIn),
    },
    { key: 'created', name: names.created, width: 120, wideOnly: true, cell: ({ created_at: at }) => <Time at={at} /> },
  ]
}
