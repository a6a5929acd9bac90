import { memo, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Link } from '@tanstack/react-router'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { useArrows } from './arrows.ts'
import type { Arrows } from './arrows.ts'
import { fleetTexts } from './fleet.texts.ts'
import { groupsOf, healthOf, worstHealth } from './health.ts'
import type { FleetGroup, Health, SummaryRow } from './health.ts'
import styles from './palisade.module.css'

/** Above this a stake is narrow, and a group is one target; above the second a group is one stake. */
const mostWide = 60
const mostStakes = 300

/** So many stakes fit on a phone. */
const mostInRow = 13
/** Rows of a phone are equally long: 14 servers are twice 7, not 13 and 1. */
const inRow = (servers: number): number => Math.ceil(servers / Math.max(1, Math.ceil(servers / mostInRow)))

/**
 * The fleet as a fence: a stake a server, grouped by role. Whole is protected, notched is degraded, broken is unprotected or
 * offline, an outline is not known yet. Each stake leads to its server and says its name, its state and the reason.
 * A ban is an arrow that sticks in the stake of its server for a minute. The fence is one stop of the Tab key; arrow keys go from stake to stake.
 */
export const Palisade = memo(({ servers }: { servers: readonly SummaryRow[] }) => {
  const t = textsOf(fleetTexts).palisade
  const groups = groupsOf(servers)
  const size = servers.length > mostStakes ? 'group' : servers.length > mostWide ? 'narrow' : 'wide'
  const arrows = useArrows(size === 'wide')
  const fence = useRef<HTMLUListElement>(null)
  const [stop, setStop] = useState(0)
  const press = (event: KeyboardEvent) => {
    const links = [...(fence.current?.querySelectorAll('a') ?? [])]
    const at = links.findIndex(link => link === document.activeElement)
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: links.length - 1 }[event.key]
    if (next === undefined || at < 0) return
    event.preventDefault()
    const link = links[Math.min(links.length - 1, Math.max(0, next))]
    if (!link) return
    setStop(links.indexOf(link))
    link.focus()
  }
  const starts = groups.map((_, index) =>
    groups.slice(0, index).reduce((sum, group) => sum + (size === 'wide' ? group.servers.length : 1), 0),
  )
  return (
    <ul
      className={styles.palisade}
      data-size={size}
      style={{ '--in-a-row': inRow(servers.length), '--stakes': servers.length }}
      aria-label={t.label}
      aria-description={t.keys}
      ref={fence}
      onKeyDown={press}
    >
      {groups.map((group, index) => (
        <Group key={group.name} group={group} size={size} stop={stop - (starts[index] ?? 0)} arrows={arrows} />
      ))}
    </ul>
  )
})

/** @param stop the link of this group that the Tab key stops at; out of range where it is another group's */
const Group = (props: { group: FleetGroup; size: 'wide' | 'narrow' | 'group'; stop: number; arrows: Arrows }) => {
  const { group, size, stop } = props
  const t = textsOf(fleetTexts).palisade
  const { name, servers } = group
  const well = servers.filter(server => healthOf(server) === 'protected').length
  const words = t.group(name, number(well), number(servers.length))
  if (size !== 'wide')
    return (
      <li>
        <Link
          to="/servers"
          search={{ q: name }}
          className={styles.stakes}
          title={words}
          aria-label={words}
          tabIndex={stop === 0 ? 0 : -1}
        >
          <i className={styles.beam} />
          {size === 'group' ? (
            <Stake health={worstHealth(servers)} wide />
          ) : (
            servers.map(server => <Stake key={server.id} health={healthOf(server)} />)
          )}
        </Link>
        <span className={styles.name} aria-hidden="true">
          <bdi>{name}</bdi>{' '}
          <i>{size === 'group' ? t.of(number(well), number(servers.length)) : number(servers.length)}</i>
        </span>
      </li>
    )
  return (
    <li style={{ '--of-group': servers.length }}>
      <span className={styles.stakes}>
        <i className={styles.beam} />
        {servers.map((server, index) => (
          <Link
            key={server.id}
            to="/servers/$serverId"
            params={{ serverId: server.id }}
            title={wordsOf(server)}
            aria-label={wordsOf(server)}
            preload={false}
            tabIndex={stop === index ? 0 : -1}
          >
            <Stake health={healthOf(server)} wide />
            {props.arrows.get(server.id)?.map(({ ban, slot }) => (
              <i key={ban} className={styles.arrow} style={{ '--slot': slot }} />
            ))}
          </Link>
        ))}
      </span>
      <span className={styles.name} aria-hidden="true">
        <bdi>{name}</bdi> <i>{number(servers.length)}</i>
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
