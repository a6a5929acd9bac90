import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { Loading } from '../../kit/loading.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { Select } from '../../kit/select.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { TimeRange } from '../../kit/time-range.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { Address, At, ServerLink } from './facts.tsx'
import { historyLimit, statuses } from './filter.ts'
import type { HistorySearch } from './filter.ts'
import { KnockPage } from './knock-page.tsx'
import { portknockTexts } from './portknock.texts.ts'
import { historyQuery } from './queries.ts'
import type { Knock, KnockList, Sequence } from './queries.ts'
import styles from './portknock.module.css'

/** Knock attempts and their results. */
export const KnockHistory = () => <KnockPage tab="history">{sequences => <List sequences={sequences} />}</KnockPage>

interface Known {
  /** Undefined where they could not be read: then they have no names. */
  readonly sequences: readonly Sequence[] | undefined
}

const useFilter = () => {
  const search = useSearch({ from: '/inside/portknock/history' })
  const navigate = useNavigate()
  return (change: HistorySearch, replace = false) =>
    void navigate({ to: '/portknock/history', search: { ...search, page: undefined, ...change }, replace })
}

const List = ({ sequences }: Known) => {
  const t = textsOf(portknockTexts)
  const search = useSearch({ from: '/inside/portknock/history' })
  const query = useQuery(historyQuery(search))
  return (
    <>
      <p className={parts.muted}>{t.history.lead}</p>
      <Filters sequences={sequences} />
      <Loading what={t.what.history} query={query} />
      {query.data && <Found list={query.data} />}
    </>
  )
}

const Found = ({ list }: { list: KnockList }) => {
  const search = useSearch({ from: '/inside/portknock/history' })
  const filter = useFilter()
  const narrow = useNarrow()
  const { page = 1 } = search
  const rows = list.history
  if (rows.length === 0) return page > 1 ? <PastEnd onFirst={() => filter({})} /> : <None search={search} />
  return (
    <>
      {narrow ? <Cards rows={rows} /> : <Table rows={rows} />}
      <Pages
        page={page}
        limit={historyLimit}
        shown={rows.length}
        total={list.total}
        onPage={to => filter({ page: to > 1 ? to : undefined })}
      />
    </>
  )
}

const None = ({ search }: { search: HistorySearch }) => {
  const t = textsOf(portknockTexts).history
  const navigate = useNavigate()
  const filtered = Object.entries(search).some(([key, value]) => key !== 'page' && value !== undefined)
  return (
    <div className={parts.empty}>
      <p>{filtered ? t.noMatch : t.empty}</p>
      {filtered && (
        <Button variant="default" onClick={() => navigate({ to: '/portknock/history', search: {} })}>
          {t.clear}
        </Button>
      )}
    </div>
  )
}

const Filters = ({ sequences }: Known) => {
  const t = textsOf(portknockTexts)
  const h = t.history
  const search = useSearch({ from: '/inside/portknock/history' })
  const filter = useFilter()
  const servers = useQuery(summaryQuery).data?.servers ?? []
  return (
    <div className={styles.filters} role="search" aria-label={h.filters}>
      <Select
        label={t.server}
        value={search.server ?? ''}
        options={[
          { value: '', text: h.allServers },
          ...servers.map(({ id, hostname }) => ({ value: id, text: nameOf(hostname) })),
        ]}
        onValue={server => filter({ server: server || undefined })}
      />
      <Select<number | ''>
        label={t.sequence}
        value={search.sequence ?? ''}
        options={[
          { value: '', text: h.allSequences },
          ...(search.sequence !== undefined && !sequences?.some(({ id }) => id === search.sequence)
            ? [{ value: search.sequence, text: sequences ? h.deletedSequence : `#${search.sequence}` }]
            : []),
          ...(sequences ?? []).map(({ id, name }) => ({ value: id, text: clip(name, 60).shown })),
        ]}
        onValue={sequence => filter({ sequence: sequence || undefined })}
      />
      <Select
        label={h.status}
        value={search.status ?? ''}
        options={[
          { value: '', text: h.allStatuses },
          ...statuses.map(status => ({ value: status, text: h.statuses[status] })),
        ]}
        onValue={status => filter({ status: status || undefined })}
      />
      <TimeRange from={search.from} to={search.to} onRange={filter} />
    </div>
  )
}

const tones = { success: 'ok', failed: 'warn', blocked: 'danger' } as const
const Result = ({ status }: { status: Knock['status'] }) => (
  <Mark tone={tones[status]}>{textsOf(portknockTexts).history.statuses[status]}</Mark>
)

const Table = ({ rows }: { rows: readonly Knock[] }) => {
  const t = textsOf(portknockTexts).history
  return (
    <PlainTable
      caption={t.caption}
      heads={headsOf(t.columns)}
      frame={parts.frame}
      className={`${parts.table ?? ''} ${styles.table ?? ''}`}
    >
      {rows.map(knock => (
        <tr key={knock.id} data-knock={knock.id}>
          <td>
            <At at={knock.timestamp} />
          </td>
          <td>
            <Address ip={knock.ip} />
          </td>
          <td className={styles.some} title={nameOf(knock.server.hostname)}>
            <ServerLink {...knock.server} />
          </td>
          <td className={styles.some} title={clip(knock.sequence_name, 100).shown}>
            <Stranger text={knock.sequence_name} most={60} />
          </td>
          <td>
            <Result status={knock.status} />
          </td>
          <td className={styles.reason}>
            <Stranger text={knock.reason ?? ''} most={200} />
          </td>
        </tr>
      ))}
    </PlainTable>
  )
}

const Cards = ({ rows }: { rows: readonly Knock[] }) => (
  <ul className={parts.cards} aria-label={textsOf(portknockTexts).history.caption}>
    {rows.map(knock => (
      <li key={knock.id} className={parts.card} data-knock={knock.id}>
        <div className={parts.cardTop}>
          <Address ip={knock.ip} />
          <Result status={knock.status} />
        </div>
        {knock.reason && (
          <p>
            <Stranger text={knock.reason} most={200} />
          </p>
        )}
        <div className={parts.facts}>
          <span>
            <At at={knock.timestamp} />
          </span>
          <span>
            <ServerLink {...knock.server} />
          </span>
          <span>
            <Stranger text={knock.sequence_name} most={60} />
          </span>
        </div>
      </li>
    ))}
  </ul>
)
