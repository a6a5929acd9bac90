import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { serversLimit, serversQuery, summaryQuery } from '../../api/queries.ts'
import type { ServerRow } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { useListKeys } from '../../parts/list-keys.ts'
import { Page } from '../../parts/page.tsx'
import { Pages } from '../../parts/pages.tsx'
import parts from '../../parts/parts.module.css'
import { State } from '../../parts/state.tsx'
import { Stranger } from '../../parts/stranger.tsx'
import { Time } from '../../parts/time.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import { useTyped } from '../../parts/typed.ts'
import { Views } from '../../parts/views.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { useNarrow } from '../../parts/width.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { number } from '../../words/numbers.ts'
import { statuses } from './filter.ts'
import { Metrics } from './metrics.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'
import { nameOf } from '../../words/clip.ts'

export const Servers = () => {
  const t = textsOf(serversTexts)
  const search = useSearch({ from: '/inside/servers' })
  const navigate = useNavigate()
  const { may } = useMay('admin')
  const narrow = useNarrow()
  useListKeys()
  const list = useQuery(serversQuery({ ...search, page: search.page ?? 1 }))
  const counts = useQuery(summaryQuery).data?.counts
  const rows = list.data?.servers
  const filtered = Boolean(search.search ?? search.status)
  const all = counts ? counts.online + counts.offline + counts.pending : 0
  const none = rows?.length === 0 && !filtered && (search.page ?? 1) === 1

  const add = may && (
    <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
      {t.add}
    </ButtonLink>
  )
  return (
    <Page title={t.title} actions={!none && add}>
      {!none && (
        <>
          {counts && <p className={parts.muted}>{t.counts(all, counts.online, counts.offline, counts.pending)}</p>}
          <Filters />
          <Views list="servers" path="/servers" />
        </>
      )}
      <Trouble what={t.what} query={list} />
      {list.isPending && <Waiting />}
      {none && (
        <div className={parts.empty}>
          <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
          <p>{may ? t.empty : t.emptyForOthers}</p>
          {add}
        </div>
      )}
      {rows?.length === 0 && filtered && (
        <div className={parts.empty}>
          <p>{t.noMatch}</p>
          <Button variant="default" onClick={() => navigate({ to: '/servers', search: {} })}>
            {t.clear}
          </Button>
        </div>
      )}
      {rows && rows.length > 0 && (narrow ? <Cards rows={rows} /> : <Table rows={rows} />)}
      {list.data && list.data.total > serversLimit && (
        <Pages
          page={search.page ?? 1}
          limit={serversLimit}
          shown={list.data.servers.length}
          total={list.data.total}
          onPage={page => navigate({ to: '/servers', search: { ...search, page } })}
        />
      )}
    </Page>
  )
}

const Filters = () => {
  const t = textsOf(serversTexts)
  const search = useSearch({ from: '/inside/servers' })
  const navigate = useNavigate()
  const { typed, setTyped } = useTyped(
    search.search ?? '',
    text =>
      void navigate({
        to: '/servers',
        search: { ...search, search: text || undefined, page: undefined },
        replace: true,
      }),
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
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <select
        className={parts.input}
        aria-label={t.status}
        value={search.status ?? ''}
        onChange={event =>
          void navigate({
            to: '/servers',
            search: {
              ...search,
              status: statuses.find(status => status === event.currentTarget.value),
              page: undefined,
            },
          })
        }
      >
        <option value="">{t.all}</option>
        {statuses.map(status => (
          <option key={status} value={status}>
            {textsOf(commonTexts).states[status]}
          </option>
        ))}
      </select>
    </div>
  )
}

const Name = ({ server }: { server: ServerRow }) => (
  <Link to="/servers/$serverId" params={{ serverId: server.id }} className={styles.name}>
    <Stranger text={server.hostname} most={60} />
  </Link>
)

/** When it was last heard of; a host that never was can be gone on with. */
const Seen = ({ server }: { server: ServerRow }) => {
  const t = textsOf(serversTexts)
  const { may } = useMay('admin')
  if (server.last_heartbeat) return <Time at={server.last_heartbeat} />
  return may && server.status === 'pending' ? (
    <Link to="/servers/new" search={{ id: server.id }} aria-label={t.continueWith(nameOf(server.hostname))}>
      {t.continue}
    </Link>
  ) : (
    <>{t.never}</>
  )
}

const Table = ({ rows }: { rows: readonly ServerRow[] }) => {
  const t = textsOf(serversTexts)
  const { none } = textsOf(commonTexts)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            {Object.entries(t.columns).map(([key, name]) => (
              <th key={key} scope="col" className={key === 'jails' || key === 'bans' ? parts.end : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(server => (
            <tr key={server.id} data-row>
              <td>
                <State is={server.status} />
              </td>
              <td className={styles.names}>
                <Name server={server} />
              </td>
              <td className={parts.mono}>{server.ip_address ?? none}</td>
              <td className={parts.cut}>
                <Stranger text={server.description || none} most={200} />
              </td>
              <td className={parts.end}>{number(server.active_jails)}</td>
              <td className={parts.end}>{number(server.total_bans)}</td>
              <td>
                <Metrics of={server.metrics} />
              </td>
              <td>
                <Stranger text={server.engine_version ?? none} most={16} />
              </td>
              <td>
                <Stranger text={server.agent_version ?? none} most={16} />
              </td>
              <td>
                <Seen server={server} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const urgency = { offline: 0, pending: 1, online: 2 } as const
const Cards = ({ rows }: { rows: readonly ServerRow[] }) => {
  const t = textsOf(serversTexts)
  // What needs a look stands on top; the order by name stays within.
  const sorted = [...rows].sort((a, b) => urgency[a.status] - urgency[b.status])
  return (
    <ul className={styles.cards}>
      {sorted.map(server => (
        <li key={server.id} className={parts.card} data-row>
          <div className={parts.cardTop}>
            <Name server={server} />
            <State is={server.status} />
          </div>
          <div className={parts.facts}>
            {server.ip_address && <span className={parts.mono}>{server.ip_address}</span>}
            <span>{t.jailsAndBans(server.active_jails, number(server.total_bans))}</span>
            <span>
              <Seen server={server} />
            </span>
          </div>
          {server.description && (
            <p className={parts.muted}>
              <Stranger text={server.description} most={120} />
            </p>
          )}
          {server.metrics && <Metrics of={server.metrics} />}
        </li>
      ))}
    </ul>
  )
}
