import type { ServerRow } from '../../api/queries.ts'
import { CheckStrip } from '../fleet/check-strip.tsx'
import { Spark } from '../../kit/charts/spark.tsx'
import type { ListColumn } from '../../kit/list-rows.ts'
import { useNarrow } from '../../kit/width.ts'
import { number, percent } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { groupOf } from './groups.ts'
import { HealthShape, Name, RoleOrProblem, Seen, Tags } from './server-parts.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

const Hours = ({ server, width }: { server: ServerRow; width?: number }) => {
  const hours = server.bans_24h ?? []
  const words = textsOf(serversTexts).hours(number(hours.reduce((sum, count) => sum + count, 0)))
  return <Spark counts={hours} label={words} {...(width ? { width } : {})} />
}

/** Where a row has two lines, the checks take the place of the hours as soon as one of them failed. */
const Checks = ({ server }: { server: ServerRow }) =>
  useNarrow() && groupOf(server) !== 'attention' ? (
    <Hours server={server} width={60} />
  ) : (
    <CheckStrip marks={server.protection.marks} />
  )

const Banned = ({ server }: { server: ServerRow }) => {
  const count = number(server.current_bans)
  return <span className={styles.banned}>{useNarrow() ? textsOf(serversTexts).banned(count) : count}</span>
}

const toneOf = (value: number) => (value >= 92 ? 'crit' : value >= 80 ? 'warn' : undefined)
/** A level as a small bar with its number. */
const Gauge = ({ label, value }: { label: string; value: number | null | undefined }) =>
  value === null || value === undefined ? (
    <span className={styles.unknown}>–</span>
  ) : (
    <span className={styles.gauge} title={`${label} ${percent(value)}`} data-tone={toneOf(value)}>
      <svg viewBox="0 0 32 5" width="32" height="5" aria-hidden="true">
        <rect className={styles.track} width="32" height="5" rx="2.5" />
        <rect width={(Math.min(100, value) / 100) * 32} height="5" rx="2.5" />
      </svg>
      <span>{percent(value)}</span>
    </span>
  )

/** A server that never called shows how to go on with it; the others when they were last seen. */
const End = ({ server }: { server: ServerRow }) => {
  const isNarrow = useNarrow()
  return (
    <span className={styles.seen}>
      {isNarrow && server.last_heartbeat ? <Checks server={server} /> : <Seen server={server} />}
    </span>
  )
}

export const columnsOf = (isNarrow: boolean): readonly ListColumn<ServerRow>[] => {
  const t = textsOf(serversTexts)
  const { columns: names } = t
  const gauge = (key: 'cpu' | 'memory' | 'disk'): ListColumn<ServerRow> => ({
    key,
    name: names[key],
    width: 92,
    wideOnly: true,
    cell: ({ metrics }) => <Gauge label={t[key]} value={metrics?.[`${key}_percent`]} />,
  })
  return [
    {
      key: 'name',
      name: names.name,
      at: 'title',
      cell: server => (
        <span className={styles.named}>
          {!isNarrow && <HealthShape server={server} />}
          <Name server={server} />
          {!isNarrow && <Tags tags={server.tags} />}
        </span>
      ),
    },
    {
      key: 'health',
      name: names.protection,
      narrowOnly: true,
      at: 'lead',
      cell: server => <HealthShape server={server} />,
    },
    { key: 'about', name: names.about, at: 'about', cell: server => <RoleOrProblem server={server} /> },
    {
      key: 'protection',
      name: names.protection,
      width: 136,
      cell: ({ protection }) => <CheckStrip marks={protection.marks} />,
    },
    { key: 'jails', name: names.jails, width: 50, end: true, cell: ({ active_jails: jails }) => number(jails) },
    { key: 'banned', name: names.banned, width: 68, end: true, at: 'end', cell: server => <Banned server={server} /> },
    { key: 'hours', name: names.hours, width: 96, cell: server => <Hours server={server} /> },
    gauge('cpu'),
    gauge('memory'),
    gauge('disk'),
    { key: 'seen', name: names.seen, width: 92, end: true, at: 'end-about', cell: server => <End server={server} /> },
  ]
}
