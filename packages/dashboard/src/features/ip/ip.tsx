import { Suspense, lazy, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { banQuery, queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { barsOfMoments } from '../../kit/charts/bars.ts'
import { Later } from '../../kit/charts/later.tsx'
import { loadOverTime } from '../bans/load-over-time.ts'
import { lookUpQuery } from '../fleet/queries.ts'
import type { LookUp } from '../fleet/queries.ts'
import fleet from '../fleet/fleet.module.css'
import { announce } from '../../kit/announce.tsx'
import { CopyButton } from '../../kit/copy.tsx'
import { useWords } from '../../kit/now.ts'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark, State } from '../../kit/state.tsx'
import { Lines, Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { ending } from '../../lib/time.ts'
import { stateOf } from '../bans/ban-state.ts'
import { BanValue, FixedSearch } from '../bans/narrowing.tsx'
import { Unban } from '../bans/unban.tsx'
import { LookUpField, problemOf } from './lookup.tsx'
import { findAddress, kindOf } from './read-address.ts'
import { ipTexts } from './ip.texts.ts'
import styles from './ip.module.css'

const UnbanDialog = lazy(() => import('./unban-dialog.tsx'))
/** What is beside the decision travels after it. */
const loadAround = () => import('./around.tsx').then(({ Around }) => Around)
const BanDialog = lazy(() => import('../bans/ban-dialog.tsx'))
const AddDialog = lazy(() => import('../whitelist/add-dialog.tsx'))

type Line = LookUp['ban_history'][number]

/** Everything about one address, and what can be done about it. */
export const IpPage = () => {
  const { addr } = useParams({ from: '/inside/ip/$addr' })
  const found = findAddress(addr)
  return found ? <Known key={found.ip} ip={found.ip} /> : <Wrong typed={addr} />
}

const Wrong = ({ typed }: { typed: string }) => (
  <Page title={textsOf(ipTexts).title}>
    <LookUpField key={typed} given={typed} error={problemOf(typed)} />
  </Page>
)

const Known = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const { taken } = useSearch({ from: '/inside/ip/$addr' })
  const { may, reason } = useMay('write')
  const [dialog, setDialog] = useState<'unban' | 'whitelist' | 'ban' | null>(null)
  const query = useQuery(lookUpQuery(ip))
  const found = query.data
  const close = () => setDialog(null)
  const banned = (found?.active_bans.length ?? 0) > 0
  return (
    <Page
      title={ip}
      heading={<bdi className={styles.address}>{found?.ip ?? ip}</bdi>}
      actions={
        <>
          <Button variant={banned ? 'filled' : 'default'} disabled={!may || !found} onClick={() => setDialog('unban')}>
            {t.unban}
          </Button>
          <Button variant="default" disabled={!may} onClick={() => setDialog('whitelist')}>
            {t.whitelist}
          </Button>
          <Button variant="default" disabled={!may} onClick={() => setDialog('ban')}>
            {t.ban}
          </Button>
        </>
      }
    >
      {taken === '1' && (
        <p className={parts.note} role="status">
          {t.took(ip)}
        </p>
      )}
      {reason && <p className={parts.help}>{reason}</p>}
      <Trouble what={t.what} query={query} />
      {query.isPending && <Waiting />}
      {found && <Facts found={found} at={query.dataUpdatedAt} />}
      <Suspense>
        {dialog === 'unban' && found && <UnbanDialog found={found} onClose={close} />}
        {dialog === 'whitelist' && <AddDialog given={ip} onClose={close} />}
        {dialog === 'ban' && <BanDialog ip={ip} everywhere onClose={close} />}
      </Suspense>
    </Page>
  )
}

const Facts = ({ found, at }: { found: LookUp; at: number }) => {
  const t = textsOf(ipTexts)
  const kind = kindOf(found.ip)
  // What is chosen of its bans leads to the list of them.
  const own = useMemo(() => ({ ip: found.ip }), [found.ip])
  return (
    <>
      <Pills found={found} />
      {kind && <p className={parts.muted}>{t.kinds[kind]}</p>}
      <Further found={found} />
      <div className={fleet.columns}>
        <Panel title={t.now}>
          <FixedSearch value={own}>
            {found.active_bans.length === 0 ? (
              <p className={parts.muted}>{t.nowNone}</p>
            ) : (
              <ul className={fleet.lines}>
                {found.active_bans.map(line => (
                  <li key={line.id}>
                    <span>
                      <ServerLink line={line} /> · <Jail line={line} /> ·{' '}
                      <span className={parts.muted}>
                        <Ends line={line} />
                      </span>
                    </span>
                    <Unban
                      ban={{
                        ...line,
                        ip: found.ip,
                        server: { id: line.server_id, hostname: line.server },
                      }}
                    />
                  </li>
                ))}
              </ul>
            )}
          </FixedSearch>
        </Panel>
        <About found={found} />
      </div>
      <Timeline found={found} at={at} />
      <FixedSearch value={own}>
        <History found={found} />
      </FixedSearch>
      <Later load={loadAround} given={{ ip: found.ip }} />
    </>
  )
}

/** The end of a ban as the look-up knows it: without its length, which is told only by no end at all. */
const Ends = ({ line }: { line: Line }) => (
  <>{useWords(now => ending({ ...line, ban_duration: line.expires_at === null && line.active ? -1 : null }, now))}</>
)

const Pills = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const servers = new Set(found.active_bans.map(line => line.server_id)).size
  return (
    <div className={styles.pills}>
      {servers > 0 ? <Mark tone="danger">{t.bannedOn(servers)}</Mark> : <Mark tone="neutral">{t.notBanned}</Mark>}
      {found.matched_whitelist && <Mark tone="allow">{t.whitelisted(found.matched_whitelist.ip)}</Mark>}
      {found.reputation && (
        <Mark tone={found.reputation.score >= 50 ? 'danger' : found.reputation.score > 0 ? 'warn' : 'neutral'}>
          {`${t.reputation(found.reputation.score)} · ${t.reputationOf(found.reputation.reports)}`}
        </Mark>
      )}
      {found.is_you && <Mark tone="warn">{t.isYou}</Mark>}
      {found.is_server && <Mark tone="warn">{t.isServer(nameOf(found.is_server.hostname))}</Mark>}
    </div>
  )
}

