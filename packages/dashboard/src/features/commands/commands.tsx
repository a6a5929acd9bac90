import { lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlayerPlay, IconTerminal2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { useLive } from '../../api/live.ts'
import { summaryQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { commandStatsQuery, commandsLimit, commandsQuery } from '../fleet/queries.ts'
import type { CommandRow, CommandType } from '../fleet/queries.ts'
import { isOver } from '../fleet/command-progress.tsx'
import { tookWords } from '../fleet/took.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Empty } from '../../kit/list-states.tsx'
import { Page } from '../../kit/page.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Views } from '../../kit/views.tsx'
import { Chips } from '../../kit/search/chips.tsx'
import type { ValuesOf } from '../../kit/search/completion.ts'
import { SearchField } from '../../kit/search/search-field.tsx'
import { conditionsOf } from '../../kit/search/terms.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { number, percent } from '../../lib/numbers.ts'
import { commandsTexts } from './commands.texts.ts'
import type { CommandsSearch } from './filter.ts'
import { grouped } from './rows.ts'
import { CommandList } from './table.tsx'
import parts from '../../kit/parts.module.css'
import styles from './commands.module.css'

const RunDialog = lazy(() => import('./run-dialog.tsx'))

const queryOf = (search: CommandsSearch) => ({
  page: search.page ?? 1,
  limit: commandsLimit,
  ...(search.server ? { server_id: search.server } : {}),
  ...(search.q ? { q: search.q } : {}),
})

/** A page of commands, live; where something is on its way it is asked for as well. */
export const useCommands = (search: CommandsSearch) => {
  const { phase } = useLive()
  return useQuery({
    ...commandsQuery(queryOf(search)),
    refetchInterval: ({ state }) =>
      state.data?.commands.every(isOver) ? every(30_000)() : phase === 'live' ? 10_000 : 3000,
  })
}

/** The conditions of the list, each with the way to take it off. */
const useFilters = () => {
  const search = useSearch({ from: '/inside/commands' })
  const navigate = useNavigate()
  const server = useQuery(summaryQuery).data?.servers.find(({ id }) => id === search.server)
  const filter = (change: Partial<CommandsSearch>, replace = false) =>
    void navigate({ to: '/commands', search: { ...search, page: undefined, ...change }, replace })
  const serverName = server ? nameOf(server.hostname) : (search.server ?? '')
  const conditions = [
    ...(search.server ? [{ text: serverName, onRemove: () => filter({ server: undefined }) }] : []),
    ...conditionsOf(search.q ?? '', queryFields.commands).map(({ text, rest }) => ({
      text,
      onRemove: () => filter({ q: rest || undefined }),
    })),
  ]
  return { search, filter, named: serverName, conditions }
}

/** What was asked, of whom, and what came back. */
export const Commands = () => {
  const t = textsOf(commandsTexts)
  const { search, filter, conditions } = useFilters()
  const navigate = useNavigate()
  const { may } = useMay('write')
  const [run, setRun] = useState<CommandType | null>(null)
  useKeys(useMemo(() => [{ key: 'c', text: t.keys.run, act: () => setRun('reload-all'), there: () => may }], [t, may]))
  const list = useCommands(search)
  const rows = list.data?.commands
  const page = search.page ?? 1
  const total = list.data?.total ?? 0
  const groups = useMemo(() => rows && grouped(rows, page === 1, page * commandsLimit >= total), [rows, page, total])
  return (
    <Page
      title={t.title}
      tools={
        <>
          <Search rows={rows ?? []} />
          <Views list="commands" path="/commands" />
        </>
      }
      actions={
        may && (
          <Button leftSection={<IconPlayerPlay size={16} />} onClick={() => setRun('reload-all')}>
            {t.run}
          </Button>
        )
      }
    >
      <Stats />
      <CommandList
        query={list}
        groups={groups}
        page={page}
        total={total}
        onPage={to => filter({ page: to === 1 ? undefined : to })}
        filters={conditions}
        onClear={() => void navigate({ to: '/commands', search: {} })}
        empty={<NoCommands onRun={may ? setRun : undefined} />}
      />
      {run && (
        <Dialogs>
          <RunDialog type={run} server={search.server} onClose={() => setRun(null)} />
        </Dialogs>
      )}
    </Page>
  )
}

const NoCommands = ({ onRun }: { onRun: ((type: CommandType) => void) | undefined }) => {
  const t = textsOf(commandsTexts)
  return (
    <Empty icon={<IconTerminal2 size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty}>
      {onRun && (
        <>
          <Button variant="default" onClick={() => onRun('reload-all')}>
            {t.examples.reload}
          </Button>
          <Button variant="default" onClick={() => onRun('jail-status')}>
            {t.examples.status}
          </Button>
          <Button variant="default" onClick={() => onRun('ban-ip')}>
            {t.examples.ban}
          </Button>
        </>
      )}
    </Empty>
  )
}

const Stats = () => {
  const t = textsOf(commandsTexts).stats
  const { whatStats } = textsOf(commandsTexts)
  const query = useQuery(commandStatsQuery('week'))
  const stats = query.data
  const { periods } = textsOf(fleetTexts)
  if (query.isPending && query.failureReason === null) return <div className={styles.figures} />
  if (!stats) return <Trouble what={whatStats} query={query} />
  const figures = [
    [`${t.total} · ${periods.week}`, number(stats.total)],
    [t.success, stats.success_rate === null ? t.none : percent(stats.success_rate)],
    [t.mean, tookWords(stats.avg_execution_time_ms)],
    [t.failed, number(stats.by_status.failed + stats.by_status.timeout)],
  ] as const
  return (
    <dl className={styles.figures}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What a field may be completed with: what the fleet and the rows that are shown have. */
const useValues = (rows: readonly CommandRow[]): ValuesOf => {
  const servers = useQuery(summaryQuery).data?.servers ?? []
  return field => {
    if (field === 'server') return servers.map(({ hostname }) => ({ value: hostname }))
    if (field === 'by') return [...new Set(rows.map(row => row.initiated_by))].map(value => ({ value }))
    return []
  }
}

const Search = ({ rows }: { rows: readonly CommandRow[] }) => {
  const t = textsOf(commandsTexts)
  const { search, filter, named } = useFilters()
  const valuesOf = useValues(rows)
  return (
    <div className={`${parts.row ?? ''} ${styles.search ?? ''}`} role="search">
      <SearchField
        language={queryFields.commands}
        value={search.q ?? ''}
        onApply={(q, replace) => filter({ q: q || undefined }, replace)}
        valuesOf={valuesOf}
        label={t.search}
        placeholder={t.searchHint}
      />
      {search.server && (
        <Chips chips={[{ name: t.server, value: named, onRemove: () => filter({ server: undefined }) }]} />
      )}
    </div>
  )
}
