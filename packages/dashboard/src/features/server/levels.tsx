import type { ReactNode } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { every } from '../../api/quiet.ts'
import type { Server } from '../../api/queries.ts'
import { Level } from '../../kit/charts/spark.tsx'
import { number, percent } from '../../lib/numbers.ts'
import { BriefTrouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { serverTexts } from './server.texts.ts'
import parts from '../../kit/parts.module.css'
import styles from './levels.module.css'

const metricsQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['metrics', serverId],
    queryFn: ({ signal }) => api.call('GET /servers/{serverId}/metrics', { params: { serverId }, signal }),
    refetchInterval: every(300_000),
  })
const warnsFrom = 80

/** CPU, memory, disk and bans of the last 24 hours: the figure of now, the course, and the peak. */
export const Levels = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts).levels
  const query = useQuery(metricsQuery(server.id))
  const history = query.data
  const now = server.metrics
  const banned = server.jails.reduce((sum, { current_bans }) => sum + current_bans, 0)
  const figures = [
    ['cpu', now?.cpu_percent ?? null],
    ['memory', now?.memory_percent ?? null],
    ['disk', now?.disk_percent ?? null],
  ] as const
  return (
    <div className={styles.levels} data-away={server.status !== 'online' || undefined}>
      <BriefTrouble what={textsOf(serverTexts).stats.what} query={query} />
      {figures.map(([name, value]) => (
        <Figure
          key={name}
          title={t[name]}
          value={value === null ? '–' : percent(value)}
          peak={typeof history?.peaks[name] === 'number' ? t.peak(percent(history.peaks[name])) : ''}
        >
          <Level
            values={history?.points[name] ?? []}
            most={100}
            threshold={warnsFrom}
            label={t.course(t[name], value === null ? '–' : percent(value))}
          />
        </Figure>
      ))}
      <Figure
        title={t.banned}
        value={number(banned)}
        unit={t.bannedUnit}
        peak={typeof history?.peaks.banned === 'number' ? t.most(number(history.peaks.banned)) : ''}
      >
        <Level values={history?.points.banned ?? []} tone="ban" label={t.course(t.banned, number(banned))} />
      </Figure>
    </div>
  )
}

const Figure = (props: { title: string; value: string; unit?: string; peak: string; children: ReactNode }) => (
  <section className={`${parts.raised ?? ''} ${styles.figure ?? ''}`}>
    <header>
      <h2>{props.title}</h2>
      <p>
        <b>{props.value}</b> {props.unit}
      </p>
    </header>
    {props.children}
    <footer>
      <span>{textsOf(serverTexts).levels.dayAgo}</span>
      <span>{props.peak}</span>
    </footer>
  </section>
)
