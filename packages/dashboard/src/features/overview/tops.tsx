import { useState } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { BansSearch } from '../bans/filter.ts'
import { PartValue } from '../bans/part-value.tsx'
import type { Period } from '../fleet/queries.ts'
import { Flag } from '../../kit/flag.tsx'
import { Panel } from '../../kit/page.tsx'
import { Ranking } from '../../kit/ranking.tsx'
import type { RankingRow } from '../../kit/ranking.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { usePhone } from '../../kit/width.ts'
import { clip } from '../../lib/clip.ts'
import { countryName } from '../../lib/countries.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Nothing } from './nothing.tsx'
import { overviewTexts } from './overview.texts.ts'
import { topQuery } from './queries.ts'
import type { Late, Stats } from './queries.ts'
import styles from './overview.module.css'

const kinds = ['jails', 'countries', 'networks', 'servers'] as const
type Kind = (typeof kinds)[number]
const mostListed = 5

interface Top {
  readonly key: string
  /** A name of a jail, a network or a server: foreign text. */
  readonly name: string
  readonly count: number
  /** What these bans have in common; null where the list has no filter for it. */
  readonly term: { readonly field: 'jail' | 'country' | 'asn' | 'server'; readonly value: string } | null
}

/** Jails, countries, networks and servers with the most bans: beside each other, on phones one at a time. */
export const Tops = (props: { period: Period; stats: Stats | undefined; failed: boolean }) => {
  const { period, stats, failed } = props
  const t = textsOf(overviewTexts)
  const phone = usePhone()
  const [chosen, choose] = useState<Kind>('jails')
  const top = useQuery(topQuery(period))
  const isLate = (kind: Kind) => kind === 'networks' || kind === 'servers'
  const tops = topsOf(stats, top.data)
  const panel = (kind: Kind): ReactNode => {
    const of = isLate(kind) ? top.data : stats
    const rows = tops[kind]
    return (
      <Panel key={kind} title={t.tops[kind]}>
        {isLate(kind) && <Trouble what={t.whatTop} query={top} />}
        <div className={styles.rankedRoom}>
          {failed && !isLate(kind) && <Nothing />}
          {rows && of && <Ranked kind={kind} rows={rows} of={of} />}
        </div>
      </Panel>
    )
  }
  if (!phone) return <div className={styles.tops}>{kinds.map(panel)}</div>
  return (
    <div className={styles.page}>
      <Segmented
        label={t.tops.label}
        value={chosen}
        onChange={choose}
        options={kinds.map(kind => ({ value: kind, text: t.tops[kind] }))}
      />
      {panel(chosen)}
    </div>
  )
}

const topsOf = (stats: Stats | undefined, late: Late | undefined): Record<Kind, readonly Top[] | undefined> => {
  const t = textsOf(overviewTexts)
  return {
    jails: stats?.bans_by_jail.map(({ jail, count }) => ({
      key: jail,
      name: jail,
      count,
      term: { field: 'jail', value: jail },
    })),
    countries: stats?.bans_by_country.map(({ code, name, count }) => ({
      key: code,
      name: code === 'ZZ' ? name : countryName(code),
      count,
      // Bans of unknown places have nothing in common to look for.
      term: code === 'ZZ' ? null : { field: 'country', value: code },
    })),
    networks: late?.bans_by_asn.map(({ asn, asn_org, count }) => ({
      key: asn ?? '',
      name: asn === null ? t.unknownNetwork : (asn_org ?? asn),
      count,
      term: asn === null ? null : { field: 'asn', value: asn },
    })),
    servers: late?.bans_by_server.map(({ server, count }) => ({
      key: server.id,
      name: server.hostname,
      count,
      term: { field: 'server', value: server.id },
    })),
  }
}

const Ranked = (props: { kind: Kind; rows: readonly Top[]; of: Pick<Stats, 'from' | 'to' | 'total_bans'> }) => {
  const { kind, rows, of } = props
  const t = textsOf(overviewTexts)
  const window = { from: of.from, to: of.to }
  const first = rows.slice(0, mostListed)
  const rest = of.total_bans - first.reduce((sum, { count }) => sum + count, 0)
  const others =
    kind === 'jails' || kind === 'countries' ? t.others[kind](Math.max(0, rows.length - first.length)) : t.others.any
  return (
    <Ranking
      total={of.total_bans}
      rows={first.map((top): RankingRow => ({ key: top.key, count: top.count, name: <Name top={top} of={window} /> }))}
      rest={{ key: 'rest', count: rest, name: others }}
    />
  )
}

/** Leads to the bans of a row; its menu also to all but them. */
const Name = ({ top, of }: { top: Top; of: BansSearch }) => {
  const navigate = useNavigate()
  const { name, term } = top
  if (!term) return <Stranger text={name} most={64} />
  const { field, value } = term
  const only = { [field]: value }
  return (
    <>
      {field === 'country' && <Flag code={value} />}
      <PartValue
        field={field}
        value={field === 'asn' ? value.replace(/^AS/, '') : field === 'server' ? name : value}
        shown={clip(name, 253).shown}
        of={of}
        only={only}
        {...(field === 'server'
          ? { open: () => void navigate({ to: '/servers/$serverId', params: { serverId: value } }) }
          : {})}
        link={
          <Link to="/bans" search={{ ...of, ...only }}>
            <Stranger text={name} most={64} />
          </Link>
        }
      />
    </>
  )
}
