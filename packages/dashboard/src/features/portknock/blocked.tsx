import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { Confirm } from '../identity/dialogs.ts'
import { Address, Left, ServerLink } from './facts.tsx'
import { KnockPage } from './knock-page.tsx'
import { KnockRows } from './knock-rows.tsx'
import { portknockTexts } from './portknock.texts.ts'
import { blockedQuery } from './queries.ts'
import type { Blocked } from './queries.ts'

/** Addresses blocked after too many wrong sequences, and a way to unblock them. */
export const KnockBlocked = () => <KnockPage tab="blocked">{() => <List />}</KnockPage>

interface Wish {
  readonly ip: string
  /** Without it on all servers. */
  readonly serverId?: string
}
const unblock = ({ ip, serverId }: Wish) =>
  api.call('DELETE /portknock/blocked/{ip}', {
    params: { ip },
    ...(serverId ? { query: { server_id: serverId } } : {}),
  })
const readAgain = () => queries.invalidateQueries({ queryKey: blockedQuery.queryKey })
const keyOf = (row: Blocked) => `${row.ip} ${row.server_id} ${row.sequence_name}`

const List = () => {
  const t = textsOf(portknockTexts)
  const { page = 1 } = useSearch({ from: '/inside/portknock/blocked' })
  const narrow = useNarrow()
  const [everywhere, setEverywhere] = useState<string | null>(null)
  const [said, setSaid] = useState('')
  const query = useQuery(blockedQuery)
  const lifting = useMutation({
    mutationFn: unblock,
    onSuccess: ({ message }) => setSaid(message),
    // Refused or not: it may be over already.
    onSettled: readAgain,
  })
  const lift = async (ip: string) => {
    setSaid((await unblock({ ip })).message)
    await readAgain()
  }
  const all = query.data?.blocked
  const serversOf = (ip: string) =>
    new Set((all ?? []).filter(row => row.ip === ip).map(({ server_id }) => server_id)).size
  const acting: Acting = {
    serversOf,
    onHere: row => lifting.mutate({ ip: row.ip, serverId: row.server_id }),
    onEverywhere: setEverywhere,
    busy: lifting.isPending ? lifting.variables : null,
  }
  return (
    <>
      <KnockRows
        what={t.what.blocked}
        lead={t.blocked.lead}
        empty={t.blocked.empty}
        said={said}
        refusal={lifting.error}
        query={query}
        all={all}
        page={page}
        path="/portknock/blocked"
      >
        {rows => (narrow ? <Cards rows={rows} {...acting} /> : <Table rows={rows} {...acting} />)}
      </KnockRows>
      <Dialogs>
        {everywhere !== null && (
          <Confirm
            title={t.blocked.everywhereTitle}
            text={t.blocked.everywhereText(everywhere, serversOf(everywhere))}
            verb={t.blocked.everywhereNow(serversOf(everywhere))}
            onClose={() => setEverywhere(null)}
            act={() => lift(everywhere)}
          />
        )}
      </Dialogs>
    </>
  )
}

interface Acting {
  /** On how many servers an address is blocked. */
  readonly serversOf: (ip: string) => number
  readonly onHere: (row: Blocked) => void
  readonly onEverywhere: (ip: string) => void
  readonly busy: Wish | null
}
interface Rows extends Acting {
  readonly rows: readonly Blocked[]
}

const useHostname = () => {
  const servers = useQuery(summaryQuery).data?.servers
  return (serverId: string) =>
    servers?.find(({ id }) => id === serverId)?.hostname ?? (servers ? textsOf(portknockTexts).removedServer : '…')
}

const Acts = ({ row, serversOf, onHere, onEverywhere, busy }: Acting & { row: Blocked }) => {
  const t = textsOf(portknockTexts).blocked
  const { may } = useMay('write')
  const hostnameOf = useHostname()
  if (!may) return null
  return (
    <span className={`${parts.acts ?? ''} ${parts.wrapping ?? ''}`}>
      <SmallButton
        aria-label={t.hereOf(row.ip, nameOf(hostnameOf(row.server_id)))}
        loading={busy?.ip === row.ip && busy.serverId === row.server_id}
        onClick={() => onHere(row)}
      >
        {t.here}
      </SmallButton>
      {serversOf(row.ip) > 1 && (
        <SmallButton aria-label={t.everywhereOf(row.ip)} onClick={() => onEverywhere(row.ip)}>
          {t.everywhere}
        </SmallButton>
      )}
    </span>
  )
}

const Table = ({ rows, ...acting }: Rows) => {
  const t = textsOf(portknockTexts).blocked
  const hostnameOf = useHostname()
  return (
    <PlainTable caption={t.caption} heads={headsOf(t.columns, { actions: parts.last })} frame={parts.frame}>
      {rows.map(row => (
        <tr key={keyOf(row)} data-blocked={row.ip}>
          <td>
            <Address ip={row.ip} />
          </td>
          <td>
            <ServerLink id={row.server_id} hostname={hostnameOf(row.server_id)} />
          </td>
          <td>
            <Stranger text={row.sequence_name} most={60} />
          </td>
          <td>{number(row.failed_attempts)}</td>
          <td>
            <Time at={row.blocked_at} />
          </td>
          <td>
            <Left until={row.expires_at} />
          </td>
          <td className={parts.last}>
            <Acts row={row} {...acting} />
          </td>
        </tr>
      ))}
    </PlainTable>
  )
}

const Cards = ({ rows, ...acting }: Rows) => {
  const t = textsOf(portknockTexts).blocked
  const hostnameOf = useHostname()
  return (
    <ul className={parts.cards} aria-label={t.caption}>
      {rows.map(row => (
        <li key={keyOf(row)} className={parts.card} data-blocked={row.ip}>
          <div className={parts.cardTop}>
            <Address ip={row.ip} />
            <Left until={row.expires_at} />
          </div>
          <div className={parts.facts}>
            <span>{t.attempts(row.failed_attempts)}</span>
            <span>
              <ServerLink id={row.server_id} hostname={hostnameOf(row.server_id)} />
            </span>
            <span>
              <Stranger text={row.sequence_name} most={60} />
            </span>
            <span>
              <Time at={row.blocked_at} />
            </span>
          </div>
          <Acts row={row} {...acting} />
        </li>
      ))}
    </ul>
  )
}
