import { useEffect, useMemo } from 'react'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { barsOf } from '../../charts/bars.ts'
import { FleetStrip } from '../../charts/fleet-strip.tsx'
import { Later, loadOverTime } from '../../charts/later.tsx'
import { fleetTexts } from '../../fleet/fleet.texts.ts'
import { banStatsQuery } from '../../fleet/queries.ts'
import type { Period } from '../../fleet/queries.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { useKeys } from '../../parts/keys.ts'
import { Page, Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { Trouble } from '../../parts/trouble.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { Figures } from './figures.tsx'
import { Last } from './last.tsx'
import { MapPanel } from './map-panel.tsx'
import { overviewTexts } from './overview.texts.ts'
import type { Stats } from './queries.ts'
import { Tops } from './tops.tsx'
import styles from './overview.module.css'

const periods = ['day', 'week', 'month'] as const
/** Rarely seen, so it does not travel with the page. */
const loadQuiet = () => import('./quiet.tsx').then(({ Quiet }) => Quiet)
const searchOf = (period: Period) => (period === 'day' ? {} : { period })

/** Does everything work, is anything unusual, am I affected. */
export const Overview = () => {
  const t = textsOf(overviewTexts)
  const { period = 'day', kiosk } = useSearch({ from: '/inside/' })
  const { may } = useMay('admin')
  const summary = useQuery(summaryQuery)
  useKiosk(kiosk === '1', period)
  return (
    <Page title={t.title}>
      {summary.data?.servers.length === 0 ? (
        <div className={parts.empty}>
          <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
          <p>{may ? t.empty : t.emptyForOthers}</p>
          {may && (
            <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
              {t.add}
            </ButtonLink>
          )}
        </div>
      ) : (
        <>
          {kiosk !== '1' && <Periods now={period} />}
          <Filled period={period} />
        </>
      )}
    </Page>
  )
}

const Periods = ({ now }: { now: Period }) => {
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const navigate = useNavigate()
  const keys = useMemo(
    () =>
      periods.map((period, index) => ({
        key: String(index + 1),
        text: t.key(f.periods[period]),
        act: () => void navigate({ to: '/', search: searchOf(period) }),
      })),
    [t, f, navigate],
  )
  useKeys(keys)
  return (
    <div className={parts.row} role="group" aria-label={f.period}>
      {periods.map((period, index) => (
        <button
          key={period}
          type="button"
          className={`${parts.chip ?? ''} ${styles.period ?? ''}`}
          aria-pressed={period === now}
          onClick={keys[index]?.act}
        >
          {f.periods[period]}
        </button>
      ))}
    </div>
  )
}

/** On the wall there is nothing around the page; Escape leads back to the desk. */
const useKiosk = (is: boolean, period: Period) => {
  const navigate = useNavigate()
  useEffect(() => {
    if (!is) return
    document.documentElement.dataset.kiosk = ''
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') void navigate({ to: '/', search: searchOf(period) })
    }
    addEventListener('keydown', leave)
    return () => {
      delete document.documentElement.dataset.kiosk
      removeEventListener('keydown', leave)
    }
  }, [is, period, navigate])
}

const Filled = ({ period }: { period: Period }) => {
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const query = useQuery({ ...banStatsQuery(period), refetchInterval: every(60_000) })
  const stats = query.data
  return (
    <div className={styles.page} data-old={query.isPlaceholderData || undefined}>
      <Trouble what={t.what} query={query} />
      <Figures period={period} stats={stats} />
      {stats?.total_bans === 0 ? (
        <Later load={loadQuiet} given={{ period }} />
      ) : (
        <>
          <Panel title={t.chart(f.periods[period])}>
            {stats ? <Chart stats={stats} title={t.chart(f.periods[period])} /> : <div className={styles.chartRoom} />}
          </Panel>
          <Tops period={period} stats={stats} />
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
      <Trouble what={t.fleet} query={query} />
      {query.isPending && <Waiting lines={3} />}
      {query.data && <FleetStrip servers={query.data.servers} />}
    </Panel>
  )
}
