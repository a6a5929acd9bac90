import type { ReactNode } from 'react'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { Bars, Ranked } from '../../fleet/bars.tsx'
import { fleetTexts } from '../../fleet/fleet.texts.ts'
import fleet from '../../fleet/fleet.module.css'
import { banStatsQuery, lookUpQuery } from '../../fleet/queries.ts'
import type { Period } from '../../fleet/queries.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { Mark, State } from '../../parts/state.tsx'
import { Stranger } from '../../parts/stranger.tsx'
import { Time } from '../../parts/time.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { readRange } from '../../words/address.ts'
import { nameOf } from '../../words/clip.ts'
import { number } from '../../words/numbers.ts'
import { stateOf } from '../bans/ban-state.ts'
import { bansQuery } from '../bans/bans-list.ts'
import { overviewTexts } from './overview.texts.ts'
import styles from './overview.module.css'

const periods = ['day', 'week', 'month'] as const

/** Does everything work, is anything unusual, am I affected. */
export const Overview = () => {
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const { period = 'day' } = useSearch({ from: '/inside/' })
  const navigate = useNavigate()
  const { may } = useMay('admin')
  const summary = useQuery(summaryQuery)
  const none = summary.data?.servers.length === 0
  return (
    <Page title={t.title}>
      <Trouble what={t.fleet} query={summary} />
      {summary.isPending && <Waiting />}
      {none && (
        <div className={parts.empty}>
          <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
          <p>{may ? t.empty : t.emptyForOthers}</p>
          {may && (
            <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
              {t.add}
            </ButtonLink>
          )}
        </div>
      )}
      {summary.data && !none && (
        <>
          <div className={parts.row} role="group" aria-label={f.period}>
            {periods.map(known => (
              <button
                key={known}
                type="button"
                className={`${parts.chip ?? ''} ${styles.period ?? ''}`}
                aria-pressed={known === period}
                onClick={() => void navigate({ to: '/', search: known === 'day' ? {} : { period: known } })}
              >
                {f.periods[known]}
              </button>
            ))}
          </div>
          <Filled period={period} />
        </>
      )}
    </Page>
  )
}

const Filled = ({ period }: { period: Period }) => {
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const mine = useMe()?.ip_address ?? ''
  const query = useQuery({ ...banStatsQuery(period), refetchInterval: 60_000 })
  const stats = query.data
  const counts = useQuery(summaryQuery).data?.counts
  const own = useQuery({ ...lookUpQuery(mine), enabled: readRange(mine) !== null }).data
  const exact = stats ? { from: stats.from, to: stats.to } : {}
  return (
    <>
      <Trouble what={t.what} query={query} />
      <div className={styles.figures}>
        <Figure
          label={t.figures.bans(f.periods[period])}
          note={
            stats &&
            `${t.unique(number(stats.unique_ips), stats.unique_ips)} · ${t.before(number(stats.previous_total))}`
          }
        >
          <Link to="/bans" search={exact}>
            {stats ? number(stats.total_bans) : '…'}
          </Link>
        </Figure>
        <Figure label={t.figures.now} note={t.everywhere}>
          <Link to="/bans" search={{ active: 'true' }}>
            {stats ? number(stats.active_now) : '…'}
          </Link>
        </Figure>
        <Figure
          label={t.figures.servers}
          note={
            counts &&
            (counts.offline > 0 ? (
              <Mark tone="danger">{t.offline(counts.offline)}</Mark>
            ) : counts.pending > 0 ? (
              <Mark tone="neutral">{t.pending(counts.pending)}</Mark>
            ) : (
              <Mark tone="ok">{t.allWell}</Mark>
            ))
          }
        >
          <Link to="/servers" search={{}}>
            {counts ? t.of(counts.online, counts.online + counts.offline + counts.pending) : '…'}
          </Link>
        </Figure>
        <Figure
          label={t.figures.you}
          note={
            own &&
            (own.active_bans.length > 0 ? (
              <Mark tone="danger">{t.banned(new Set(own.active_bans.map(ban => ban.server_id)).size)}</Mark>
            ) : own.is_whitelisted ? (
              <Mark tone="allow">{t.whitelisted}</Mark>
            ) : (
              <Mark tone="neutral">{t.free}</Mark>
            ))
          }
        >
          <Link to="/ip/$addr" params={{ addr: mine }} search={{}} className={styles.address}>
            {mine}
          </Link>
        </Figure>
      </div>
      <Panel title={t.chart}>
        {stats ? <Bars series={stats.series} title={t.chartOf(f.periods[period])} /> : <Waiting lines={4} />}
      </Panel>
      <div className={fleet.columns}>
        <Panel title={t.jails}>
          {stats?.bans_by_jail.length === 0 && <p className={parts.muted}>{t.none}</p>}
          <Ranked
            rows={(stats?.bans_by_jail ?? []).slice(0, 5).map(({ jail, count }) => ({
              key: jail,
              count,
              name: (
                <Link to="/bans" search={{ jail, ...exact }}>
                  <Stranger text={jail} most={64} />
                </Link>
              ),
            }))}
          />
        </Panel>
        <Panel title={t.countries}>
          {stats?.bans_by_country.length === 0 && <p className={parts.muted}>{t.none}</p>}
          <Ranked
            rows={(stats?.bans_by_country ?? []).slice(0, 5).map(({ code, name, count }) => ({
              key: code,
              count,
              // Unknown places have no country to filter by.
              name:
                code === 'ZZ' ? (
                  name
                ) : (
                  <Link to="/bans" search={{ country: code, ...exact }}>
                    {name}
                  </Link>
                ),
            }))}
          />
        </Panel>
      </div>
      <div className={fleet.columns}>
        <Fleet />
        <Last />
      </div>
    </>
  )
}

