import { useMemo } from 'react'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ButtonLink } from '../../kit/button-link.tsx'
import { FindField } from '../../kit/find-field.tsx'
import { useKeys } from '../../kit/keys.ts'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Select } from '../../kit/select.tsx'
import { useTyped } from '../../kit/typed.ts'
import { Views } from '../../kit/views.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { usersLimit, usersQuery } from '../identity/queries.ts'
import { columnsOf } from './columns.tsx'
import { roles } from './filter.ts'
import type { UsersSearch } from './filter.ts'
import { usersTexts } from './users.texts.ts'
import styles from './users.module.css'

export const Users = () => {
  const t = textsOf(usersTexts)
  const search = useSearch({ from: '/inside/users' })
  const navigate = useNavigate()
  const go = (to: UsersSearch) => void navigate({ to: '/users', search: to })
  useKeys(useMemo(() => [{ key: 'a', text: t.add, act: () => void navigate({ to: '/users/new' }) }], [t, navigate]))
  const page = search.page ?? 1
  const list = useQuery(usersQuery({ ...search, page }))
  const filters = [
    ...(search.search ? [{ text: search.search, onRemove: () => go({ ...search, search: undefined }) }] : []),
    ...(search.role
      ? [{ text: textsOf(commonTexts).roles[search.role], onRemove: () => go({ ...search, role: undefined }) }]
      : []),
  ]
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
      <Views list="users" path="/users" />
      <List
        what={t.what}
        caption={t.caption}
        columns={columnsOf()}
        query={list}
        rows={list.data?.users}
        keyOf={({ id }) => id}
        page={page}
        limit={usersLimit}
        total={list.data?.total ?? 0}
        onPage={to => go({ ...search, page: to === 1 ? undefined : to })}
        empty={null}
        noMatch={t.noMatch}
        filters={filters}
        onClear={() => go({})}
      />
      {filters.length === 0 && list.data?.total === 1 && (
        <p className={parts.note}>
          {t.onlyYou} <Link to="/users/new">{t.add}</Link>
        </p>
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
    { wait: 250, valid: () => true, merge: unsent => unsent },
  )
  return (
    <div className={styles.filters} role="search">
      <FindField label={t.search} value={typed} onValue={setTyped} most={254} />
      <Select
        label={t.role}
        value={search.role ?? ''}
        options={[
          { value: '', text: t.allRoles },
          ...roles.map(role => ({ value: role, text: textsOf(commonTexts).roles[role] })),
        ]}
        onValue={role =>
          void navigate({ to: '/users', search: { ...search, role: role || undefined, page: undefined } })
        }
      />
    </div>
  )
}
