import { Fragment, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { queries, serversLimit, serversQuery, summaryQuery } from '../../api/queries.ts'
import type { ServerRow } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { syncQuery } from '../fleet/queries.ts'
import type { Sync } from '../fleet/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useKeys } from '../../kit/keys.ts'
import { useListKeys } from '../../kit/list-keys.ts'
import { Page } from '../../kit/page.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import { ProtectionMark, ServerState } from '../fleet/protection.tsx'
import parts from '../../kit/parts.module.css'
import { Mark, State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Views } from '../../kit/views.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import type { ValuesOf } from '../../kit/search/completion.ts'
import type { Term } from '../../kit/search/narrowing.tsx'
import { SearchField } from '../../kit/search/search-field.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { BulkBar } from './bulk-bar.tsx'
import { groupsOf, isOlder, placesOf, strayed } from './groups.ts'
import type { Places, Status } from './groups.ts'
import { Metrics } from './metrics.tsx'
import { ServerValue } from './narrowing.tsx'
import { guardTexts } from '../server/guard.texts.ts'
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
  const counts = useQuery(summaryQuery).data?.counts
  const sync = useQuery(syncQuery).data?.servers
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
  const all = counts ? counts.online + counts.offline + counts.pending : 0
  const none = rows?.length === 0 && !filtered && (search.page ?? 1) === 1
  const total = list.data?.total ?? 0

  const add = may && (
    <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
      {t.add}
    </ButtonLink>
  )
  const shown: Shown = {
    groups: groupsOf(rows ?? [], places),
    sync: useMemo(() => new Map(sync?.map(server => [server.id, server])), [sync]),
    chosen,
    onChosen: operator ? setChosen : undefined,
  }
  return (
    <Page title={t.title} actions={!none && add}>
      {!none && (
        <>
          {counts && <p className={parts.muted}>{t.counts(all, counts.online, counts.offline, counts.pending)}</p>}
          <Search rows={rows ?? []} />
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
      {rows && rows.length > 0 && (narrow ? <Cards {...shown} /> : <Table {...shown} />)}
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

/** Leads to the server; on a card its menu holds all that the list can be narrowed to. */
const Name = ({ server, whole = false }: { server: ServerRow; whole?: boolean }) => {
  const { states } = textsOf(commonTexts)
  const { status, ip_address: ip, engine_version: engine, agent_version: agent } = server
  const t = textsOf(serversTexts).columns
  const others: readonly Term[] = [
    { field: 'status', value: status, shown: states[status] },
    ...(ip ? [{ field: 'ip', value: ip }] : []),
    ...(engine ? [{ field: 'engine', value: engine, shown: `${t.engine} ${clip(engine, 16).shown}` }] : []),
    ...(agent ? [{ field: 'agent', value: agent, shown: `${t.agent} ${clip(agent, 16).shown}` }] : []),
  ]
  return (
    <ServerValue
      field="name"
      value={server.hostname}
      shown={nameOf(server.hostname)}
      others={whole ? others : []}
      marked={whole}
      link={
        <Link to="/servers/$serverId" params={{ serverId: server.id }} className={styles.name}>
          <Stranger text={server.hostname} most={60} />
        </Link>
      }
    />
  )
}
const Ip = ({ ip }: { ip: string }) => (
  <ServerValue
    field="ip"
    value={ip}
    link={
      <Link to="/ip/$addr" params={{ addr: ip }} search={{}} preload={false}>
        {ip}
      </Link>
    }
  />
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

interface Shown {
  readonly groups: readonly { readonly status: Status; readonly rows: readonly ServerRow[] }[]
  readonly sync: ReadonlyMap<string, Sync>
  readonly chosen: ReadonlySet<string>
  /** Absent for those who may not act on servers. */
  readonly onChosen: ((chosen: ReadonlySet<string>) => void) | undefined
}

const Choose = ({ server, chosen, onChosen }: { server: ServerRow } & Pick<Shown, 'chosen' | 'onChosen'>) =>
  onChosen && (
    <label className={styles.choose}>
      <input
        type="checkbox"
        aria-label={textsOf(serversTexts).choose(nameOf(server.hostname))}
        checked={chosen.has(server.id)}
        onChange={event => {
          const next = new Set(chosen)
          if (event.currentTarget.checked) next.add(server.id)
          else next.delete(server.id)
          onChosen(next)
        }}
      />
    </label>
  )

const ChooseAll = ({ groups, chosen, onChosen }: Shown) => {
  const ids = groups.flatMap(({ rows }) => rows.map(({ id }) => id))
  return (
    onChosen && (
      <label className={styles.choose}>
        <input
          type="checkbox"
          aria-label={textsOf(serversTexts).chooseAll}
          checked={ids.every(id => chosen.has(id))}
          onChange={event => onChosen(event.currentTarget.checked ? new Set([...chosen, ...ids]) : new Set())}
        />
      </label>
    )
  )
}

/** `menu`: it can be asked for; on a card there is no room for that. */
const Agent = ({ version, menu = false }: { version: string | null; menu?: boolean }) => {
  const newest = useMe()?.version ?? ''
  const shown = <Stranger text={version ?? textsOf(commonTexts).none} most={16} />
  return (
    <>
      {menu && version ? (
        <ServerValue field="agent" value={version} shown={clip(version, 60).shown}>
          {shown}
        </ServerValue>
      ) : (
        shown
      )}{' '}
      {isOlder(version, newest) && <Mark tone="warn">{textsOf(serversTexts).update}</Mark>}
    </>
  )
}

const Table = (props: Shown) => {
  const t = textsOf(serversTexts)
  const { none, states } = textsOf(commonTexts)
  const { groups, sync, onChosen } = props
  const columns = Object.entries(t.columns).filter(([key]) => key !== 'choose' || onChosen)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            {columns.map(([key, name]) => (
              <th key={key} scope="col" className={key === 'jails' || key === 'bans' ? parts.end : undefined}>
                {key === 'choose' ? <ChooseAll {...props} /> : name}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(({ status, rows }) => (
          <tbody key={status} data-group={status}>
            {groups.length > 1 && (
              <tr className={styles.group}>
                <th colSpan={columns.length} scope="rowgroup">
                  {t.groups(states[status], rows.length)}
                </th>
              </tr>
            )}
            {rows.map(server => (
              <tr key={server.id} data-row>
                {onChosen && (
                  <td>
                    <Choose server={server} {...props} />
                  </td>
                )}
                <td>
                  <div className={styles.marks}>
                    <ServerValue field="status" value={server.status} shown={states[server.status]}>
                      <ServerState server={server} />
                    </ServerValue>
                    <ProtectionMark server={server} />
                  </div>
                  {server.quarantined && <Mark tone="warn">{textsOf(guardTexts).badge}</Mark>}
                </td>
                <td className={styles.names}>
                  <Name server={server} />
                </td>
                <td className={parts.mono}>{server.ip_address ? <Ip ip={server.ip_address} /> : none}</td>
                <td className={parts.cut}>
                  <Stranger text={server.description || none} most={200} />
                </td>
                <td className={parts.end}>{number(server.active_jails)}</td>
                <td className={parts.end}>{number(server.total_bans)}</td>
                <td>
                  <Metrics of={server.metrics} />
                </td>
                <td>
                  {server.engine_version ? (
                    <ServerValue
                      field="engine"
                      value={server.engine_version}
                      shown={clip(server.engine_version, 60).shown}
                    >
                      <Stranger text={server.engine_version} most={16} />
                    </ServerValue>
                  ) : (
                    none
                  )}
                </td>
                <td>
                  <Agent version={server.agent_version} menu />
                </td>
                <td>
                  <Synced sync={sync.get(server.id)} />
                </td>
                <td>
                  <Seen server={server} />
                </td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

const Synced = ({ sync }: { sync: Sync | undefined }) =>
  sync ? <State is={sync.sync_status} /> : <>{textsOf(commonTexts).none}</>

const Cards = (props: Shown) => {
  const t = textsOf(serversTexts)
  const { states } = textsOf(commonTexts)
  const { groups, sync } = props
  return groups.map(({ status, rows }) => (
    <Fragment key={status}>
      {groups.length > 1 && <h2 className={parts.panelTitle}>{t.groups(states[status], rows.length)}</h2>}
      <ul className={styles.cards} data-group={status}>
        {rows.map(server => (
          <li key={server.id} className={parts.card} data-row>
            <div className={parts.cardTop}>
              <span className={styles.titled}>
                <Choose server={server} {...props} />
                <Name server={server} whole />
              </span>
              <span className={`${styles.marks ?? ''} ${styles.toEnd ?? ''}`}>
                <ServerState server={server} />
                <ProtectionMark server={server} />
              </span>
              {server.quarantined && <Mark tone="warn">{textsOf(guardTexts).badge}</Mark>}
            </div>
            <div className={parts.facts}>
              {server.ip_address && (
                <span className={parts.mono}>
                  <Ip ip={server.ip_address} />
                </span>
              )}
              <span>{t.jailsAndBans(server.active_jails, number(server.total_bans))}</span>
              <span>
                <Seen server={server} />
              </span>
              {sync.has(server.id) && (
                <span>
                  {t.columns.whitelist}: <Synced sync={sync.get(server.id)} />
                </span>
              )}
              {server.agent_version && (
                <span>
                  {t.columns.agent}: <Agent version={server.agent_version} />
                </span>
              )}
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
    </Fragment>
  ))
}
