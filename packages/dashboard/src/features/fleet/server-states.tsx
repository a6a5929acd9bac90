import { Link } from '@tanstack/react-router'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import type { Asked } from '../../kit/trouble.tsx'

interface Row {
  readonly server: { readonly id: string; readonly hostname: string }
  readonly reason: string | null
}

/** The first servers in one state, each with the reason. */
export const ServerStates = (props: {
  what: string
  query: Asked & { readonly data: { readonly servers: readonly Row[]; readonly total: number } | undefined }
  tone: Tone
  word: string
  more: (rest: number) => string
}) => {
  const { servers = [], total = 0 } = props.query.data ?? {}
  const rest = total - servers.length
  return (
    <>
      <Trouble what={props.what} query={props.query} />
      {servers.map(({ server, reason }) => (
        <li key={server.id}>
          <Mark tone={props.tone}>{props.word}</Mark>
          <Link to="/servers/$serverId" params={{ serverId: server.id }}>
            <Stranger text={server.hostname} most={60} />
          </Link>
          {reason && <Stranger text={reason} most={200} />}
        </li>
      ))}
      {rest > 0 && <li className={parts.muted}>{props.more(rest)}</li>}
    </>
  )
}
