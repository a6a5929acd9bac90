import { memo } from 'react'
import { Link } from '@tanstack/react-router'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { fleetTexts } from './fleet.texts.ts'
import { groupsOf, healthOf, worstHealth } from './health.ts'
import type { FleetGroup, Health, SummaryRow } from './health.ts'
import styles from './palisade.module.css'

/** Above this a stake is narrow, and a group is one target; above the second a group is one stake. */
const mostWide = 60
const mostStakes = 300

/**
 * The fleet as a fence: a stake a server, grouped by role. Whole is protected, notched is degraded, broken is unprotected or
 * offline, an outline is not known yet. Each stake leads to its server and says its name, its state and the reason.
 */
export const Palisade = memo(({ servers }: { servers: readonly SummaryRow[] }) => {
  const t = textsOf(fleetTexts).palisade
  const groups = groupsOf(servers)
  const size = servers.length > mostStakes ? 'group' : servers.length > mostWide ? 'narrow' : 'wide'
  return (
    <ul className={styles.palisade} data-size={size} aria-label={t.label}>
      {groups.map(group => (
        <Group key={group.name} group={group} size={size} />
      ))}
    </ul>
  )
})

const Group = ({ group, size }: { group: FleetGroup; size: 'wide' | 'narrow' | 'group' }) => {
  const t = textsOf(fleetTexts).palisade
  const { name, servers } = group
  const well = servers.filter(server => healthOf(server) === 'protected').length
  const words = t.group(name, number(well), number(servers.length))
  if (size !== 'wide')
    return (
      <li>
        <Link to="/servers" search={{ q: name }} className={styles.stakes} title={words} aria-label={words}>
          <i className={styles.beam} />
          {size === 'group' ? (
            <Stake health={worstHealth(servers)} wide />
          ) : (
            servers.map(server => <Stake key={server.id} health={healthOf(server)} />)
          )}
        </Link>
        <span className={styles.name} aria-hidden="true">
          {name} <i>{size === 'group' ? t.of(number(well), number(servers.length)) : number(servers.length)}</i>
        </span>
      </li>
    )
  return (
    <li>
      <span className={styles.stakes}>
        <i className={styles.beam} />
        {servers.map(server => (
          <Link
            key={server.id}
            to="/servers/$serverId"
            params={{ serverId: server.id }}
            title={wordsOf(server)}
            aria-label={wordsOf(server)}
            preload={false}
          >
            <Stake health={healthOf(server)} wide />
          </Link>
        ))}
      </span>
      <span className={styles.name} aria-hidden="true">
        {name} <i>{number(servers.length)}</i>
      </span>
    </li>
  )
}

/** `web-06: Degraded. /var/log/nginx/error.log is silent.` */
const wordsOf = (server: SummaryRow): string => {
  const t = textsOf(fleetTexts).palisade
  const health = healthOf(server)
  const reason = health === 'unprotected' || health === 'degraded' ? (server.problem?.detail ?? null) : null
  return t.server(nameOf(server.hostname), t.healths[health], reason?.slice(0, 200) ?? null)
}

const shapes: Record<Health, string> = {
  protected: 'M5 50V10.3L12.5 3L20 10.3V50z',
  degraded: 'M5 50V10.3L12.5 3L20 10.3V21L12.5 26L20 31V50z',
  unprotected: 'M5 50V31L8.6 35L12.5 29.5L16.4 35L20 31V50z',
  offline: 'M5.75 49.25V10.6L12.5 4L19.25 10.6V49.25z',
  unknown: 'M5.75 49.25V10.6L12.5 4L19.25 10.6V49.25z',
  pending: 'M5.75 49.25V10.6L12.5 4L19.25 10.6V49.25z',
}
const Stake = ({ health, wide = false }: { health: Health; wide?: boolean }) => (
  <svg
    className={styles.stake}
    data-health={health}
    viewBox={wide ? '0 0 25 50' : '4 0 17 50'}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <path d={shapes[health]} />
    {health === 'unprotected' && <rect x="8.5" y="14" width="8" height="8" rx="1.5" />}
  </svg>
)
