import { useState } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { LookUp } from '../fleet/queries.ts'
import { Flag } from '../../kit/flag.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { shortDay } from '../../lib/time.ts'
import { useWords } from '../../kit/now.ts'
import { BanValue } from '../bans/narrowing.tsx'
import { ipTexts } from './ip.texts.ts'
import styles from './ip.module.css'

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const riskOf = (score: number) => (score >= 75 ? 'high' : score >= 25 ? 'medium' : 'low')
const tones = { high: 'warn', medium: 'warn', low: 'neutral' } as const

/** What the reputation database and the own fleet know of it. */
export const Reputation = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const { reputation, total_bans, ban_history } = found
  const dropped = ban_history.flatMap(({ dropped_packets }) => (dropped_packets === null ? [] : [dropped_packets]))
  const oldest = ban_history.at(-1)
  const whole = ban_history.length === total_bans
  const since = useWords(now => (oldest && whole ? shortDay(Date.parse(oldest.banned_at), now) : ''))
  if (!reputation && total_bans === 0) return null
  const risk = reputation && riskOf(reputation.score)
  const bans = t.times(number(total_bans), total_bans)
  return (
    <Panel title={t.reputationTitle} aside={risk && <Mark tone={tones[risk]}>{t.risk[risk]}</Mark>}>
      {reputation && (
        <div className={styles.score}>
          <span>AbuseIPDB</span>
          <span>
            <b>{reputation.score}</b> {t.ofHundred(number(reputation.reports), reputation.reports)}
          </span>
          <span className={styles.meter} data-risk={risk} aria-hidden="true">
            <i style={{ inlineSize: `${reputation.score}%` }} />
          </span>
        </div>
      )}
      <dl className={styles.facts}>
        {total_bans > 0 && (
          <Fact name={t.fleet}>
            <Link to="/bans" search={{ ip: found.ip, by: 'bans' }}>
              {since === '' ? bans : t.bansSince(bans, since)}
            </Link>
          </Fact>
        )}
        {dropped.length > 0 && (
          <Fact name={t.dropped}>{number(dropped.reduce((sum, packets) => sum + packets, 0))}</Fact>
        )}
        {reputation?.last_reported && (
          <Fact name={t.lastReported}>
            <Time at={reputation.last_reported} />
          </Fact>
        )}
      </dl>
    </Panel>
  )
}

/** Where it is, whose it is, and when it was banned. */
export const About = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const place = [found.city, found.country_name ?? found.country].filter(Boolean).join(', ')
  const network = [found.asn, found.asn_org].filter(Boolean).join(' ')
  const oldest = found.ban_history.at(-1)
  const newest = found.ban_history[0]
  // The history may be longer than what is shown of it.
  const whole = found.ban_history.length === found.total_bans
  return (
    <Panel title={t.about}>
      <dl className={styles.facts}>
        <Fact name={t.place}>
          <PlaceOf country={found.country} place={place} />
        </Fact>
        <Fact name={t.network}>
          <NetworkOf asn={found.asn} network={network} />
        </Fact>
        <Fact name={t.name}>
          <Name ip={found.ip} />
        </Fact>
        {oldest && whole && (
          <Fact name={t.first}>
            <Time at={oldest.banned_at} />
          </Fact>
        )}
        {newest && (
          <Fact name={t.last}>
            <Time at={newest.banned_at} />
          </Fact>
        )}
      </dl>
      {(place || network) && (
        <details className={styles.credit}>
          <summary>{t.credit}</summary>
          {found.geo_credit}
        </details>
      )}
    </Panel>
  )
}

const PlaceOf = ({ country, place }: Pick<LookUp, 'country'> & { place: string }) => {
  if (!country) return textsOf(commonTexts).unknown
  const link = (
    <Link to="/bans" search={{ country }}>
      <Stranger text={place} most={120} />
    </Link>
  )
  return (
    <span className={styles.place}>
      <Flag code={country} />
      <BanValue field="country" value={country} shown={place} link={link} />
    </span>
  )
}

const NetworkOf = ({ asn, network }: Pick<LookUp, 'asn'> & { network: string }) => {
  if (!network) return textsOf(commonTexts).unknown
  const name = <Stranger text={network} most={160} />
  if (!asn) return name
  const link = (
    <Link to="/bans" search={{ asn }}>
      {name}
    </Link>
  )
  return <BanValue field="asn" value={asn.replace(/^AS/, '')} shown={clip(network, 160).shown} link={link} />
}

/** The network may have given it a name; it is asked for only by a click, since its name servers may notice. */
const Name = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const [asked, ask] = useState(false)
  const query = useQuery({
    queryKey: ['name', ip],
    queryFn: async ({ signal }) =>
      (await api.call('GET /bans/lookup/{ip}', { params: { ip }, query: { reverse: true }, signal })).reverse_name,
    enabled: asked,
    staleTime: Infinity,
  })
  if (query.error) return <Refusal error={query.error} />
  if (query.data === null) return <span role="status">{t.noName}</span>
  if (query.data !== undefined)
    return (
      <span role="status">
        <Stranger text={query.data} most={253} />
      </span>
    )
  return (
    <button
      type="button"
      className={`${parts.quiet ?? ''} ${styles.ask ?? ''}`}
      disabled={asked}
      onClick={() => ask(true)}
    >
      {asked ? textsOf(commonTexts).loading : t.askName}
    </button>
  )
}
