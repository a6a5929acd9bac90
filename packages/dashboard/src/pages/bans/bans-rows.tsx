import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import type { Ban } from '../../api/queries.ts'
import { useWords } from '../../parts/now.ts'
import parts from '../../parts/parts.module.css'
import { State } from '../../parts/state.tsx'
import { Stranger } from '../../parts/stranger.tsx'
import { Time } from '../../parts/time.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { ending } from '../../words/time.ts'
import { stateOf } from './ban-state.ts'
import { useBansSearch, useFilter } from './bans-filters.tsx'
import { bansTexts } from './bans.texts.ts'
import { countryName } from './countries.ts'
import type { BansSearch } from './filter.ts'
import { Unban } from './unban.tsx'
import styles from './bans.module.css'
import { nameOf } from '../../words/clip.ts'

/** A value that filters the list by itself. */
const Value = ({ set, name, children }: { set: Partial<BansSearch>; name: string; children: ReactNode }) => {
  const filter = useFilter()
  return (
    <button
      type="button"
      className={parts.value}
      title={textsOf(bansTexts).onlyValue(name)}
      onClick={() => filter(set)}
    >
      {children}
    </button>
  )
}

export const Ends = ({ ban }: { ban: Ban }) => <>{useWords(now => ending(ban, now))}</>

const Address = ({ ban }: { ban: Ban }) => {
  const search = useBansSearch()
  return (
    <Link
      to="/bans/$banId"
      params={{ banId: String(ban.id) }}
      search={search}
      className={styles.ip}
      data-ban={ban.id}
      aria-label={textsOf(bansTexts).details(ban.ip)}
    >
      <bdi>{ban.ip}</bdi>
    </Link>
  )
}

const columns = ['ip', 'state', 'country', 'jail', 'server', 'network', 'banned', 'ends', 'actions'] as const

export const BanTable = ({ rows, opened }: { rows: readonly Ban[]; opened: number | null }) => {
  const t = textsOf(bansTexts)
  const { none } = textsOf(commonTexts)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            {columns.map(column => (
              <th
                key={column}
                scope="col"
                className={`${styles[`c-${column}`] ?? ''} ${column === 'actions' ? parts.last : ''}`}
              >
                {t.columns[column]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(ban => (
            <tr key={ban.id} data-row aria-current={ban.id === opened || undefined}>
              <td>
                <Address ban={ban} />
              </td>
              <td>
                <State is={stateOf(ban)} />
              </td>
              <td className={`${parts.cut} ${styles['c-country'] ?? ''}`}>
                {ban.country ? (
                  <Value set={{ country: ban.country }} name={countryName(ban.country)}>
                    <span className={styles.code}>{ban.country}</span>
                    <span className={styles.country}>{countryName(ban.country)}</span>
                  </Value>
                ) : (
                  none
                )}
              </td>
              <td className={parts.cut}>
                <Value set={{ jail: ban.jail }} name={ban.jail}>
                  <Stranger text={ban.jail} most={64} />
                </Value>
              </td>
              <td className={parts.cut}>
                <Value set={{ server: ban.server.id }} name={nameOf(ban.server.hostname)}>
                  <Stranger text={ban.server.hostname} most={80} />
                </Value>
              </td>
              <td className={`${parts.cut} ${styles['c-network'] ?? ''}`} title={ban.asn_org ?? undefined}>
                <Stranger text={ban.asn_org ?? ban.asn ?? none} most={80} />
              </td>
              <td>
                <Time at={ban.banned_at} />
              </td>
              <td className={styles['c-ends']}>
                <Ends ban={ban} />
              </td>
              <td className={parts.last}>
                <Unban ban={ban} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export const BanCards = ({ rows }: { rows: readonly Ban[] }) => (
  <ul className={parts.cards} aria-label={textsOf(bansTexts).caption}>
    {rows.map(ban => (
      <li key={ban.id} className={parts.card} data-row>
        <div className={parts.cardTop}>
          <Address ban={ban} />
          <State is={stateOf(ban)} />
        </div>
        <div className={styles.cardRow}>
          <div className={parts.facts}>
            {ban.country && <span>{countryName(ban.country)}</span>}
            <span>
              <Stranger text={ban.jail} most={64} />
            </span>
            <span>
              <Stranger text={ban.server.hostname} most={80} />
            </span>
            <span>
              <Time at={ban.banned_at} />
            </span>
            <span>
              <Ends ban={ban} />
            </span>
          </div>
          <div>
            <Unban ban={ban} />
          </div>
        </div>
      </li>
    ))}
  </ul>
)
