import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { every } from '../../api/quiet.ts'
import { barsOf } from '../../kit/charts/bars.ts'
import { Later } from '../../kit/charts/later.tsx'
import { Legend } from '../../kit/charts/legend.tsx'
import { Flag } from '../../kit/flag.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Ranking } from '../../kit/ranking.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { countryName } from '../../lib/countries.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { loadOverTime } from '../bans/load-over-time.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import fleet from '../fleet/fleet.module.css'
import { serverStatsQuery } from '../fleet/queries.ts'
import type { Period } from '../fleet/queries.ts'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'

const periods = ['day', 'week', 'month'] as const
const room = <div className={styles.chartRoom} />

/** Its bans over time, and which jails and countries have most of them. */
export const Stats = ({ serverId }: { serverId: string }) => {
  const t = textsOf(serverTexts).stats
  const f = textsOf(fleetTexts)
  const [period, setPeriod] = useState<Period>('day')
  const query = useQuery({ ...serverStatsQuery(serverId, period), refetchInterval: every(60_000) })
  const stats = query.data
  const bars = useMemo(
    () =>
      stats
        ? barsOf(
            stats.series,
            stats,
            stats.series_by_jail.map(({ counts }) => counts),
          )
        : [],
    [stats],
  )
  const names = stats?.series_by_jail.map(({ jail }) => jail) ?? []
  const own = useMemo(() => ({ server: serverId }), [serverId])
  return (
    <Panel title={t.title} aside={<Legend names={names} />}>
      <div className={fleet.stack}>
        <div className={fleet.line}>
          <span className={parts.muted}>{stats && <Sums stats={stats} serverId={serverId} />}</span>
          <Segmented
            label={f.period}
            value={period}
            onChange={setPeriod}
            options={periods.map(known => ({ value: known, text: f.periods[known] }))}
          />
        </div>
        <Trouble what={t.what} query={query} />
        {stats ? (
          <Later
            load={loadOverTime}
            given={{ title: t.chart(f.periods[period]), bars, names, search: own }}
            room={room}
          />
        ) : (
          room
        )}
        {stats && stats.bans_period > 0 && (
          <div className={fleet.columns}>
            <Jails stats={stats} serverId={serverId} />
            <Countries stats={stats} serverId={serverId} />
          </div>
        )}
      </div>
    </Panel>
  )
}

interface Counted {
  readonly stats: Reply<'GET /servers/{serverId}/stats'>
  readonly serverId: string
}

const Sums = ({ stats, serverId }: Counted) => {
  const t = textsOf(serverTexts).stats
  return (
    <>
      <Link to="/bans" search={{ server: serverId, from: stats.from, to: stats.to }} className={parts.link}>
        {t.bans(number(stats.bans_period), stats.bans_period)}
      </Link>
      {t.before(number(stats.previous_total))}{' '}
      <Link to="/bans" search={{ server: serverId, active: 'true' }} className={parts.link}>
        {t.now(number(stats.active_now))}
      </Link>
    </>
  )
}

const Jails = ({ stats, serverId }: Counted) => {
  const rows = stats.top_jails.slice(0, 5).map(({ name, count }) => ({
    key: name,
    count,
    name: (
      <Link to="/bans" search={{ server: serverId, from: stats.from, to: stats.to, jail: name }}>
        <Stranger text={name} most={64} />
      </Link>
    ),
  }))
  return (
    <div>
      <h3 className={parts.help}>{textsOf(serverTexts).stats.jails}</h3>
      <Ranking total={stats.bans_period} rows={rows} />
    </div>
  )
}

const Countries = ({ stats, serverId }: Counted) => {
  const rows = stats.top_countries.slice(0, 5).map(({ code, name, count }) => ({
    key: code,
    count,
    name:
      code === 'ZZ' ? (
        name
      ) : (
        <>
          <Flag code={code} />
          <Link to="/bans" search={{ server: serverId, from: stats.from, to: stats.to, country: code }}>
            {countryName(code)}
          </Link>
        </>
      ),
  }))
  return (
    <div>
      <h3 className={parts.help}>{textsOf(serverTexts).stats.countries}</h3>
      <Ranking total={stats.bans_period} rows={rows} />
    </div>
  )
}
