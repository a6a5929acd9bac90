import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { serverQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { barsOf } from '../../kit/charts/bars.ts'
import { Later } from '../../kit/charts/later.tsx'
import { Legend } from '../../kit/charts/legend.tsx'
import { loadOverTime } from '../bans/load-over-time.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import fleet from '../fleet/fleet.module.css'
import { CheckChain } from '../fleet/check-chain.tsx'
import { ProtectionMark, ServerState } from '../fleet/protection.tsx'
import { SelfTestPanel } from '../fleet/self-test.tsx'
import { serverStatsQuery } from '../fleet/queries.ts'
import type { Period } from '../fleet/queries.ts'
import { useKeys } from '../../kit/keys.ts'
import { useWords } from '../../kit/now.ts'
import { Flag } from '../../kit/flag.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import { Ranking } from '../../kit/ranking.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { Forbidden } from '../navigation/lone-pages.tsx'
import { shellTexts } from '../navigation/shell.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { countryName } from '../../lib/countries.ts'
import { number } from '../../lib/numbers.ts'
import { ago, clockTime, duration, shortDate } from '../../lib/time.ts'
import { ServerValue } from '../servers/narrowing.tsx'
import { useSync } from '../fleet/sync.ts'
import { SyncRow } from '../whitelist/sync-panel.tsx'
import { Cloned, Quarantined, SealedFact } from './guard.tsx'
import { ServerHead, ServerHeadRoom } from './head.tsx'
import { Levels } from './levels.tsx'
import { Settings } from './settings.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'

/** One host: is it well, what does it guard, what was done to it. The frame; each tab is a page of its own. */
export const ServerPage = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const server = useQuery({ ...serverQuery(serverId), refetchInterval: every(30_000) })
  const { may } = useMay('admin')
  useTabKeys(serverId, may)
  const status = statusOf(server.error)
  if (status === 403) return <Forbidden />
  if (status === 404 || status === 400)
    return (
      <Page title={t.title}>
        <div className={parts.empty}>
          <p>{t.gone}</p>
          <div className={parts.row}>
            <Link to="/servers" search={{}}>
              {t.all}
            </Link>
            {status === 404 && (
              <Link to="/bans" search={{ server: serverId }}>
                {t.itsBans}
              </Link>
            )}
          </div>
        </div>
      </Page>
    )
  const name = server.data ? nameOf(server.data.hostname) : t.title
  return (
    <Page title={name} heading={<bdi>{name}</bdi>} above={<Link to="/servers">{textsOf(shellTexts).servers}</Link>}>
      {server.data ? <ServerHead server={server.data} /> : server.isPending && <ServerHeadRoom />}
      <nav className={fleet.tabs} aria-label={t.sections}>
        {tabsFor(may).map(name => (
          <Link key={name} to={`/servers/$serverId/${name}`} params={{ serverId }}>
            {t.tabs[name]}
          </Link>
        ))}
      </nav>
      <Trouble what={t.what} query={server} />
      {server.isPending && <Waiting />}
      {server.data && <Quarantined quarantined={server.data.quarantined} />}
      {server.data && <Cloned server={server.data} maySettle={may} />}
      {server.data?.status === 'offline' && <Away since={server.data.last_heartbeat} />}
      {/* The tabs ask for what is theirs: where the server itself was not read, they may be. */}
      {!server.isPending && <Outlet />}
    </Page>
  )
}

const tabs = ['overview', 'jails', 'bans', 'commands', 'settings'] as const
const tabsFor = (mayAdminister: boolean) => (mayAdminister ? tabs : tabs.slice(0, 4))
/** 1 to 5 lead to the tabs, in their order. */
const useTabKeys = (serverId: string, mayAdminister: boolean) => {
  const t = textsOf(serverTexts)
  const navigate = useNavigate()
  const keys = useMemo(
    () =>
      tabsFor(mayAdminister).map((name, index) => ({
        key: String(index + 1),
        text: t.toTab(t.tabs[name]),
        act: () => void navigate({ to: `/servers/$serverId/${name}`, params: { serverId } }),
      })),
    [serverId, mayAdminister, navigate, t],
  )
  useKeys(keys)
}

/** Since when it is away, and what that means for what is asked of it. */
const Away = ({ since }: { since: string | null }) => {
  const t = textsOf(serverTexts)
  const words = useWords(now => {
    if (since === null) return ''
    const at = Date.parse(since)
    const isRecent = now - at < 86_400_000
    return isRecent ? t.seenLately(clockTime(at), ago(at, now)) : t.seen(shortDate(at, now))
  })
  return (
    <p className={parts.warn}>
      {words} {t.offline}
    </p>
  )
}

/** The server that the tabs are of; the frame asks for it. */
const useServer = () => {
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  return useQuery({ ...serverQuery(serverId), enabled: false }).data
}

