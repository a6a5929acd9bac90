import { useMemo } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { barsOf } from '../../kit/charts/bars.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import { Later } from '../../kit/charts/later.tsx'
import { Legend } from '../../kit/charts/legend.tsx'
import { loadOverTime } from '../bans/load-over-time.ts'
import type { Period } from '../fleet/queries.ts'
import { Panel } from '../../kit/page.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { useUpright } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Attacking } from './attacking.tsx'
import { Hero } from './hero.tsx'
import { MapPanel } from './map-panel.tsx'
import { Nothing } from './nothing.tsx'
import { overviewTexts } from './overview.texts.ts'
import { statsQuery } from './queries.ts'
import type { Stats } from './queries.ts'
import { Tops } from './tops.tsx'
import styles from './overview.module.css'

/** Rarely seen, so it does not travel with the page. */
const loadQuiet = () => import('./quiet.tsx').then(({ Quiet }) => Quiet)

/**
 * The overview of a period: is the fleet protected, who attacks, and where.
 * @param periods where a phone or a small tablet chooses the period: the first sentence stands above it
 */
export const Filled = (props: { period: Period; isWall: boolean; periods: ReactNode }) => {
  const { period, isWall } = props
  const t = textsOf(overviewTexts)
  const isUpright = useUpright()
  const query = useQuery(statsQuery(period))
  const stats = query.data
  const failed = query.isError && !stats
  const names = useMemo(() => stats?.series_by_jail.map(({ jail }) => jail) ?? [], [stats])
  const hasOther = stats ? stats.bans_by_jail.length > names.length : false
  return (
    <div className={styles.page} data-old={query.isPlaceholderData || undefined}>
      <Trouble what={t.what} query={query} />
      <Hero period={period} stats={stats} failed={failed} />
      {props.periods}
      {stats?.total_bans === 0 ? (
        <Later load={loadQuiet} given={{ period }} />
      ) : (
        <>
          <div className={styles.pair}>
            <Panel title={t.chart} aside={<Legend names={hasOther ? [...names, textsOf(chartsTexts).other] : names} />}>
              {stats ? (
                <Chart stats={stats} names={names} title={t.chart} isWall={isWall} />
              ) : (
                <div className={styles.chartRoom}>{failed && <Nothing />}</div>
              )}
            </Panel>
            <Attacking />
          </div>
          {/* A wall has room for them where it is upright. */}
          {(!isWall || isUpright) && <Tops period={period} stats={stats} failed={failed} />}
        </>
      )}
      {!isWall && stats && stats.total_bans > 0 && <MapPanel period={period} stats={stats} />}
    </div>
  )
}

const Chart = (props: { stats: Stats; names: readonly string[]; title: string; isWall: boolean }) => {
  const { stats, names, title, isWall } = props
  const bars = useMemo(
    () =>
      barsOf(
        stats.series,
        stats,
        stats.series_by_jail.map(({ counts }) => counts),
      ),
    [stats],
  )
  return (
    <Later
      load={loadOverTime}
      given={{ title, bars, names, size: isWall ? 'large' : 'medium' }}
      room={<div className={styles.chartRoom} />}
    />
  )
}