const elsewhere = [
  ['AbuseIPDB', (ip: string) => `https://www.abuseipdb.com/check/${ip}`],
  ['Shodan', (ip: string) => `https://www.shodan.io/host/${ip}`],
  ['RIPEstat', (ip: string) => `https://stat.ripe.net/${ip}`],
] as const

const Further = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const { may } = useMay('write')
  const newest = found.ban_history[0]
  const report = useMutation({
    mutationFn: (banId: number) => api.call('POST /bans/{banId}/report', { params: { banId } }),
    onSuccess: () => {
      announce(t.reported)
      void queries.invalidateQueries({ queryKey: ['lookup', found.ip] })
    },
  })
  return (
    <div className={fleet.stack}>
      <div className={parts.row}>
        {newest && (
          <Button
            variant="default"
            disabled={!may}
            loading={report.isPending}
            aria-label={t.reporting}
            onClick={() => report.mutate(newest.id)}
          >
            {t.report}
          </Button>
        )}
        <CopyButton text={found.ip} label={t.copy} />
        <span className={styles.links}>
          <span className={parts.muted}>{t.openIn}</span>
          {elsewhere.map(([name, at]) => (
            <a key={name} href={at(found.ip)} target="_blank" rel="noreferrer">
              {name}
            </a>
          ))}
        </span>
      </div>
      {report.data && (
        <p className={parts.note} role="status">
          {report.data.message}
        </p>
      )}
      <Refusal error={report.error} />
    </div>
  )
}

const About = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const { unknown } = textsOf(commonTexts)
  const place = [found.city, found.country_name ?? found.country].filter(Boolean).join(', ')
  const network = [found.asn, found.asn_org].filter(Boolean).join(' · ')
  const oldest = found.ban_history.at(-1)
  const newest = found.ban_history[0]
  // The history may be longer than what is shown of it.
  const whole = found.ban_history.length === found.total_bans
  return (
    <Panel title={t.about}>
      <dl className={parts.details}>
        <dt>{t.place}</dt>
        <dd>
          {found.country ? (
            <BanValue
              field="country"
              value={found.country}
              shown={place}
              link={
                <Link to="/bans" search={{ country: found.country }}>
                  <Stranger text={place} most={120} />
                </Link>
              }
            />
          ) : (
            unknown
          )}
        </dd>
        <dt>{t.network}</dt>
        <dd>
          {found.asn ? (
            <BanValue
              field="asn"
              value={found.asn.replace(/^AS/, '')}
              shown={clip(network, 160).shown}
              link={
                <Link to="/bans" search={{ asn: found.asn }}>
                  <Stranger text={network} most={160} />
                </Link>
              }
            />
          ) : network ? (
            <Stranger text={network} most={160} />
          ) : (
            unknown
          )}
        </dd>
        <dt>{t.name}</dt>
        <dd>
          <Name ip={found.ip} />
        </dd>
        <dt>{t.bans}</dt>
        <dd>{number(found.total_bans)}</dd>
        {oldest && whole && (
          <>
            <dt>{t.first}</dt>
            <dd>
              <Time at={oldest.banned_at} />
            </dd>
          </>
        )}
        {newest && (
          <>
            <dt>{t.last}</dt>
            <dd>
              <Time at={newest.banned_at} />
            </dd>
          </>
        )}
        {found.reputation?.last_reported && (
          <>
            <dt>{t.lastReported}</dt>
            <dd>
              <Time at={found.reputation.last_reported} />
            </dd>
          </>
        )}
      </dl>
      {(place || network) && (
        <p className={parts.help}>
          {t.credit} {found.geo_credit}
        </p>
      )}
    </Panel>
  )
}

