import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useMe } from '../../api/session.ts'
import { Flag } from '../../kit/flag.tsx'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Ranking } from '../../kit/ranking.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRecent } from '../../lib/recent.ts'
import { ipTexts } from './ip.texts.ts'
import styles from './ip.module.css'
import { findAddress } from './read-address.ts'

const mostListed = 10

/** Where a look-up may begin without typing: one's own address, what was opened lately, and who attacked most in the last day. */
export const StartingPoints = () => {
  const t = textsOf(ipTexts)
  const mine = useMe()?.ip_address
  const [recent] = useState(() => readRecent().filter(text => findAddress(text)?.ip === text))
  const query = useQuery({
    queryKey: ['stats', 'top', 'day', mostListed],
    queryFn: ({ signal }) => api.call('GET /bans/top', { query: { period: 'day', limit: mostListed }, signal }),
  })
  const top = query.data
  return (
    <div className={styles.starts}>
      <Panel title={t.starts.attackers}>
        <Loading what={t.starts.what} query={query} lines={5} />
        {top && top.top_ips.length === 0 && <p className={parts.muted}>{t.starts.none}</p>}
        {top && (
          <Ranking
            total={top.total_bans}
            rows={top.top_ips.map(({ ip, country, count }) => ({
              key: ip,
              count,
              name: (
                <>
                  <Flag code={country} /> <Address ip={ip} />
                </>
              ),
            }))}
          />
        )}
      </Panel>
      <Panel title={t.starts.networks}>
        <Loading what={t.starts.what} query={query} lines={5} />
        {top && top.bans_by_asn.length === 0 && <p className={parts.muted}>{t.starts.none}</p>}
        {top && (
          <Ranking
            total={top.total_bans}
            rows={top.bans_by_asn.map(({ asn, asn_org: name, count }) => ({
              key: asn ?? '',
              count,
              name:
                asn === null ? (
                  t.starts.unknownNetwork
                ) : (
                  <Link to="/bans" search={{ asn, from: top.from, to: top.to }}>
                    <Stranger text={name ?? asn} most={64} />
                  </Link>
                ),
            }))}
          />
        )}
      </Panel>
      <Panel title={t.starts.recent}>
        <ul className={styles.startList}>
          {mine && (
            <li>
              <Address ip={mine} /> <span className={parts.muted}>{t.starts.yours}</span>
            </li>
          )}
          {recent
            .filter(ip => ip !== mine)
            .map(ip => (
              <li key={ip}>
                <Address ip={ip} />
              </li>
            ))}
        </ul>
      </Panel>
    </div>
  )
}

const Address = ({ ip }: { ip: string }) => (
  <Link to="/ip/$addr" params={{ addr: ip }} search={{}} className={styles.address}>
    <bdi dir="ltr">{ip}</bdi>
  </Link>
)
