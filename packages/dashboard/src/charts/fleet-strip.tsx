import { useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { textsOf } from '../texts/catalogue.ts'
import { commonTexts } from '../texts/common.texts.ts'
import { clip, nameOf } from '../words/clip.ts'
import { number } from '../words/numbers.ts'
import { chartsTexts } from './charts.texts.ts'
import styles from './charts.module.css'

type Server = Reply<'GET /servers/summary'>['servers'][number]
type Status = Server['status']

/** What is wrong comes first. */
const order = ['offline', 'pending', 'online'] as const
const mostNamed = 25

const Shape = ({ is }: { is: Status }) => (
  <svg viewBox="0 0 14 14" aria-hidden="true">
    {is === 'online' && <circle className={styles.online} cx="7" cy="7" r="6" />}
    {is === 'offline' && <rect className={styles.offline} x="1" y="1" width="12" height="12" rx="1" />}
    {is === 'pending' && <circle className={styles.pending} cx="7" cy="7" r="5" />}
  </svg>
)

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
    {servers.map(({ id, hostname, status }) => (
      <li key={id}>
        <Link to="/servers/$serverId" params={{ serverId: id }}>
          <Shape is={status} />
          <bdi>{nameOf(hostname)}</bdi>
        </Link>
      </li>
    ))}
  </ul>
)

/** Hundreds of links take one stop of the Tab key; arrows go on from there. */
const Cells = ({ servers, label }: Some) => {
  const t = textsOf(chartsTexts).fleet
  const { states } = textsOf(commonTexts)
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
      {servers.map(({ id, hostname, status }, index) => (
        <li key={id}>
          <Link
            to="/servers/$serverId"
            params={{ serverId: id }}
            className={styles.cell}
            preload={false}
            tabIndex={index === reachable ? 0 : -1}
            title={clip(hostname, 253).shown}
            aria-label={t.server(nameOf(hostname), states[status])}
          >
            <Shape is={status} />
          </Link>
        </li>
      ))}
    </ul>
  )
}
