import { useMemo, useState } from 'react'
import { IconPlus, IconServer2 } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { queries, serversLimit, serversQuery, summaryQuery } from '../../api/queries.ts'
import type { ServerRow } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { countHealths, healthTones } from '../fleet/health.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useKeys } from '../../kit/keys.ts'
import type { RowData } from '../../kit/list-rows.ts'
import { Empty } from '../../kit/list-states.tsx'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Segmented } from '../../kit/segmented.tsx'
import { useSelection } from '../../kit/selection.ts'
import { Shape } from '../../kit/state.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { useNarrow } from '../../kit/width.ts'
import { Views } from '../../kit/views.tsx'
import type { ValuesOf } from '../../kit/search/completion.ts'
import { SearchField } from '../../kit/search/search-field.tsx'
import { nameOf } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { BulkBar } from './bulk-bar.tsx'
import { columnsOf } from './columns.tsx'
import { groupOf, inGroups, isGroupName, placesOf, strayed } from './groups.ts'
import type { Places } from './groups.ts'
import { RowActions } from './server-parts.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

/** Every server that a search finds, page by page. */
const allServers = async (q: string | undefined): Promise<readonly ServerRow[]> => {
  const rows: ServerRow[] = []
  for (let page = 1; ; page++) {
    const { servers, total } = await queries.fetchQuery(serversQuery({ q, page }))
    rows.push(...servers)
    if (servers.length === 0 || rows.length >= total) return rows
  }
}
const keyOf = ({ id }: ServerRow): string | number => id
const dataOf = ({ status }: ServerRow): RowData => (status === 'online' ? {} : { 'data-away': '' })
const actsOf = (server: ServerRow) => (server.status === 'pending' ? null : <RowActions server={server} />)

/** In groups by their state; a server stays where it is until the list is sorted again, or another one is asked for. */
const usePlaces = (rows: readonly ServerRow[] | undefined, list: string) => {
  const [kept, setKept] = useState<{ list: string; places: Places } | null>(null)
  const before = kept?.list === list ? kept.places : undefined
  if (rows && (!before || rows.length !== before.size || rows.some(({ id }) => !before.has(id))))
    setKept({ list, places: placesOf(rows, before) })
  const places: Places = before ?? new Map()
  return {
    places,
    changed: rows ? strayed(rows, places) : 0,
    sort: () => rows && setKept({ list, places: placesOf(rows) }),
  }
}

export const Servers = () => {
  const t = textsOf(serversTexts)
  const navigate = useNavigate()
  const { may } = useMay('admin')
  useKeys(
    useMemo(
      () => [{ key: 'a', text: t.add, act: () => void navigate({ to: '/servers/new', search: {} }), there: () => may }],
      [t, navigate, may],
    ),
  )
  const serverList = useServers()
  return (
    <Page
      title={t.title}
      tools={
        !serverList.isEmpty && (
          <>
            <Levels />
            <Search rows={serverList.rows ?? []} />
            <Views list="servers" path="/servers" />
          </>
        )
      }
      actions={!serverList.isEmpty && <AddServer />}
    >
      <ServerList {...serverList} />
    </Page>
  )
}

const AddServer = () => {
  const { may } = useMay('admin')
  return (
    may && (
      <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
        {textsOf(serversTexts).add}
      </ButtonLink>
    )
  )
}

const useServers = () => {
  const search = useSearch({ from: '/inside/servers' })
  const page = search.page ?? 1
  const query = useQuery(serversQuery({ q: search.q, page }))
  const rows = query.data?.servers
  return { search, page, query, rows, isEmpty: rows?.length === 0 && search.q === undefined && page === 1 }
}

/** Under heads by what the servers need; the order of the heads is that of `groupNames`. */
const useGroups = ({ search, page, query, rows }: ReturnType<typeof useServers>) => {
  const t = textsOf(serversTexts)
  const { places, changed, sort } = usePlaces(query.isPlaceholderData ? undefined : rows, `${search.q ?? ''} ${page}`)
  return {
    rows: rows && inGroups(rows, places),
    groups: {
      of: (row: ServerRow) => places.get(row.id) ?? groupOf(row),
      nameOf: (group: string, count: number) => (isGroupName(group) ? t.groups(t.groupNames[group], count) : group),
    },
    changed,
    sort,
  }
}