export const OverviewTab = () => {
  const { may } = useMay('admin')
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const server = useServer()
  return (
    <>
      {server && <CheckChain server={server} />}
      {server && server.status !== 'pending' && <Levels server={server} />}
      <Stats serverId={serverId} />
      <div className={styles.top}>
        <div className={fleet.stack}>
          {server && <Overview server={server} mayAdminister={may} />}
          {server?.status === 'online' && <SelfTestPanel server={server} />}
        </div>
        <Holds serverId={serverId} />
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

/** Asks for all servers that have the same. */
const Fact = ({ field, value }: { field: 'os' | 'engine' | 'agent'; value: string | null }) =>
  value === null ? (
    textsOf(commonTexts).unknown
  ) : (
    <ServerValue field={field} value={value} shown={clip(value, 120).shown}>
      <Stranger text={value} most={120} />
    </ServerValue>
  )

const Overview = ({ server, mayAdminister }: { server: Server; mayAdminister: boolean }) => {
  const t = textsOf(serverTexts)
  const { unknown } = textsOf(commonTexts)
  const uptime = server.metrics?.uptime
  return (
    <Panel>
      <div className={parts.form}>
        <div className={parts.row}>
          <ServerValue field="status" value={server.status} shown={textsOf(commonTexts).states[server.status]}>
            <ServerState server={server} tinted />
          </ServerValue>
          <ProtectionMark server={server} />
          <span className={parts.muted}>
            {server.last_heartbeat ? (
              <>
                {t.heard} <Time at={server.last_heartbeat} />
              </>
            ) : (
              <>
                {t.added} <Time at={server.created_at} />
              </>
            )}
          </span>
        </div>
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
          </dl>
          <dl className={parts.details}>
            <dt>{t.address}</dt>
            <dd className={parts.mono}>
              {server.ip_address ? (
                <ServerValue
                  field="ip"
                  value={server.ip_address}
                  link={
                    <Link to="/ip/$addr" params={{ addr: server.ip_address }} search={{}}>
                      {server.ip_address}
                    </Link>
                  }
                />
              ) : (
                unknown
              )}
            </dd>
            <dt>{t.system}</dt>
            <dd>
              <Fact field="os" value={server.os} />
            </dd>
            <dt>{t.engine}</dt>
            <dd>
              <Fact field="engine" value={server.engine_version} />
            </dd>
            <dt>{t.agent}</dt>
            <dd>
              <Fact field="agent" value={server.agent_version} />
            </dd>
            {server.policy?.state === 'unreadable' && (
              <>
                <dt>{t.policy}</dt>
                <dd>{t.policyUnreadable(server.policy.error ?? '')}</dd>
              </>
            )}
            <SealedFact sealed={server.sealed} />
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
    <Panel title={t.stats.title} aside={<Legend names={names} />}>
      <div className={fleet.stack}>
        <div className={fleet.line}>
          <span className={parts.muted}>
            {stats && (
              <>
                <Link to="/bans" search={{ ...own, from: stats.from, to: stats.to }} className={parts.link}>
                  {t.stats.bans(number(stats.bans_period), stats.bans_period)}
                </Link>
                {t.stats.before(number(stats.previous_total))}{' '}
                <Link to="/bans" search={{ ...own, active: 'true' }} className={parts.link}>
                  {t.stats.now(number(stats.active_now))}
                </Link>
              </>
            )}
          </span>
          <Segmented
            label={f.period}
            value={period}
            onChange={setPeriod}
            options={periodsOf.map(known => ({ value: known, text: f.periods[known] }))}
          />
        </div>
        <Trouble what={t.stats.what} query={query} />
        {stats ? (
          <Later
            load={loadOverTime}
            given={{ title: t.stats.chart(f.periods[period]), bars, names, search: own }}
            room={room}
          />
        ) : (
          room
        )}
        {stats && stats.bans_period > 0 && (
          <div className={fleet.columns}>
            <div>
              <h3 className={parts.help}>{t.stats.jails}</h3>
              <Ranking
                total={stats.bans_period}
                rows={stats.top_jails.slice(0, 5).map(({ name, count }) => ({
                  key: name,
                  count,
                  name: (
                    <Link to="/bans" search={{ ...own, from: stats.from, to: stats.to, jail: name }}>
                      <Stranger text={name} most={64} />
                    </Link>
                  ),
                }))}
              />
            </div>
            <div>
              <h3 className={parts.help}>{t.stats.countries}</h3>
              <Ranking
                total={stats.bans_period}
                rows={stats.top_countries.slice(0, 5).map(({ code, name, count }) => ({
                  key: code,
                  count,
                  name:
                    code === 'ZZ' ? (
                      name
                    ) : (
                      <>
                        <Flag code={code} />
                        <Link to="/bans" search={{ ...own, from: stats.from, to: stats.to, country: code }}>
                          {countryName(code)}
                        </Link>
                      </>
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
const room = <div className={styles.chartRoom} />

/** Whether it holds the whitelist as it is now. */
const Holds = ({ serverId }: { serverId: string }) => {
  const t = textsOf(serverTexts)
  const sync = useSync()
  const row = sync.data?.servers.find(({ id }) => id === serverId)
  return (
    <Panel title={t.whitelist}>
      <Trouble what={t.whatWhitelist} query={sync} />
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
