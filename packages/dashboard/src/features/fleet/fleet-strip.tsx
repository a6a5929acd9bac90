import { useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { protectionTexts } from './protection.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import styles from '../../kit/charts/charts.module.css'

type Server = Reply<'GET /servers/summary'>['servers'][number]

/** What is wrong comes first. */
const order = ['offline', 'pending', 'online'] as const
const mostNamed = 25

/** Only a server that is online and protected is a green circle. */
const Shape = ({ of: { status, protection } }: { of: Server }) => {
  const is = status === 'online' ? protection : status
  return (
    <svg viewBox="0 0 14 14" aria-hidden="true">
      {is === 'protected' && <circle className={styles.online} cx="7" cy="7" r="6" />}
      {is === 'degraded' && <path className={styles.degraded} d="M7 1 13 13H1z" />}
      {(is === 'offline' || is === 'unprotected') && (
        <rect className={styles.offline} x="1" y="1" width="12" height="12" rx="1" />
      )}
      {(is === 'pending' || is === 'unknown') && <circle className={styles.pending} cx="7" cy="7" r="5" />}
    </svg>
  )
}
/** The state in words, with the level where the server is online. */
const stateOf = ({ status, protection }: Server): string => {
  const state = textsOf(commonTexts).states[status]
  return status === 'online' ? `${state}, ${textsOf(protectionTexts).levels[protection]}` : state
}

/** Every server as a cell, by state; with their names where there are few. */
export const FleetStrip = ({ servers }: { servers: readonly Server[] }) => {
  const t = textsOf(chartsTexts).fleet
  const { states } = textsOf(commonTexts)
  const named = servers.length <= mostNamed
  return (
    <div className={styles.fleet}>
      {order.map(status => {
        const some = servers.filter(server => server.status === status)
        if (some.length === 0) return null
        const words = t.group(states[status], number(some.length))
        return (
          <div key={status}>
            <h3>
              <Link to="/servers" search={{ status }}>
                {words}
              </Link>
            </h3>
            {named ? <Names servers={some} label={words} /> : <Cells servers={some} label={words} />}
          </div>
        )
      })}
    </div>
  )
}

interface Some {
  readonly servers: readonly Server[]
  readonly label: string
}
const Names = ({ servers, label }: Some) => (
  <ul className={styles.named} aria-label={label}>
    {servers.map(server => (
      <li key={server.id}>
        <Link to="/servers/$serverId" params={{ serverId: server.id }} title={stateOf(server)}>
          <Shape of={server} />
          <bdi>{nameOf(server.hostname)}</bdi>
        </Link>
      </li>
    ))}
  </ul>
)

/** Hundreds of links take one stop of the Tab key; arrows go on from there. */
const Cells = ({ servers, label }: Some) => {
  const t = textsOf(chartsTexts).fleet
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const press = (event: KeyboardEvent) => {
    const cells = [...(list.current?.querySelectorAll('a') ?? [])]
    const here = cells.findIndex(cell => cell === document.activeElement)
    const first = cells[0]?.offsetTop
    const across = Math.max(1, cells.filter(cell => cell.offsetTop === first).length)
    const to = {
      ArrowRight: here + 1,
      ArrowLeft: here - 1,
      ArrowDown: here + across,
      ArrowUp: here - across,
      Home: 0,
      End: cells.length - 1,
    }[event.key]
    if (to === undefined || here === -1) return
    event.preventDefault()
    const next = Math.min(cells.length - 1, Math.max(0, to))
    setAt(next)
    cells[next]?.focus()
  }
  const reachable = Math.min(at, servers.length - 1)
  return (
    <ul className={styles.cells} aria-label={label} title={t.keys} ref={list} onKeyDown={press}>
      {servers.map((server, index) => (
        <li key={server.id}>
          <Link
            to="/servers/$serverId"
            params={{ serverId: server.id }}
            className={styles.cell}
            preload={false}
            tabIndex={index === reachable ? 0 : -1}
            title={clip(server.hostname, 253).shown}
            aria-label={t.server(nameOf(server.hostname), stateOf(server))}
          >
            <Shape of={server} />
          </Link>
        </li>
      ))}
    </ul>
  )
}
