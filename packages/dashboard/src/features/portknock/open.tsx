import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { Confirm } from '../identity/dialogs.ts'
import { Address, Left, ServerLink } from './facts.tsx'
import { KnockPage } from './knock-page.tsx'
import { KnockRows } from './knock-rows.tsx'
import { portknockTexts } from './portknock.texts.ts'
import { openingsQuery } from './queries.ts'
import type { Opening } from './queries.ts'

/** Which ports are open now, for whom, and for how long. */
export const KnockOpen = () => <KnockPage tab="open">{() => <Openings />}</KnockPage>

const close = (opening: Opening, cut: boolean) =>
  api.call('DELETE /portknock/active/{openingId}', {
    params: { openingId: opening.id },
    ...(cut ? { query: { cut: true } } : {}),
  })
const readAgain = () => queries.invalidateQueries({ queryKey: openingsQuery.queryKey })

const Openings = () => {
  const t = textsOf(portknockTexts)
  const { page = 1 } = useSearch({ from: '/inside/portknock/open' })
  const narrow = useNarrow()
  const mine = useMe()?.ip_address
  const [cutting, setCutting] = useState<Opening | null>(null)
  const [said, setSaid] = useState('')
  const query = useQuery(openingsQuery)
  const closing = useMutation({
    mutationFn: (opening: Opening) => close(opening, false),
    onSuccess: ({ message }) => setSaid(message),
    // Refused or not: it may be over already.
    onSettled: readAgain,
  })
  const cut = async (opening: Opening) => {
    setSaid((await close(opening, true)).message)
    await readAgain()
  }
  const all = query.data?.openings
  const acts = {
    onClose: (opening: Opening) => closing.mutate(opening),
    onCut: setCutting,
    busy: closing.isPending ? closing.variables.id : null,
  }
  return (
    <>
      <KnockRows
        what={t.what.open}
        lead={t.open.lead}
        empty={t.open.empty}
        said={said}
        refusal={closing.error}
        query={query}
        all={all}
        page={page}
        path="/portknock/open"
      >
        {rows => (narrow ? <Cards rows={rows} {...acts} /> : <Table rows={rows} {...acts} />)}
      </KnockRows>
      <Dialogs>
        {cutting && (
          <Confirm
            title={t.open.cutTitle}
            text={
              <>
                {t.open.cutText(cutting.protected_port, nameOf(cutting.server.hostname), cutting.ip)}
                {cutting.ip === mine && <strong> {t.open.cutYou}</strong>}
              </>
            }
            verb={t.open.cut}
            onClose={() => setCutting(null)}
            act={() => cut(cutting)}
          />
        )}
      </Dialogs>
    </>
  )
}

interface Acting {
  readonly onClose: (opening: Opening) => void
  readonly onCut: (opening: Opening) => void
  /** The one that is being closed. */
  readonly busy: string | null
}
interface Rows extends Acting {
  readonly rows: readonly Opening[]
}

const Acts = ({ opening, onClose, onCut, busy }: Acting & { opening: Opening }) => {
  const t = textsOf(portknockTexts).open
  const { may } = useMay('write')
  if (!may) return null
  const names = [opening.protected_port, nameOf(opening.server.hostname), opening.ip] as const
  return (
    <span className={`${parts.acts ?? ''} ${parts.wrapping ?? ''}`}>
      <SmallButton aria-label={t.closeOf(...names)} loading={busy === opening.id} onClick={() => onClose(opening)}>
        {t.close}
      </SmallButton>
      <SmallButton aria-label={t.cutOf(...names)} onClick={() => onCut(opening)}>
        {t.cut}
      </SmallButton>
    </span>
  )
}
const Confirmed = ({ opening }: { opening: Opening }) => {
  const t = textsOf(portknockTexts).open
  return <Mark tone={opening.confirmed ? 'ok' : 'info'}>{opening.confirmed ? t.confirmed : t.waiting}</Mark>
}

const Table = ({ rows, ...acting }: Rows) => {
  const t = textsOf(portknockTexts).open
  return (
    <PlainTable caption={t.caption} heads={headsOf(t.columns, { actions: parts.last })} frame={parts.frame}>
      {rows.map(opening => (
        <tr key={opening.id} data-opening={opening.id}>
          <td>
            <Address ip={opening.ip} />
          </td>
          <td>
            <ServerLink {...opening.server} />
          </td>
          <td>
            <Stranger text={opening.sequence_name} most={60} />
          </td>
          <td>{opening.protected_port}</td>
          <td>
            <Confirmed opening={opening} />
          </td>
          <td>
            <Left until={opening.expires_at} />
          </td>
          <td className={parts.last}>
            <Acts opening={opening} {...acting} />
          </td>
        </tr>
      ))}
    </PlainTable>
  )
}

const Cards = ({ rows, ...acting }: Rows) => {
  const t = textsOf(portknockTexts)
  return (
    <ul className={parts.cards} aria-label={t.open.caption}>
      {rows.map(opening => (
        <li key={opening.id} className={parts.card} data-opening={opening.id}>
          <div className={parts.cardTop}>
            <Address ip={opening.ip} />
            <Confirmed opening={opening} />
          </div>
          <div className={parts.facts}>
            <span>{t.sequences.protects(opening.protected_port)}</span>
            <span>
              <Left until={opening.expires_at} />
            </span>
            <span>
              <ServerLink {...opening.server} />
            </span>
            <span>
              <Stranger text={opening.sequence_name} most={60} />
            </span>
          </div>
          <Acts opening={opening} {...acting} />
        </li>
      ))}
    </ul>
  )
}
