import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { around as marked } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { auditTexts } from '../audit/audit.texts.ts'
import { linkOf } from '../audit/filter.ts'
import { licenceQuery } from '../identity/queries.ts'
import { ipTexts } from './ip.texts.ts'
import { neighboursOf, rangeAround } from './neighbours.ts'

/** What is known beside its own bans: its neighbours, its knocks, and where it stands in the audit log. */
export const Around = ({ ip }: { ip: string }) => {
  const { may } = useMay('admin')
  return (
    <div className={fleet.columns}>
      <Neighbours ip={ip} />
      {may ? <KnocksOfLicence ip={ip} /> : <Knocks ip={ip} />}
      {may && <Audit ip={ip} />}
    </div>
  )
}

const most = 100
const shown = 8

const Neighbours = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const range = rangeAround(ip)
  const search = { ip: range, q: `-ip:${ip}` }
  const query = useQuery({
    queryKey: ['bans', 'neighbours', ip],
    queryFn: ({ signal }) => api.call('GET /bans', { query: { ...search, limit: most }, signal }),
  })
  const total = query.data?.total ?? 0
  return (
    <Panel title={t.neighbours(range)}>
      <Trouble what={t.whatNeighbours} query={query} />
      {query.isPending && <Waiting lines={2} />}
      {query.data && total === 0 && <p className={parts.muted}>{t.neighboursNone}</p>}
      {query.data && total > 0 && (
        <>
          <ul className={fleet.lines}>
            {neighboursOf(query.data.bans)
              .slice(0, shown)
              .map(neighbour => (
                <li key={neighbour.ip}>
                  <Link to="/ip/$addr" params={{ addr: neighbour.ip }} search={{}} className={parts.mono}>
                    {neighbour.ip}
                  </Link>
                  <Link to="/bans" search={{ ip: neighbour.ip }} className={parts.link} preload={false}>
                    {t.times(number(neighbour.count), neighbour.count)}
                  </Link>
                </li>
              ))}
          </ul>
          <p className={parts.muted}>
            {total > most && <>{t.neighboursSome(number(most))} </>}
            <Link to="/bans" search={search} className={parts.link}>
              {t.neighboursAll(number(total), total)}
            </Link>
          </p>
        </>
      )}
    </Panel>
  )
}

/** Admins can be told by the licence whether there are knocks at all. */
const KnocksOfLicence = ({ ip }: { ip: string }) => {
  const licence = useQuery({ ...licenceQuery, staleTime: 60 * 60_000 }).data
  return licence?.features.port_knocking ? <Knocks ip={ip} /> : null
}

const tones = { success: 'ok', failed: 'warn', blocked: 'danger' } as const
/** Asked for by a click: they are part of a licence that not everybody has. */
const Knocks = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const [asked, ask] = useState(false)
  const query = useQuery({
    queryKey: ['portknock', 'of', ip],
    queryFn: ({ signal }) => api.call('GET /portknock/history', { query: { ip, limit: shown }, signal }),
    enabled: asked,
  })
  const rows = query.data?.history
  return (
    <Panel title={t.knocks}>
      <Trouble what={t.whatKnocks} query={query} />
      {!asked && (
        <button type="button" className={parts.quiet} onClick={() => ask(true)}>
          {t.showKnocks}
        </button>
      )}
      {asked && query.isPending && <Waiting lines={2} />}
      {rows?.length === 0 && <p className={parts.muted}>{t.knocksNone}</p>}
      <ul className={fleet.lines}>
        {rows?.map(knock => (
          <li key={knock.id}>
            <span>
              <Stranger text={knock.sequence_name} most={60} /> · <Stranger text={knock.server.hostname} most={60} /> ·{' '}
              <Time at={knock.timestamp} />
            </span>
            <Mark tone={tones[knock.status]}>{t.statuses[knock.status]}</Mark>
          </li>
        ))}
      </ul>
      {rows && query.data && query.data.total > rows.length && (
        <p className={parts.muted}>{t.knocksShown(rows.length, number(query.data.total))}</p>
      )}
    </Panel>
  )
}

const Audit = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const { actions }: { actions: Readonly<Record<string, string>> } = textsOf(auditTexts)
  const query = useQuery({
    queryKey: ['audit', 'of', ip],
    queryFn: ({ signal }) => api.call('GET /settings/audit', { query: { q: `"${ip}"`, limit: 50 }, signal }),
  })
  // The search finds longer addresses too, which begin or end with this one.
  const entries = query.data?.entries.filter(
    entry => entry.ip_address === ip || marked(JSON.stringify(entry.details), ip).length > 1,
  )
  return (
    <Panel title={t.audit}>
      <Trouble what={t.whatAudit} query={query} />
      {query.isPending && <Waiting lines={2} />}
      {entries?.length === 0 && <p className={parts.muted}>{t.auditNone}</p>}
      <ul className={fleet.lines}>
        {entries?.slice(0, shown).map(entry => (
          <li key={entry.id}>
            <Link to="/audit" search={linkOf(entry)} className={parts.link}>
              {actions[entry.action] ?? entry.action}
            </Link>
            <span className={parts.muted}>
              <Stranger text={entry.user ?? ''} most={60} /> <Time at={entry.timestamp} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
