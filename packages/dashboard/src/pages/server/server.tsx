import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { serverQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { Bars, Ranked } from '../../fleet/bars.tsx'
import { fleetTexts } from '../../fleet/fleet.texts.ts'
import fleet from '../../fleet/fleet.module.css'
import { serverStatsQuery } from '../../fleet/queries.ts'
import type { Period } from '../../fleet/queries.ts'
import { Page, Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { State } from '../../parts/state.tsx'
import { Stranger } from '../../parts/stranger.tsx'
import { Time } from '../../parts/time.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { Forbidden } from '../../shell/lone-pages.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { number } from '../../words/numbers.ts'
import { duration } from '../../words/time.ts'
import { Metrics } from '../servers/metrics.tsx'
import { SyncRow, useSync } from '../whitelist/sync-panel.tsx'
import { Settings } from './settings.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'
import { nameOf } from '../../words/clip.ts'

/** One host: is it well, what does it guard, what was done to it. The frame; each tab is a page of its own. */
export const ServerPage = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const server = useQuery({ ...serverQuery(serverId), refetchInterval: every(30_000) })
  const { may } = useMay('admin')
  const status = statusOf(server.error)
  if (status === 403) return <Forbidden />
  if (status === 404 || status === 400)
    return (
      <Page title={t.title}>
        <div className={parts.empty}>
          <p>{t.gone}</p>
          <Link to="/bans" search={{ server: serverId }}>
            {t.itsBans}
          </Link>
        </div>
      </Page>
    )
  const name = server.data ? nameOf(server.data.hostname) : t.title
  const tabs = [
    ['/servers/$serverId/overview', t.tabs.overview],
    ['/servers/$serverId/jails', t.tabs.jails],
    ['/servers/$serverId/bans', t.tabs.bans],
    ['/servers/$serverId/commands', t.tabs.commands],
    ...(may ? ([['/servers/$serverId/settings', t.tabs.settings]] as const) : []),
  ] as const
  return (
    <Page title={name} heading={<bdi>{name}</bdi>}>
      <nav className={fleet.tabs} aria-label={t.sections}>
        {tabs.map(([to, text]) => (
          <Link key={to} to={to} params={{ serverId }}>
            {text}
          </Link>
        ))}
      </nav>
      <Trouble what={t.what} query={server} />
      {server.isPending && <Waiting />}
      {server.data && (
        <>
          {server.data.status === 'offline' && <p className={parts.warn}>{t.offline}</p>}
          <Outlet />
        </>
      )}
    </Page>
  )
}

/** The server that the tabs are of; the frame shows them only when it was read. */
const useServer = () => {
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  return useQuery(serverQuery(serverId)).data
}

export const OverviewTab = () => {
  const { may } = useMay('admin')
  const server = useServer()
  if (!server) return null
  return (
    <>
      <Overview server={server} mayAdminister={may} />
      <div className={fleet.columns}>
        <Stats serverId={server.id} />
        <Holds serverId={server.id} />
      </div>
    </>
  )
}

export const SettingsTab = () => {
  const server = useServer()
  const { may } = useMay('admin')
  if (!may) return <Forbidden needed="Admin" />
  return server ? <Settings key={server.id} server={server} /> : null
}

const Overview = ({ server, mayAdminister }: { server: Server; mayAdminister: boolean }) => {
  const t = textsOf(serverTexts)
  const { unknown } = textsOf(commonTexts)
  const uptime = server.metrics?.uptime
  return (
    <Panel>
      <div className={parts.form}>
        <State is={server.status} tinted />
        {server.status === 'pending' && (
          <p>
            {t.pending}{' '}
            {mayAdminister && (
              <Link to="/servers/new" search={{ id: server.id }}>
                {t.continue}
              </Link>
            )}
          </p>
        )}
        <div className={styles.columns}>
          <dl className={parts.details}>
            <dt>{t.lastSeen}</dt>
            <dd>{server.last_heartbeat ? <Time at={server.last_heartbeat} /> : t.never}</dd>
            <dt>{t.bans}</dt>
            <dd>{t.bansSaid(number(server.bans_today), number(server.total_bans))}</dd>
            {server.description && (
              <>
                <dt>{t.description}</dt>
                <dd>
                  <Stranger text={server.description} most={1000} />
                </dd>
              </>
            )}
            <dt>{t.load}</dt>
            <dd>
              <Metrics of={server.metrics} />
            </dd>
          </dl>
          <dl className={parts.details}>
            <dt>{t.address}</dt>
            <dd className={parts.mono}>{server.ip_address ?? unknown}</dd>
            <dt>{t.system}</dt>
            <dd>
              <Stranger text={server.os ?? unknown} most={120} />
            </dd>
            <dt>{t.engine}</dt>
            <dd>
              <Stranger text={server.engine_version ?? unknown} most={60} />
            </dd>
            <dt>{t.agent}</dt>
            <dd>
              <Stranger text={server.agent_version ?? unknown} most={60} />
            </dd>
            {typeof uptime === 'number' && (
              <>
                <dt>{t.uptime}</dt>
                <dd>{duration(uptime)}</dd>
              </>
            )}
          </dl>
        </div>
      </div>
    </Panel>
  )
}

const periodsOf = ['day', 'week', 'month'] as const

/** Its bans over time, and which jails and countries have most of them. */
const Stats = ({ serverId }: { serverId: string }) => {
  const t = textsOf(serverTexts)
  const f = textsOf(fleetTexts)
  const [period, setPeriod] = useState<Period>('day')
  const query = useQuery(serverStatsQuery(serverId, period))
  const stats = query.data
  return (
    <Panel title={t.stats.title}>
      <div className={fleet.stack}>
        <div className={fleet.line}>
          <span className={parts.muted}>
            {stats && t.stats.said(number(stats.bans_period), number(stats.previous_total), number(stats.active_now))}
          </span>
          <select
            className={parts.input}
            style={{ inlineSize: 'auto', paddingInlineEnd: 32 }}
            aria-label={f.period}
            value={period}
            onChange={event => setPeriod(periodsOf.find(known => known === event.currentTarget.value) ?? 'day')}
          >
            {periodsOf.map(known => (
              <option key={known} value={known}>
                {f.periods[known]}
              </option>
            ))}
          </select>
        </div>
        <Trouble what={t.stats.what} query={query} />
        {stats && <Bars series={stats.series} title={t.stats.chart(f.periods[period])} />}
        {stats && stats.top_jails.length > 0 && (
          <div className={fleet.columns}>
            <div>
              <h3 className={parts.help}>{t.stats.jails}</h3>
              <Ranked
                rows={stats.top_jails.slice(0, 5).map(({ name, count }) => ({
                  key: name,
                  count,
                  name: (
                    <Link to="/bans" search={{ server: serverId, jail: name, from: stats.from, to: stats.to }}>
                      <Stranger text={name} most={64} />
                    </Link>
                  ),
                }))}
              />
            </div>
            <div>
              <h3 className={parts.help}>{t.stats.countries}</h3>
              <Ranked
                rows={stats.top_countries.slice(0, 5).map(({ code, name, count }) => ({
                  key: code,
                  count,
                  name:
                    code === 'ZZ' ? (
                      name
                    ) : (
                      <Link to="/bans" search={{ server: serverId, country: code, from: stats.from, to: stats.to }}>
                        {name}
                      </Link>
                    ),
                }))}
              />
            </div>
          </div>
        )}
      </div>
    </Panel>
  )
}

/** Whether it holds the whitelist as it is now. */
const Holds = ({ serverId }: { serverId: string }) => {
  const t = textsOf(serverTexts)
  const sync = useSync()
  const row = sync.data?.servers.find(({ id }) => id === serverId)
  return (
    <Panel title={t.whitelist}>
      <Trouble what={t.whitelist} query={sync} />
      {row && (
        <ul className={fleet.lines}>
          <SyncRow server={row} />
        </ul>
      )}
      <p>
        <Link to="/whitelist" className={parts.link}>
          {t.toWhitelist}
        </Link>
      </p>
    </Panel>
  )
}
