import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { Palisade } from '../fleet/palisade.tsx'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { countHealths, healthOf, healthTones, needingAttention } from '../fleet/health.ts'
import type { SummaryRow } from '../fleet/health.ts'
import type { Period } from '../fleet/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { MomentTime } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { nameOf } from '../../lib/clip.ts'
import { number, percent } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { changeOf } from './change.ts'
import { overviewTexts } from './overview.texts.ts'
import { useCounted } from './queries.ts'
import type { Stats } from './queries.ts'
import parts from '../../kit/parts.module.css'
import styles from './hero.module.css'

const mostProblems = 5

/** Whether the fleet is protected: the sentence, the fence, and each exception with its reason on one line. */
export const Hero = (props: { period: Period; stats: Stats | undefined; failed: boolean }) => {
  const t = textsOf(overviewTexts)
  const query = useQuery(summaryQuery)
  const servers = query.data?.servers
  return (
    <section className={`${parts.raised ?? ''} ${styles.hero ?? ''}`} aria-label={t.protection}>
      <div className={styles.head}>
        <div className={styles.answer}>
          <p className={styles.say}>{servers ? sentenceOf(servers) : '…'}</p>
          <p className={styles.sub}>{servers && exceptionsOf(servers)}</p>
        </div>
        <Figures {...props} />
      </div>
      <Trouble what={t.whatFleet} query={query} />
      <div className={styles.fence}>{servers && <Palisade servers={servers} />}</div>
      {servers && <Problems servers={servers} />}
    </section>
  )
}

const sentenceOf = (servers: readonly SummaryRow[]): string => {
  const t = textsOf(overviewTexts).sentence
  const counts = countHealths(servers)
  const all = servers.length
  if (counts.protected === all) return t.all(all)
  if (counts.protected === 0 && counts.unknown + counts.pending === all) return t.unknown(all)
  return t.some(number(counts.protected), number(all), all)
}
/** `1 unprotected, 2 degraded.` */
const exceptionsOf = (servers: readonly SummaryRow[]): string => {
  const t = textsOf(overviewTexts)
  const counts = countHealths(servers)
  const parts = (['unprotected', 'degraded', 'offline', 'unknown', 'pending'] as const).flatMap(health =>
    counts[health] > 0 ? [t.exceptions[health](counts[health])] : [],
  )
  return parts.length === 0 ? t.holds : `${parts.join(', ')}.`
}

const Problems = ({ servers }: { servers: readonly SummaryRow[] }) => {
  const t = textsOf(overviewTexts)
  const bad = needingAttention(servers)
  if (bad.length === 0) return null
  return (
    <ul className={styles.problems} aria-label={t.problems}>
      {bad.slice(0, mostProblems).map(server => (
        <Problem key={server.id} server={server} />
      ))}
      {bad.length > mostProblems && (
        <li className={styles.more}>
          <Link to="/servers">{t.moreProblems(bad.length - mostProblems)}</Link>
        </li>
      )}
    </ul>
  )
}

const Problem = ({ server }: { server: SummaryRow }) => {
  const t = textsOf(overviewTexts)
  const { healths } = textsOf(fleetTexts).palisade
  const health = healthOf(server)
  const detail = health === 'offline' ? t.offlineReason : server.problem?.detail
  const since = (health === 'offline' ? null : server.problem?.since) ?? server.since
  return (
    <li className={styles.problem}>
      <span className={styles.chip} data-tone={healthTones[health]}>
        <Mark tone={healthTones[health]}>{healths[health]}</Mark>
      </span>
      <Link to="/servers/$serverId" params={{ serverId: server.id }} className={styles.server}>
        <bdi>{nameOf(server.hostname)}</bdi>
      </Link>
      <span className={styles.reason}>{detail && <Stranger text={detail} most={300} />}</span>
      <span className={styles.since}>
        {since && (
          <>
            {t.since} <MomentTime at={since} />
          </>
        )}
      </span>
      <ButtonLink
        to="/servers/$serverId"
        params={{ serverId: server.id }}
        variant="default"
        size="xs"
        className={styles.remedy ?? ''}
        aria-label={t.viewServerNamed(nameOf(server.hostname))}
      >
        {t.viewServer}
      </ButtonLink>
    </li>
  )
}

/** Bans of the period with the change, addresses banned now, and the reader's own address. */
const Figures = ({ period, stats, failed }: { period: Period; stats: Stats | undefined; failed: boolean }) => {
  const t = textsOf(overviewTexts)
  const { periods } = textsOf(fleetTexts)
  const counted = useCounted(stats)
  const later = failed ? '–' : '…'
  return (
    <dl className={styles.figures}>
      <Figure label={t.figures.bans(periods[period])}>
        {stats && counted ? (
          <>
            <Link to="/bans" search={{ from: stats.from, to: counted.to }}>
              {number(counted.bans)}
            </Link>{' '}
            <small>{changeWords(counted.bans, stats.previous_total)}</small>
          </>
        ) : (
          later
        )}
      </Figure>
      <Figure label={t.figures.now}>
        <Link to="/bans" search={{ active: 'true' }}>
          {counted ? number(counted.active) : later}
        </Link>{' '}
        {counted && <small>{t.figures.nowUnit(counted.active)}</small>}
      </Figure>
      <You />
    </dl>
  )
}
const changeWords = (count: number, before: number): string => {
  const t = textsOf(overviewTexts).change
  const change = changeOf(count, before)
  switch (change.is) {
    case 'same':
    case 'none':
      return t[change.is]
    case 'more':
    case 'less':
      return t[change.is](percent(change.percent))
    case 'manifold':
      return t.manifold(number(change.times))
  }
}
const Figure = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

/** The address that the page is asked from, and its state. */
const You = () => {
  const t = textsOf(overviewTexts)
  const { may } = useMay('write')
  const me = useMe()
  const mine = me?.addresses.find(({ current }) => current)
  const ip = mine?.ip ?? me?.ip_address
  const on = new Set(mine?.active_bans.map(ban => ban.server_id)).size
  return (
    <Figure label={t.figures.you}>
      {ip ? (
        <Link to="/ip/$addr" params={{ addr: ip }} search={{}}>
          {ip}
        </Link>
      ) : (
        '…'
      )}{' '}
      {mine && (
        <small>
          {on > 0 ? (
            <>
              <Mark tone="danger">{t.banned(on)}</Mark> {!may && me?.own_unban !== true && t.askOperator}
            </>
          ) : mine.whitelisted ? (
            <Mark tone="allow">{t.whitelisted}</Mark>
          ) : (
            <Mark tone="ok">{t.free}</Mark>
          )}
        </small>
      )}
    </Figure>
  )
}
