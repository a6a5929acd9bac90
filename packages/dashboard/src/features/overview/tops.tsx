import { useState } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Ranked } from './ranked.tsx'
import type { RankedRow } from './ranked.tsx'
import type { Period } from '../fleet/queries.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Nothing } from './nothing.tsx'
import { overviewTexts } from './overview.texts.ts'
import { topQuery } from './queries.ts'
import type { Stats } from './queries.ts'
import styles from './overview.module.css'

const kinds = ['jails', 'countries', 'networks', 'addresses'] as const
type Kind = (typeof kinds)[number]

/** The exact window that was counted, for the list of it. */
const windowOf = ({ from, to }: Pick<Stats, 'from' | 'to'>) => ({ from, to })

/** Jails, countries, networks and addresses with the most bans: beside each other, on phones one at a time. */
export const Tops = (props: { period: Period; stats: Stats | undefined; failed: boolean }) => {
  const { period, stats, failed } = props
  const t = textsOf(overviewTexts)
  const phone = usePhone()
  const [chosen, choose] = useState<Kind>('jails')
  const top = useQuery(topQuery(period))
  const of = { jails: stats, countries: stats, networks: top.data, addresses: top.data }
  const rows: Record<Kind, readonly RankedRow[] | undefined> = {
    jails: stats?.bans_by_jail.map(({ jail, count }) => ({
      key: jail,
      name: jail,
      count,
      term: { field: 'jail', value: jail },
    })),
    countries: stats?.bans_by_country.map(({ code, name, count }) => ({
      key: code,
      name,
      count,
      // Bans of unknown places have nothing in common to look for.
      term: code === 'ZZ' ? undefined : { field: 'country', value: code },
    })),
    networks: top.data?.bans_by_asn.map(({ asn, asn_org, count }) => ({
      key: asn ?? '',
      name: asn === null ? t.unknownNetwork : [asn_org, asn].filter(Boolean).join(' · '),
      count,
      term: asn === null ? undefined : { field: 'asn', value: asn },
    })),
    addresses: top.data?.top_ips.map(({ ip, country, count }) => ({
      key: ip,
      name: [ip, country].filter(Boolean).join(' · '),
      count,
      term: { field: 'ip', value: ip },
    })),
  }
  const isLate = (kind: Kind) => kind === 'networks' || kind === 'addresses'
  const panel = (kind: Kind): ReactNode => (
    <Panel key={kind} title={t.top[kind]}>
      {isLate(kind) && <Trouble what={t.whatTop} query={top} />}
      <div className={styles.rankedRoom}>
        {failed && !isLate(kind) && <Nothing />}
        {rows[kind] && of[kind] && <Ranked rows={rows[kind]} total={of[kind].total_bans} of={windowOf(of[kind])} />}
      </div>
    </Panel>
  )
  if (!phone) return <div className={styles.tops}>{kinds.map(panel)}</div>
  return (
    <div className={styles.page}>
      <div className={parts.row} role="group" aria-label={t.tops.label}>
        {kinds.map(kind => (
          <button
            key={kind}
            type="button"
            className={`${parts.chip ?? ''} ${styles.period ?? ''}`}
            aria-pressed={kind === chosen}
            onClick={() => choose(kind)}
          >
            {t.tops[kind]}
          </button>
        ))}
      </div>
      {panel(chosen)}
    </div>
  )
}
