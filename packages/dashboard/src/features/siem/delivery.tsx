import { useEffect, useRef } from 'react'
import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { Bars, Ranked } from '../fleet/bars.tsx'
import { Loading } from '../../kit/loading.tsx'
import { useWords } from '../../kit/now.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number, percent } from '../../lib/numbers.ts'
import { exactTime } from '../../lib/time.ts'
import { failingSince, healthOf, lastHours, rateOf, ratePerMinute } from './delivery-words.ts'
import type { Health } from './delivery-words.ts'
import { deliveriesQuery, pollEvery, pollRarely, statsQuery, statusQuery, typesQuery } from './queries.ts'
import type { Delivery as Attempt, SiemSettings, SiemStatus } from './queries.ts'
import { SiemPage, ToDestination } from './siem-page.tsx'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'

export const Delivery = () => <SiemPage section="delivery">{is => <Shown is={is} />}</SiemPage>

const Shown = ({ is }: { is: SiemSettings | undefined }) => {
  const t = textsOf(siemTexts)
  const status = useQuery({ ...statusQuery, refetchInterval: pollEvery })
  const deliveries = useQuery({ ...deliveriesQuery, refetchInterval: pollRarely })
  const stats = useQuery(statsQuery)
  // What the state counts stands in the rest, too; at rest only the state is asked for.
  const { events_sent_today: sent, events_failed_today: failed, connected, last_error } = status.data ?? {}
  const mark = status.data && JSON.stringify([sent, failed, connected, last_error])
  const lastMark = useRef(mark)
  useEffect(() => {
    if (lastMark.current !== undefined && lastMark.current !== mark) {
      void queries.invalidateQueries({ queryKey: deliveriesQuery.queryKey })
      void queries.invalidateQueries({ queryKey: statsQuery.queryKey })
    }
    lastMark.current = mark
  }, [mark])
  return (
    <>
      <Loading what={t.what.status} query={status} lines={3} />
      {status.data && <State is={is} status={status.data} attempts={deliveries.data ?? []} />}
      <Trouble what={t.what.stats} query={stats} />
      {stats.data && <Statistics />}
      <Loading what={t.what.deliveries} query={deliveries} />
      {deliveries.data && <Attempts rows={deliveries.data} />}
    </>
  )
}

const tones = { off: 'neutral', connected: 'ok', failing: 'danger', waiting: 'info' } as const satisfies Record<
  Health,
  string
>

const targetOf = ({ host, port }: SiemSettings): string =>
  host?.includes(':') ? `[${host}]:${port}` : `${host ?? ''}:${port}`

const State = (props: { is: SiemSettings | undefined; status: SiemStatus; attempts: readonly Attempt[] }) => {
  const t = textsOf(siemTexts)
  const { is, status, attempts } = props
  const health = healthOf(status)
  const words = t.healthText[health]
  const since = health === 'failing' ? failingSince(attempts) : null
  return (
    <Panel>
      <div className={styles.outcome}>
        <div role="status">
          <Mark tone={tones[health]}>{t.health[health]}</Mark>
          <p>
            <bdi>{typeof words === 'string' ? words : is && words(targetOf(is))}</bdi>{' '}
            {health === 'off' && <ToDestination />}
          </p>
        </div>
        {status.last_error && (
          <dl className={parts.details}>
            <dt>{t.error}</dt>
            <dd>
              <Stranger text={status.last_error} most={600} />
            </dd>
            {since && (
              <>
                <dt>{t.failingFor}</dt>
                <dd>
                  {since.longer && `${t.longer} `}
                  <Time at={since.at} />
                </dd>
              </>
            )}
          </dl>
        )}
        {health === 'failing' && <Checks is={is} />}
        <Figures status={status} attempts={attempts} />
      </div>
    </Panel>
  )
}

const Checks = ({ is }: { is: SiemSettings | undefined }) => {
  const t = textsOf(siemTexts)
  return (
    <div>
      <strong>{t.checksTitle}</strong>
      {is && (
        <ul className={styles.list}>
          {t.checks[is.format].map(what => (
            <li key={what}>{what}</li>
          ))}
        </ul>
      )}
      <ToDestination />
    </div>
  )
}