/** Who runs the network may have given it a name; it is asked for only by a click, since its name servers may notice. */
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
    <button type="button" className={parts.quiet} disabled={asked} onClick={() => ask(true)}>
      {asked ? textsOf(commonTexts).loading : t.askName}
    </button>
  )
}

const Timeline = ({ found, at }: { found: LookUp; at: number }) => {
  const t = textsOf(ipTexts)
  const rows = found.ban_history
  // The clock of a host, or this one, may be ahead.
  const bars = useMemo(() => {
    const moments = rows.map(({ banned_at }) => Date.parse(banned_at)).reverse()
    return barsOfMoments(moments, Math.max(at, (moments.at(-1) ?? 0) + 1))
  }, [rows, at])
  const search = useMemo(() => ({ ip: found.ip }), [found.ip])
  if (rows.length === 0) return null
  return (
    <Panel title={t.timeline}>
      <Later
        load={loadOverTime}
        given={{ title: t.timeline, bars, search, small: true }}
        room={<div className={styles.chartRoom} />}
      />
      {found.total_bans > rows.length && <p className={parts.help}>{t.timelineShown(rows.length)}</p>}
    </Panel>
  )
}

const History = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const narrow = useNarrow()
  const rows = found.ban_history
  const newest = rows[0]
  return (
    <>
      <h2 className={parts.panelTitle}>{t.history}</h2>
      {rows.length === 0 ? (
        <p className={parts.muted}>
          {t.historyNone} {found.matched_whitelist && t.wouldCover(found.matched_whitelist.ip)}
        </p>
      ) : narrow ? (
        <ul className={parts.cards}>
          {rows.map(line => (
            <li key={line.id} className={parts.card}>
              <div className={parts.cardTop}>
                <ServerLink line={line} />
                <State is={stateOf({ ...line, ban_duration: null })} />
              </div>
              <div className={parts.facts}>
                <span>
                  <Jail line={line} />
                </span>
                <BannedAt line={line} ip={found.ip} />
                <span>
                  <Ends line={line} />
                </span>
              </div>
            </li>
          ))}
        </ul>
      ) : (
        <div className={parts.frame} tabIndex={0} role="region" aria-label={t.history}>
          <table className={parts.table}>
            <caption className={parts.hidden}>{t.history}</caption>
            <thead>
              <tr>
                {Object.entries(t.columns).map(([key, name]) => (
                  <th key={key} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(line => (
                <tr key={line.id}>
                  <td className={parts.cut}>
                    <ServerLink line={line} />
                  </td>
                  <td>
                    <Jail line={line} />
                  </td>
                  <td>
                    <State is={stateOf({ ...line, ban_duration: null })} />
                  </td>
                  <td>
                    <BannedAt line={line} ip={found.ip} />
                  </td>
                  <td>
                    <Ends line={line} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > 0 && (
        <p className={parts.muted}>
          {found.total_bans > rows.length && <>{t.shown(rows.length, number(found.total_bans))} </>}
          <Link to="/bans" search={{ ip: found.ip }} className={parts.link}>
            {t.allBans}
          </Link>
        </p>
      )}
      {newest && <LogLines banId={newest.id} ip={found.ip} />}
    </>
  )
}

const ServerLink = ({ line }: { line: Line }): ReactNode => (
  <BanValue
    field="server"
    value={line.server}
    shown={nameOf(line.server)}
    link={
      <Link to="/servers/$serverId" params={{ serverId: line.server_id }} className={fleet.name}>
        <Stranger text={line.server} most={60} />
      </Link>
    }
  />
)
const Jail = ({ line }: { line: Line }) => (
  <BanValue field="jail" value={line.jail} shown={clip(line.jail, 64).shown}>
    <Stranger text={line.jail} most={64} />
  </BanValue>
)
/** Leads to the ban itself, with its log lines. */
const BannedAt = ({ line, ip }: { line: Line; ip: string }) => (
  <Link to="/bans/$banId" params={{ banId: String(line.id) }} search={{ ip }} className={parts.link}>
    <Time at={line.banned_at} />
  </Link>
)

const LogLines = ({ banId, ip }: { banId: number; ip: string }) => {
  const t = textsOf(ipTexts)
  const query = useQuery(banQuery(banId))
  const ban = query.data
  return (
    <>
      <Trouble what={t.whatLog} query={query} />
      {ban?.log_lines && (
        <>
          <h2 className={parts.panelTitle}>{t.log}</h2>
          <Lines text={ban.log_lines} address={ip} label={t.log} />
        </>
      )}
    </>
  )
}