const Figure = (props: { label: string; note?: ReactNode; children: ReactNode }) => (
  <div className={styles.figure}>
    <span className={styles.label}>{props.label}</span>
    <span className={styles.number}>{props.children}</span>
    <span className={styles.label}>{props.note}</span>
  </div>
)

/** The one notice that must not be missed, with the way out in it. */
const urgency = { offline: 0, pending: 1, online: 2 } as const
const shown = 60
const Fleet = () => {
  const t = textsOf(overviewTexts)
  const servers = [...(useQuery(summaryQuery).data?.servers ?? [])].sort(
    (a, b) => urgency[a.status] - urgency[b.status],
  )
  return (
    <Panel title={t.fleet}>
      <ul className={styles.fleet}>
        {servers.slice(0, shown).map(({ id, hostname, status }) => (
          <li key={id}>
            <Link to="/servers/$serverId" params={{ serverId: id }}>
              <State is={status} word={nameOf(hostname)} />
              <span className={parts.hidden}>{status}</span>
            </Link>
          </li>
        ))}
        {servers.length > shown && (
          <li>
            <Link to="/servers" search={{}}>
              {t.more(servers.length - shown)}
            </Link>
          </li>
        )}
      </ul>
    </Panel>
  )
}

const newest = {}
const Last = () => {
  const t = textsOf(overviewTexts)
  const bans = useQuery({ ...bansQuery(newest), refetchInterval: 10_000 }).data?.bans.slice(0, 8)
  return (
    <Panel title={t.last}>
      {bans?.length === 0 && <p className={parts.muted}>{t.none}</p>}
      <ul className={fleet.lines}>
        {bans?.map(ban => (
          <li key={ban.id}>
            <span>
              <Link to="/ip/$addr" params={{ addr: ban.ip }} search={{}} className={parts.mono}>
                {ban.ip}
              </Link>{' '}
              <span className={parts.muted}>
                <Stranger text={ban.jail} most={64} /> · <Stranger text={ban.server.hostname} most={60} /> ·{' '}
                <Time at={ban.banned_at} />
              </span>
            </span>
            <State is={stateOf(ban)} />
          </li>
        ))}
      </ul>
      <Link to="/bans" search={{}} className={parts.link}>
        {t.allBans}
      </Link>
    </Panel>
  )
}
