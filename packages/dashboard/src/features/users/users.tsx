import { useMemo } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMe } from '../../api/session.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useKeys } from '../../kit/keys.ts'
import { useListKeys } from '../../kit/list-keys.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { useTyped } from '../../kit/typed.ts'
import { Views } from '../../kit/views.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import { usersLimit, usersQuery } from '../identity/queries.ts'
import type { User } from '../identity/queries.ts'
import { roles } from './filter.ts'
import { Invited } from './invitation.tsx'
import { usersTexts } from './users.texts.ts'
import styles from './users.module.css'

export const Users = () => {
  const t = textsOf(usersTexts)
  const search = useSearch({ from: '/inside/users' })
  const navigate = useNavigate()
  const narrow = useNarrow()
  useListKeys()
  useKeys(useMemo(() => [{ key: 'a', text: t.add, act: () => void navigate({ to: '/users/new' }) }], [t, navigate]))
  const list = useQuery(usersQuery({ ...search, page: search.page ?? 1 }))
  const rows = list.data?.users
  const filtered = Boolean(search.search ?? search.role)
  return (
    <Page
      title={t.title}
      tools={<Filters />}
      actions={
        <ButtonLink to="/users/new" leftSection={<IconPlus size={16} />}>
          {t.add}
        </ButtonLink>
      }
    >
      {list.data && <p className={parts.muted}>{t.count(list.data.total)}</p>}
      <Views list="users" path="/users" />
      <Trouble what={t.what} query={list} />
      {list.isPending && <Waiting />}
      {rows?.length === 0 && search.page !== undefined && (
        <PastEnd onFirst={() => navigate({ to: '/users', search: { ...search, page: undefined } })} />
      )}
      {rows?.length === 0 && search.page === undefined && (
        <div className={parts.empty}>
          <p>{t.noMatch}</p>
          <Button variant="default" onClick={() => navigate({ to: '/users', search: {} })}>
            {t.clear}
          </Button>
        </div>
      )}
      {rows && rows.length > 0 && (narrow ? <Cards rows={rows} /> : <Table rows={rows} />)}
      {!filtered && list.data?.total === 1 && (
        <p className={parts.note}>
          {t.onlyYou} <Link to="/users/new">{t.add}</Link>
        </p>
      )}
      {list.data && list.data.total > usersLimit && (
        <Pages
          page={search.page ?? 1}
          limit={usersLimit}
          shown={list.data.users.length}
          total={list.data.total}
          onPage={page => navigate({ to: '/users', search: { ...search, page } })}
        />
      )}
    </Page>
  )
}

const Filters = () => {
  const t = textsOf(usersTexts)
  const search = useSearch({ from: '/inside/users' })
  const navigate = useNavigate()
  const { typed, setTyped } = useTyped(
    search.search ?? '',
    text =>
      void navigate({ to: '/users', search: { ...search, search: text || undefined, page: undefined }, replace: true }),
    { wait: 250, valid: () => true },
  )
  return (
    <div className={styles.filters} role="search">
      <input
        className={parts.input}
        type="search"
        aria-label={t.search}
        placeholder={t.search}
        autoCapitalize="none"
        spellCheck={false}
        maxLength={254}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <select
        className={parts.input}
        aria-label={t.role}
        value={search.role ?? ''}
        onChange={event =>
          void navigate({
            to: '/users',
            search: { ...search, role: roles.find(role => role === event.currentTarget.value), page: undefined },
          })
        }
      >
        <option value="">{t.allRoles}</option>
        {roles.map(role => (
          <option key={role} value={role}>
            {textsOf(commonTexts).roles[role]}
          </option>
        ))}
      </select>
    </div>
  )
}

const Name = ({ user }: { user: User }) => {
  const me = useMe()
  return (
    <>
      <Link to="/users/$userId" params={{ userId: String(user.id) }} className={styles.name}>
        <Stranger text={user.username} most={60} />
      </Link>
      <Invited until={user.invite_expires_at} />
      {me?.id === user.id && <span className={parts.muted}> ({textsOf(usersTexts).you})</span>}
    </>
  )
}
const Factor = ({ on }: { on: boolean }) => {
  const t = textsOf(identityTexts)
  return <State is={on ? 'enabled' : 'disabled'} word={on ? t.mfaOn : t.mfaOff} />
}
const provider = (user: User) =>
  user.oauth_provider ? textsOf(identityTexts).providers[user.oauth_provider] : textsOf(usersTexts).password

const Table = ({ rows }: { rows: readonly User[] }) => {
  const t = textsOf(usersTexts)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            {Object.entries(t.columns).map(([key, name]) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(user => (
            <tr key={user.id} data-row>
              <td>
                <Name user={user} />
              </td>
              <td className={styles.email}>
                <Stranger text={user.email} most={60} />
              </td>
              <td>{textsOf(commonTexts).roles[user.role]}</td>
              <td>
                <Factor on={user.mfa_enabled} />
              </td>
              <td>{provider(user)}</td>
              <td>{user.last_login ? <Time at={user.last_login} /> : t.neverIn}</td>
              <td>
                <Time at={user.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Cards = ({ rows }: { rows: readonly User[] }) => {
  const t = textsOf(usersTexts)
  return (
    <ul className={parts.cards}>
      {rows.map(user => (
        <li key={user.id} className={parts.card} data-row>
          <div className={parts.cardTop}>
            <span>
              <Name user={user} />
            </span>
            <span>{textsOf(commonTexts).roles[user.role]}</span>
          </div>
          <div className={parts.facts}>
            <span>
              <Stranger text={user.email} most={80} />
            </span>
            <span>
              {t.columns.factor}: <Factor on={user.mfa_enabled} />
            </span>
            <span>
              {t.columns.provider}: {provider(user)}
            </span>
            <span>
              {t.columns.login}: {user.last_login ? <Time at={user.last_login} /> : t.neverIn}
            </span>
          </div>
        </li>
      ))}
    </ul>
  )
}
