import type { ReactNode } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { Ban } from '../../api/queries.ts'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Ends, Time } from '../../kit/time.tsx'
import { countryName } from '../../lib/countries.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { duration } from '../../lib/time.ts'
import { stateOf } from './ban-state.ts'
import { bansTexts } from './bans.texts.ts'
import type { Column } from './columns.ts'
import { BanValue } from './narrowing.tsx'
import { ReasonText } from './reason.tsx'

/* What a ban shows in each column. */

interface Props {
  readonly ban: Ban
}

const StateCell = ({ ban }: Props) => {
  const state = stateOf(ban)
  return (
    <BanValue field="state" value={state === 'banned' ? 'active' : state} shown={textsOf(commonTexts).states[state]}>
      <State is={state} />
    </BanValue>
  )
}
const ServerCell = ({ ban: { server } }: Props) => {
  const navigate = useNavigate()
  return (
    <BanValue
      field="server"
      value={server.hostname}
      open={() => void navigate({ to: '/servers/$serverId', params: { serverId: server.id } })}
    >
      <Stranger text={server.hostname} most={80} />
    </BanValue>
  )
}
const network = ({ asn }: Ban, shown: string | null) =>
  asn && shown ? (
    <BanValue field="asn" value={asn.replace(/^AS/, '')} shown={shown}>
      <Stranger text={shown} most={80} />
    </BanValue>
  ) : null
/** The state says that a ban is over; here is since when. */
const endOf = (ban: Ban): ReactNode => {
  const over = ban.active ? null : (ban.unbanned_at ?? ban.expires_at)
  return over === null ? <Ends ban={ban} /> : <Time at={over} />
}
const firstLine = (ban: Ban): ReactNode => {
  const [line = ''] = ban.log_lines.trim().split('\n')
  return line && <Stranger text={line} most={60} />
}

/** Nothing and the empty text stand for what is not known. */
const cells: Readonly<Record<Column, (ban: Ban) => ReactNode>> = {
  server: ban => <ServerCell ban={ban} />,
  jail: ({ jail }) => (
    <BanValue field="jail" value={jail}>
      <Stranger text={jail} most={64} />
    </BanValue>
  ),
  why: ({ reason }) => <ReasonText reason={reason} />,
  network: ban => network(ban, ban.asn_org ?? ban.asn),
  asn: ban => network(ban, ban.asn),
  banned: ({ banned_at }) => <Time at={banned_at} />,
  state: ban => <StateCell ban={ban} />,
  ends: endOf,
  times: ({ occurrences }) => occurrences !== undefined && number(occurrences),
  country: ({ country }) =>
    country && (
      <BanValue field="country" value={country} shown={countryName(country)}>
        {countryName(country)}
      </BanValue>
    ),
  city: ({ city }) =>
    city && (
      <BanValue field="city" value={city}>
        <Stranger text={city} most={80} />
      </BanValue>
    ),
  duration: ({ ban_duration }) => (ban_duration === null ? textsOf(commonTexts).unknown : duration(ban_duration)),
  reported: ({ reported_to_reputation_db: isReported }) => textsOf(bansTexts)[isReported ? 'yes' : 'no'],
  score: ({ reputation_score: score }) => typeof score === 'number' && number(score),
  log: firstLine,
  id: ({ id }) => id,
}
export const Cell = ({ ban, column }: Props & { column: Column }) => (
  <>{cells[column](ban) || textsOf(commonTexts).none}</>
)
