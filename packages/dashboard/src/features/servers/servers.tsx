import { useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
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
import { useListKeys } from '../../kit/list-keys.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { Segmented } from '../../kit/segmented.tsx'
import { Shape } from '../../kit/state.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Views } from '../../kit/views.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import type { ValuesOf } from '../../kit/search/completion.ts'
import { SearchField } from '../../kit/search/search-field.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { BulkBar } from './bulk-bar.tsx'
import { groupsOf, placesOf, strayed } from './groups.ts'
import type { Places } from './groups.ts'
import { ServersTable } from './servers-table.tsx'
import { ServerCards } from './server-cards.tsx'
import type { ShownServers } from './server-parts.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

/** Every server that a search finds, page by page. */
const idsOf = async (q: string | undefined): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const { servers, total } = await queries.fetchQuery(serversQuery({ q, page }))
    ids.push(...servers.map(({ id }) => id))
    if (servers.length === 0 || ids.length >= total) return ids
  }
}

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
  const search = useSearch({ from: '/inside/servers' })
  const navigate = useNavigate()
  const { may } = useMay('admin')
  const operator = useMay('write').may
  const narrow = useNarrow()
  useListKeys()
  useKeys(
    useMemo(
      () => [{ key: 'a', text: t.add, act: () => void navigate({ to: '/servers/new', search: {} }), there: () => may }],
      [t, navigate, may],
    ),
  )
  const list = useQuery(serversQuery({ q: search.q, page: search.page ?? 1 }))
  const rows = list.data?.servers
  const { places, changed, sort } = usePlaces(
    list.isPlaceholderData ? undefined : rows,
    `${search.q ?? ''} ${search.page ?? 1}`,
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const chooseAll = useMutation({
    mutationFn: () => idsOf(search.q),
    onSuccess: ids => setChosen(new Set(ids)),
  })
  const filtered = search.q !== undefined
  const none = rows?.length === 0 && !filtered && (search.page ?? 1) === 1
  const total = list.data?.total ?? 0

  const add = may && (
    <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
      {t.add}
    </ButtonLink>
  )
  const shown: ShownServers = {
    groups: groupsOf(rows ?? [], places),
    chosen,
    onChosen: operator ? setChosen : undefined,
  }
  return (
    <Page
      title={t.title}
      tools={
        !none && (
          <>
            <Levels />
            <Search rows={rows ?? []} />
            <Views list="servers" path="/servers" />
          </>
        )
      }
      actions={!none && add}
    >
      <Trouble what={t.what} query={list} />
      {list.isPending && <Waiting />}
      {none && (
        <div className={parts.empty}>
          <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
          <p>{may ? t.empty : t.emptyForOthers}</p>
          {add}
        </div>
      )}
      {rows?.length === 0 && (search.page ?? 1) > 1 && (
        <PastEnd onFirst={() => navigate({ to: '/servers', search: { ...search, page: undefined } })} />
      )}
      {rows?.length === 0 && filtered && (search.page ?? 1) === 1 && (
        <div className={parts.empty}>
          <p>{t.noMatch}</p>
          <Button variant="default" onClick={() => navigate({ to: '/servers', search: {} })}>
            {t.clear}
          </Button>
        </div>
      )}
      {chosen.size > 0 && (
        <BulkBar
          chosen={chosen}
          onClear={() => setChosen(new Set())}
          more={
            total > serversLimit && chosen.size < total
              ? { total, choose: () => chooseAll.mutate(), busy: chooseAll.isPending }
              : null
          }
        />
      )}
      <Refusal error={chooseAll.error} />
      {changed > 0 && (
        <div role="status">
          <button type="button" className={parts.chip} onClick={sort}>
            {t.again(changed)}
          </button>
        </div>
      )}
      {rows && rows.length > 0 && (narrow ? <ServerCards {...shown} /> : <ServersTable {...shown} />)}
      {list.data && total > serversLimit && (
        <Pages
          page={search.page ?? 1}
          limit={serversLimit}
          shown={list.data.servers.length}
          total={total}
          onPage={page => navigate({ to: '/servers', search: { ...search, page } })}
        />
      )}
    </Page>
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
