import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Ranked } from '../fleet/bars.tsx'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import fleet from '../fleet/fleet.module.css'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number, percent } from '../../lib/numbers.ts'
import { Address } from './facts.tsx'
import { periods, rangeOf } from './filter.ts'
import type { HistorySearch } from './filter.ts'
import { KnockPage } from './knock-page.tsx'
import { portknockTexts } from './portknock.texts.ts'
import { statsQuery } from './queries.ts'
import type { KnockTotals, Sequence } from './queries.ts'
import styles from './portknock.module.css'

/** How much is knocked, with what success, and by whom. */
export const KnockStats = () => <KnockPage tab="stats">{sequences => <Stats sequences={sequences} />}</KnockPage>

const Stats = ({ sequences }: { sequences: readonly Sequence[] | undefined }) => {
  const t = textsOf(portknockTexts)
  const s = t.stats
  const f = textsOf(fleetTexts)
  const search = useSearch({ from: '/inside/portknock/stats' })
  const { period = 'day' } = search
  const query = useQuery(statsQuery(search))
  const stats = query.data
  const from = rangeOf[period]
  const total = stats?.total_attempts ?? 0
  return (
    <>
      <PeriodChips now={period} />
      <Loading what={t.what.stats} query={query} />
      {stats && (
        <>
          <dl className={styles.figures}>
            <Figure name={s.total(f.periods[period])} count={total} search={{ from }} />
            <Figure name={s.success} count={stats.successful} of={total} search={{ from, status: 'success' }} />
            <Figure name={s.failed} count={stats.failed} of={total} search={{ from, status: 'failed' }} />
            <Figure name={s.blocked} count={stats.blocked} of={total} search={{ from, status: 'blocked' }} />
          </dl>
          <BySequence rows={stats.by_sequence} from={from} sequences={sequences} />
          <div className={fleet.columns}>
            <Panel title={s.byServer}>
              {stats.by_server.length === 0 && <p className={parts.muted}>{s.none}</p>}
              <Ranked
                rows={stats.by_server.slice(0, 10).map(({ hostname, attempts }) => ({
                  key: hostname,
                  count: attempts,
                  name: <Stranger text={hostname} most={60} />,
                }))}
              />
            </Panel>
            <Panel title={s.top}>
              {stats.top_ips.length === 0 && <p className={parts.muted}>{s.none}</p>}
              <Ranked
                rows={stats.top_ips.map(({ ip, attempts }) => ({
                  key: ip,
                  count: attempts,
                  name: <Address ip={ip} />,
                }))}
              />
            </Panel>
          </div>
        </>
      )}
    </>
  )
}

const PeriodChips = ({ now }: { now: (typeof periods)[number] }) => {
  const f = textsOf(fleetTexts)
  const navigate = useNavigate()
  return (
    <div className={parts.row} role="group" aria-label={f.period}>
      {periods.map(known => (
        <button
          key={known}
          type="button"
          className={`${parts.chip ?? ''} ${styles.period ?? ''}`}
          aria-pressed={known === now}
          onClick={() => void navigate({ to: '/portknock/stats', search: known === 'day' ? {} : { period: known } })}
        >
          {f.periods[known]}
        </button>
      ))}
    </div>
  )
}

const BySequence = (props: {
  rows: KnockTotals['by_sequence']
  from: string
  sequences: readonly Sequence[] | undefined
}) => {
  const s = textsOf(portknockTexts).stats
  const { rows, from, sequences } = props
  const idOf = (name: string) => sequences?.find(sequence => sequence.name === name)?.id
  return (
    <Panel title={s.bySequence}>
      {rows.length === 0 ? (
        <p className={parts.muted}>{s.none}</p>
      ) : (
        <PlainTable
          caption={s.bySequence}
          heads={headsOf(s.columns, { attempts: parts.end, rate: parts.end })}
          frame={styles.scroll}
        >
          {rows.slice(0, most).map(({ name, attempts, success_rate }) => (
            <tr key={name}>
              <td className={fleet.wrap}>
                <Linked search={{ from, sequence: idOf(name) }}>
                  <Stranger text={name} most={60} />
                </Linked>
              </td>
              <td className={parts.end}>{number(attempts)}</td>
              <td className={parts.end}>{success_rate === null ? s.noRate : percent(success_rate)}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </Panel>
  )
}

/** Sequences come by how much they are knocked at: the rest is in the history. */
const most = 100

const Linked = ({ search, children }: { search: HistorySearch; children: ReactNode }) =>
  search.sequence === undefined ? (
    children
  ) : (
    <Link to="/portknock/history" search={search} className={parts.link}>
      {children}
    </Link>
  )

/** A count, as the way to the knocks that it counts. */
const Figure = (props: { name: string; count: number; of?: number; search: HistorySearch }) => {
  const t = textsOf(portknockTexts).stats
  const { name, count, of = 0, search } = props
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        <Link to="/portknock/history" search={search}>
          {number(count)}
        </Link>
        {of > 0 && <span className={styles.share}>{t.share(percent((count / of) * 100))}</span>}
      </dd>
    </div>
  )
}
