import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { summaryQuery } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { levelTones } from '../fleet/protection.tsx'
import { protectionTexts } from '../fleet/protection.texts.ts'
import type { Period } from '../fleet/queries.ts'
import { Mark } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { number, percent } from '../../lib/numbers.ts'
import { changeOf } from './change.ts'
import { overviewTexts } from './overview.texts.ts'
import { useCounted } from './queries.ts'
import type { Stats } from './queries.ts'
import styles from './overview.module.css'

type Summary = Reply<'GET /servers/summary'>

/** Four numbers; each leads to what it counts, within the time in which it was counted. */
export const Figures = (props: { period: Period; stats: Stats | undefined; failed: boolean }) => {
  const { period, stats, failed } = props
  const { none } = textsOf(commonTexts)
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const counted = useCounted(stats)
  const summary = useQuery(summaryQuery)
  const counts = summary.data?.counts
  // Where nothing comes any more, dots would wait for ever.
  const later = failed ? none : '…'
  return (
    <div className={styles.figures}>
      <Figure
        label={t.figures.bans(f.periods[period])}
        note={stats && counted && changeWords(counted.bans, stats.previous_total, f.periods[period])}
      >
        {stats && counted ? (
          <Link to="/bans" search={{ from: stats.from, to: counted.to }}>
            {number(counted.bans)}
          </Link>
        ) : (
          later
        )}
      </Figure>
      <Figure label={t.figures.now} note={t.everywhere}>
        <Link to="/bans" search={{ active: 'true' }}>
          {counted ? number(counted.active) : later}
        </Link>
      </Figure>
      <Figure label={t.figures.servers} note={summary.data && <Fleet {...summary.data} />}>
        <Link to="/servers" search={{}}>
          {counts
            ? t.of(number(counts.online), number(counts.online + counts.offline + counts.pending))
            : summary.isError
              ? none
              : '…'}
        </Link>
      </Figure>
      <You />
    </div>
  )
}

const changeWords = (count: number, before: number, period: string): string => {
  const t = textsOf(overviewTexts).change
  const change = changeOf(count, before)
  switch (change.is) {
    case 'same':
    case 'none':
      return t[change.is](period)
    case 'more':
    case 'less':
      return t[change.is](percent(change.percent), period)
    case 'manifold':
      return t.manifold(number(change.times), period)
  }
}

/** How many report, and how many of those are protected: each number leads to its servers. */
const Fleet = ({ counts, protection }: Pick<Summary, 'counts' | 'protection'>) => {
  const t = textsOf(overviewTexts)
  const { counted } = textsOf(protectionTexts)
  const { offline, pending, online } = counts
  // Offline and pending servers have marks of their own.
  const levels = { ...protection, unknown: Math.max(0, protection.unknown - offline - pending) }
  return (
    <span className={styles.marks}>
      {offline > 0 && <Mark tone="danger">{t.offline(offline)}</Mark>}
      {pending > 0 && <Mark tone="neutral">{t.pending(pending)}</Mark>}
      {offline + pending === 0 && online > 0 && levels.protected === online && <Mark tone="ok">{t.allWell}</Mark>}
      {(['unprotected', 'degraded', 'unknown', 'protected'] as const).map(
        level =>
          levels[level] > 0 && (
            <Link
              key={level}
              to="/servers"
              search={{ q: `protection:${level}${level === 'unknown' ? ' status:online' : ''}` }}
            >
              <Mark tone={levelTones[level]}>{counted[level](levels[level])}</Mark>
            </Link>
          ),
      )}
    </span>
  )
}

/** The address that the page is asked from, and whether it may still knock. */
const You = () => {
  const t = textsOf(overviewTexts)
  const { may } = useMay('write')
  const me = useMe()
  const mine = me?.addresses.find(({ current }) => current)
  const ip = mine?.ip ?? me?.ip_address
  const on = new Set(mine?.active_bans.map(ban => ban.server_id)).size
  return (
    <Figure
      label={t.figures.you}
      note={
        mine &&
        (on > 0 ? (
          <>
            <Mark tone="danger">{t.banned(on)}</Mark> {!may && t.askOperator}
          </>
        ) : mine.whitelisted ? (
          <Mark tone="allow">{t.whitelisted}</Mark>
        ) : (
          <Mark tone="ok">{t.free}</Mark>
        ))
      }
    >
      {ip ? (
        <Link to="/ip/$addr" params={{ addr: ip }} search={{}} className={styles.address}>
          {ip}
        </Link>
      ) : (
        '…'
      )}
    </Figure>
  )
}

const Figure = (props: { label: string; note?: ReactNode; children: ReactNode }) => (
  <div className={styles.figure}>
    <span className={styles.label}>{props.label}</span>
    <span className={styles.number}>{props.children}</span>
    <span className={styles.label}>{props.note}</span>
  </div>
)
