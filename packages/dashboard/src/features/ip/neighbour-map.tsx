import { lazy, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { Spark } from '../../kit/charts/spark.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { ipTexts } from './ip.texts.ts'
import styles from './ip.module.css'

const BanDialog = lazy(() => import('../bans/ban-dialog.tsx'))

type Around = Reply<'GET /bans/lookup/{ip}/neighbours'>

/** Bans around an address: which of its neighbours were banned, and how the range did in the last 30 days. */
export const Neighbours = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const { may } = useMay('write')
  const [asked, ask] = useState(false)
  const query = useQuery({
    queryKey: ['lookup', ip, 'neighbours'],
    queryFn: ({ signal }) => api.call('GET /bans/lookup/{ip}/neighbours', { params: { ip }, signal }),
  })
  const around = query.data
  const inMonth = around?.days.reduce((sum, count) => sum + count, 0) ?? 0
  return (
    <Panel title={t.neighbours} aside={around && <bdi className={styles.dim}>{around.range}</bdi>}>
      <Loading what={t.whatNeighbours} query={query} lines={4} />
      {around && (
        <>
          <div className={styles.around}>
            {around.entries.every(({ octet }) => octet !== null) ? (
              <NeighbourMap around={around} ip={ip} />
            ) : (
              <Networks around={around} />
            )}
            <div className={`${parts.block ?? ''} ${styles.aroundText ?? ''}`}>
              {around.entries.some(({ octet }) => octet !== null) && <Counts around={around} ip={ip} />}
              <Link to="/bans" search={{ ip: around.range }}>
                {t.showTheirs}
              </Link>
              {may && (
                <button type="button" className={parts.quiet} onClick={() => ask(true)}>
                  {t.banRange}
                </button>
              )}
            </div>
          </div>
          <p className={styles.month}>
            <span>{t.inMonth}</span>
            <b>{number(inMonth)}</b>
          </p>
          <Spark counts={around.days} label={t.monthOf(number(inMonth), inMonth)} width={304} height={34} />
        </>
      )}
      {asked && around && (
        <Dialogs>
          <BanDialog ip={around.range} onClose={() => ask(false)} />
        </Dialogs>
      )}
    </Panel>
  )
}

const Counts = ({ around, ip }: { around: Around; ip: string }) => {
  const t = textsOf(ipTexts)
  const active = around.entries.filter(({ active_bans }) => active_bans > 0).length
  const most = around.entries
    .filter(entry => entry.ip !== ip)
    .toSorted((a, b) => b.bans - a.bans)
    .slice(0, 2)
  return (
    <>
      <p>
        <b>{t.ofRange(around.addresses)}</b> {t.bannedNow(active)}
      </p>
      {most.length > 0 && (
        <p className={styles.dim}>
          {t.most}{' '}
          {most.map((entry, index) => (
            <span key={entry.ip}>
              {index > 0 && ', '}
              <Link to="/ip/$addr" params={{ addr: entry.ip }} search={{}}>
                .{entry.octet}
              </Link>{' '}
              ({number(entry.bans)})
            </span>
          ))}
        </p>
      )}
    </>
  )
}

/** The 256 addresses of a /24; the more bans, the darker, and a ring around the one of the page. */
export const NeighbourMap = ({ around, ip }: { around: Around; ip: string }) => {
  const t = textsOf(ipTexts)
  const navigate = useNavigate()
  const byOctet = new Map(around.entries.map(entry => [entry.octet, entry]))
  const own = Number(ip.split('.').at(-1))
  const most = Math.max(1, ...around.entries.map(({ bans }) => bans))
  const active = around.entries.filter(({ active_bans }) => active_bans > 0).length
  return (
    <svg
      className={styles.map}
      width="160"
      height="160"
      viewBox="-2 -2 162 162"
      role="img"
      aria-label={t.mapOf(around.addresses, around.range, active)}
    >
      {Array.from({ length: 256 }, (_, octet) => {
        const entry = byOctet.get(octet)
        const place = { x: (octet % 16) * 10, y: Math.floor(octet / 16) * 10, width: 8, height: 8, rx: 2 }
        if (!entry) return <rect key={octet} {...place} className={styles.cell} data-own={octet === own || undefined} />
        return (
          <rect
            key={octet}
            {...place}
            className={styles.cell}
            data-depth={Math.ceil((Math.log1p(entry.bans) / Math.log1p(most)) * 3)}
            data-own={octet === own || undefined}
            onClick={() => void navigate({ to: '/ip/$addr', params: { addr: entry.ip }, search: {} })}
          >
            <title>{`${entry.ip}: ${t.times(number(entry.bans), entry.bans)}`}</title>
          </rect>
        )
      })}
    </svg>
  )
}

/** Of IPv6 the busiest networks, by rows: a map of them would be empty. */
const Networks = ({ around }: { around: Around }) => {
  const t = textsOf(ipTexts)
  if (around.entries.length === 0) return <p className={parts.muted}>{t.neighboursNone}</p>
  return (
    <ul className={styles.networks}>
      {around.entries.map(entry => (
        <li key={entry.ip}>
          <Link to="/bans" search={{ ip: entry.ip }}>
            <bdi>{entry.ip}</bdi>
          </Link>
          <span>{t.times(number(entry.bans), entry.bans)}</span>
        </li>
      ))}
    </ul>
  )
}