const ServerList = (found: ReturnType<typeof useServers>) => {
  const t = textsOf(serversTexts)
  const { search, page, query } = found
  const { may } = useMay('write')
  const navigate = useNavigate()
  const { rows, groups, changed, sort } = useGroups(found)
  const selection = useSelection('servers', rows ?? [], keyOf)
  const chooseAll = useMutation({
    mutationFn: () => allServers(search.q),
    onSuccess: all => selection.set(all, true),
  })
  const total = query.data?.total ?? 0
  const clear = () => void navigate({ to: '/servers', search: {} })
  return (
    <>
      {selection.chosen.size > 0 && (
        <BulkBar
          chosen={new Set([...selection.chosen.values()].map(({ id }) => id))}
          onClear={selection.clear}
          more={
            total > serversLimit && selection.chosen.size < total
              ? { total, choose: () => chooseAll.mutate(), busy: chooseAll.isPending }
              : null
          }
        />
      )}
      <Refusal error={chooseAll.error} />
      <List
        what={t.what}
        caption={t.caption}
        columns={columnsOf(useNarrow())}
        query={query}
        rows={rows}
        groups={groups}
        keyOf={keyOf}
        dataOf={dataOf}
        acts={may ? actsOf : undefined}
        selection={may ? { ...selection, nameOf: ({ hostname }) => nameOf(hostname) } : undefined}
        page={page}
        limit={serversLimit}
        total={total}
        onPage={to => void navigate({ to: '/servers', search: { ...search, page: to === 1 ? undefined : to } })}
        head={
          <span role="status">
            {changed > 0 && (
              <button type="button" className={parts.chip} onClick={sort}>
                {t.again(changed)}
              </button>
            )}
          </span>
        }
        empty={<NoServers />}
        noMatch={t.noMatch}
        filters={search.q === undefined ? [] : [{ text: search.q, onRemove: clear }]}
        onClear={clear}
      />
    </>
  )
}

const NoServers = () => {
  const t = textsOf(serversTexts)
  const { may } = useMay('admin')
  return (
    <Empty icon={<IconServer2 size={24} />} title={t.emptyTitle} text={may ? t.empty : t.emptyForOthers}>
      {may && <AddServer />}
    </Empty>
  )
}

/** What a field may be completed with, as far as the servers that are shown have it. */
const valuesIn =
  (rows: readonly ServerRow[]): ValuesOf =>
  field => {
    const of = (value: (row: ServerRow) => string | null) =>
      [...new Set(rows.map(value))].flatMap(found => (found ? [{ value: found }] : []))
    switch (field) {
      case 'name':
        return of(row => row.hostname)
      case 'ip':
        return of(row => row.ip_address)
      case 'os':
        return of(row => row.os)
      case 'engine':
        return of(row => row.engine_version)
      case 'agent':
        return of(row => row.agent_version)
      case 'tag':
        return [...new Set(rows.flatMap(({ tags }) => tags))].sort().map(value => ({ value }))
      default:
        return []
    }
  }

/** The levels of protection with their counts: each is a search. */
const Levels = () => {
  const t = textsOf(serversTexts)
  const { healths } = textsOf(fleetTexts).palisade
  const search = useSearch({ from: '/inside/servers' })
  const navigate = useNavigate()
  const servers = useQuery(summaryQuery).data?.servers
  const counts = servers && countHealths(servers)
  const value = levels.find(level => level !== 'all' && search.q === searchOfLevel[level]) ?? 'all'
  return (
    <Segmented
      label={t.levels}
      value={value}
      onChange={level => void navigate({ to: '/servers', search: level === 'all' ? {} : { q: searchOfLevel[level] } })}
      options={levels
        .filter(level => level === 'all' || level === value || level === 'protected' || (counts?.[level] ?? 0) > 0)
        .map(level =>
          level === 'all'
            ? { value: level, text: t.allLevels, count: servers?.length }
            : {
                value: level,
                text: healths[level],
                count: counts?.[level],
                mark: (
                  <span className={styles.level} data-tone={healthTones[level]}>
                    <Shape tone={healthTones[level]} />
                  </span>
                ),
              },
        )}
    />
  )
}
const levels = ['all', 'unprotected', 'degraded', 'offline', 'protected'] as const
const searchOfLevel = {
  unprotected: 'protection:unprotected',
  degraded: 'protection:degraded',
  offline: 'status:offline',
  protected: 'protection:protected',
} as const

const Search = ({ rows }: { rows: readonly ServerRow[] }) => {
  const t = textsOf(serversTexts)
  const search = useSearch({ from: '/inside/servers' })
  const navigate = useNavigate()
  return (
    <div className={parts.row} role="search">
      <SearchField
        language={queryFields.servers}
        value={search.q ?? ''}
        onApply={(q, replace) => void navigate({ to: '/servers', search: { q: q || undefined }, replace })}
        valuesOf={valuesIn(rows)}
        label={t.search}
        placeholder={t.searchHint}
      />
    </div>
  )
}