const Figures = ({ status, attempts }: { status: SiemStatus; attempts: readonly Attempt[] }) => {
  const t = textsOf(siemTexts)
  const rate = useWords(now => rateOf(ratePerMinute(attempts, now)))
  return (
    <dl className={styles.figures}>
      <div>
        <dt>{t.sentToday}</dt>
        <dd title={t.todayHelp}>{number(status.events_sent_today)}</dd>
      </div>
      <div>
        <dt>{t.failedToday}</dt>
        <dd title={t.todayHelp}>{number(status.events_failed_today)}</dd>
      </div>
      <div>
        <dt>{t.waitingNow}</dt>
        <dd>
          <Link to="/siem/queue" aria-label={t.toQueue(status.queue_size, number(status.queue_size))}>
            {number(status.queue_size)}
          </Link>
        </dd>
      </div>
      <div>
        <dt>{t.rate}</dt>
        <dd>{t.perMinute(rate)}</dd>
      </div>
      <div>
        <dt>{t.uptime}</dt>
        <dd className={status.uptime_percent === null ? styles.small : undefined}>
          {status.uptime_percent === null ? t.noValue : percent(status.uptime_percent)}
        </dd>
      </div>
      <div>
        <dt>{t.lastEvent}</dt>
        <dd className={styles.small}>{status.last_event ? <Time at={status.last_event} /> : t.never}</dd>
      </div>
    </dl>
  )
}

const Statistics = () => {
  const t = textsOf(siemTexts)
  const stats = useQuery(statsQuery)
  const types = useQuery(typesQuery)
  if (!stats.data) return null
  const { by_hour, by_type, delivery_stats } = stats.data
  const countsByType = Object.entries(by_type).filter(([, count]) => count > 0)
  return (
    <div className={styles.halves}>
      <Panel title={t.byHour}>
        <Bars series={lastHours(by_hour, stats.dataUpdatedAt)} title={t.byHour} words={t.chart} />
      </Panel>
      <Panel title={t.byType}>
        {countsByType.length === 0 ? (
          <p className={parts.muted}>{t.chart.empty}</p>
        ) : (
          <div className={styles.outcome}>
            <Ranked
              rows={countsByType
                .sort(([, a], [, b]) => b - a)
                .map(([key, count]) => ({
                  key,
                  name: types.data?.find(({ id }) => id === key)?.name ?? key,
                  count,
                }))}
            />
            <dl className={parts.details}>
              <dt>{t.retried}</dt>
              <dd>{number(delivery_stats.retried)}</dd>
              <dt>{t.success}</dt>
              <dd>{delivery_stats.success_rate === null ? t.noValue : percent(delivery_stats.success_rate)}</dd>
            </dl>
          </div>
        )}
      </Panel>
    </div>
  )
}

const resultOf = ({ ok }: Attempt) => {
  const t = textsOf(siemTexts)
  return <Mark tone={ok ? 'ok' : 'danger'}>{ok ? t.delivered : t.failed}</Mark>
}
/** What the other side said, or what went wrong on the way there. */
const Answer = ({ of }: { of: Attempt }) => {
  const t = textsOf(siemTexts)
  if (of.error) return <Stranger text={of.error} most={200} />
  return of.status === null ? null : t.http(of.status)
}

const Attempts = ({ rows }: { rows: readonly Attempt[] }) => {
  const t = textsOf(siemTexts)
  const narrow = useNarrow()
  return (
    <>
      <h2 className={parts.panelTitle}>{t.deliveries}</h2>
      {rows.length === 0 && <p className={parts.empty}>{t.noDeliveries}</p>}
      {rows.length > 0 && (narrow ? <Cards rows={rows} /> : <Table rows={rows} />)}
    </>
  )
}

const Table = ({ rows }: { rows: readonly Attempt[] }) => {
  const t = textsOf(siemTexts)
  return (
    <PlainTable
      caption={t.deliveriesCaption}
      heads={headsOf(t.columns, { events: parts.end, size: parts.end })}
      frame={parts.frame}
    >
      {rows.map((row, index) => (
        <tr key={rows.length - index} data-attempt={row.ok ? 'ok' : 'failed'}>
          <td>
            <Time at={row.at} />
          </td>
          <td>{resultOf(row)}</td>
          <td className={parts.end}>{number(row.events)}</td>
          <td className={parts.end}>{t.bytes(number(row.bytes))}</td>
          <td className={styles.wrap}>
            <Answer of={row} />
          </td>
          <td>{row.next_try && clockOf(row.next_try)}</td>
        </tr>
      ))}
    </PlainTable>
  )
}

const Cards = ({ rows }: { rows: readonly Attempt[] }) => {
  const t = textsOf(siemTexts)
  return (
    <ul className={parts.cards}>
      {rows.map((row, index) => (
        <li key={rows.length - index} className={parts.card} data-attempt={row.ok ? 'ok' : 'failed'}>
          <div className={parts.cardTop}>
            {resultOf(row)}
            <Time at={row.at} />
          </div>
          <div className={parts.facts}>
            <span>{t.count(row.events, number(row.events))}</span>
            <span>{t.bytes(number(row.bytes))}</span>
            <span>
              <Answer of={row} />
            </span>
            {row.next_try && <span>{t.nextAt(clockOf(row.next_try))}</span>}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** A moment that may still be to come, to the second. */
const clockOf = (at: string): string => exactTime(Date.parse(at)).slice(11, 19)
