import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { summaryQuery } from '../../api/queries.ts'
import { barsOf } from '../../kit/charts/bars.ts'
import { FleetStrip } from '../fleet/fleet-strip.tsx'
import { Later } from '../../kit/charts/later.tsx'
import { loadOverTime } from '../bans/load-over-time.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import type { Period } from '../fleet/queries.ts'
import { Panel } from '../../kit/page.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Figures } from './figures.tsx'
import { Last } from './last.tsx'
import { MapPanel } from './map-panel.tsx'
import { Nothing } from './nothing.tsx'
import { overviewTexts } from './overview.texts.ts'
import { statsQuery } from './queries.ts'
import type { Stats } from './queries.ts'
import { Tops } from './tops.tsx'
import styles from './overview.module.css'

/** Rarely seen, so it does not travel with the page. */
const loadQuiet = () => import('./quiet.tsx').then(({ Quiet }) => Quiet)

/** What the overview tells of a period. */
export const Filled = ({ period }: { period: Period }) => {
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const query = useQuery(statsQuery(period))
  const stats = query.data
  const failed = query.isError && !stats
  return (
    <div className={styles.page} data-old={query.isPlaceholderData || undefined}>
      <Trouble what={t.what} query={query} />
      <Figures period={period} stats={stats} failed={failed} />
      {stats?.total_bans === 0 ? (
        <Later load={loadQuiet} given={{ period }} />
      ) : (
        <>
          <Panel title={t.chart(f.periods[period])}>
            {stats ? (
              <Chart stats={stats} title={t.chart(f.periods[period])} />
            ) : (
              <div className={styles.chartRoom}>{failed && <Nothing />}</div>
            )}
          </Panel>
          <Tops period={period} stats={stats} failed={failed} />
        </>
      )}
      <div className={styles.pair}>
        <Fleet />
        <Last />
      </div>
      {stats && stats.total_bans > 0 && <MapPanel period={period} stats={stats} />}
    </div>
  )
}

const Chart = ({ stats, title }: { stats: Stats; title: string }) => {
  const bars = useMemo(() => barsOf(stats.series, stats), [stats])
  return <Later load={loadOverTime} given={{ title, bars }} room={<div className={styles.chartRoom} />} />
}

const Fleet = () => {
  const t = textsOf(overviewTexts)
  const query = useQuery(summaryQuery)
  return (
    <Panel title={t.fleet}>
      <Trouble what={t.whatFleet} query={query} />
      {query.isPending && <Waiting lines={3} />}
      {query.data && <FleetStrip servers={query.data.servers} />}
    </Panel>
  )
}
