import { Fragment } from 'react'
import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import type { Asked } from '../../kit/trouble.tsx'
import type { HeldCounts } from './held.tsx'
import { Approve } from '../commands/approve.tsx'
import styles from './held.module.css'

const tones: Readonly<Record<OpenState, Tone>> = {
  pending: 'info',
  refused: 'danger',
  not_covered: 'warn',
}
/** The states that somebody may have to act on, the worst first. */
const openStates = ['refused', 'not_covered', 'pending'] as const
export type OpenState = (typeof openStates)[number]

const countOf = (counts: HeldCounts, state: OpenState): number =>
  ({ refused: counts.failed, not_covered: counts.not_covered, pending: counts.pending })[state]

/** The servers that do not hold something, by state; a state without servers is left out. */
export const OpenStates = (props: { counts: HeldCounts; children: (state: OpenState) => ReactNode }) => (
  <ul className={styles.servers}>
    {openStates
      .filter(state => countOf(props.counts, state) > 0)
      .map(state => (
        <Fragment key={state}>{props.children(state)}</Fragment>
      ))}
  </ul>
)

interface Row {
  readonly server: { readonly id: string; readonly hostname: string }
  readonly reason: string | null
}

/** The first servers in one state, each with the reason. */
export const ServerStates = (props: {
  what: string
  query: Asked & { readonly data: { readonly servers: readonly Row[]; readonly total: number } | undefined }
  state: OpenState
  word: string
  more: (rest: number) => string
}) => {
  const { servers = [], total = 0 } = props.query.data ?? {}
  const rest = total - servers.length
  const { may } = useMay('write')
  return (
    <>
      <Trouble what={props.what} query={props.query} />
      {servers.map(({ server, reason }) => (
        <li key={server.id}>
          <Mark tone={tones[props.state]}>{props.word}</Mark>
          <Link to="/servers/$serverId" params={{ serverId: server.id }}>
            <Stranger text={server.hostname} most={60} />
          </Link>
          {reason && <Stranger text={reason} most={200} />}
          {may && <Approve server={server} error={reason} />}
        </li>
      ))}
      {rest > 0 && <li className={parts.muted}>{props.more(rest)}</li>}
    </>
  )
}
