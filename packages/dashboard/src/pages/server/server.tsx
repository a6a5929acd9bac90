import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { jailsQuery, serverQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { State } from '../../parts/state.tsx'
import { Stranger } from '../../parts/stranger.tsx'
import { Time } from '../../parts/time.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { usePhone } from '../../parts/width.ts'
import { Forbidden } from '../../shell/lone-pages.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { number } from '../../words/numbers.ts'
import { duration } from '../../words/time.ts'
import { Metrics } from '../servers/metrics.tsx'
import { Settings } from './settings.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'
import { nameOf } from '../../words/clip.ts'

/** One host: is it well, what does it guard. */
export const ServerPage = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const server = useQuery({ ...serverQuery(serverId), refetchInterval: 30_000 })
  const { may } = useMay('admin')
  const status = statusOf(server.error)
  if (status === 403) return <Forbidden />
  if (status === 404 || status === 400)
    return (
      <Page title={t.title}>
        <div className={parts.empty}>
          <p>{t.gone}</p>
          <Link to="/bans" search={{ server: serverId }}>
            {t.itsBans}
          </Link>
        </div>
      </Page>
    )
  const name = server.data ? nameOf(server.data.hostname) : t.title
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      actions={
        server.data && (
          <ButtonLink to="/bans" search={{ server: serverId }} variant="default">
            {t.itsBans}
          </ButtonLink>
        )
      }
    >
      <Trouble what={t.what} query={server} />
      {server.isPending && <Waiting />}
      {server.data && (
        <>
          <Overview server={server.data} mayAdminister={may} />
          <Jails serverId={serverId} />
          {may && <Settings key={serverId} server={server.data} />}
        </>
      )}
    </Page>
  )
}

const Overview = ({ server, mayAdminister }: { server: Server; mayAdminister: boolean }) => {
  const t = textsOf(serverTexts)
  const { unknown } = textsOf(commonTexts)
  const uptime = server.metrics?.uptime
  return (
    <Panel>
      <div className={parts.form}>
        <State is={server.status} tinted />
        {server.status === 'pending' && (
          <p>
            {t.pending}{' '}
            {mayAdminister && (
              <Link to="/servers/new" search={{ id: server.id }}>
                {t.continue}
              </Link>
            )}
          </p>
        )}
        {server.status === 'offline' && <p className={parts.warn}>{t.offline}</p>}
        <div className={styles.columns}>
          <dl className={parts.details}>
            <dt>{t.lastSeen}</dt>
            <dd>{server.last_heartbeat ? <Time at={server.last_heartbeat} /> : t.never}</dd>
            <dt>{t.bans}</dt>
            <dd>{t.bansSaid(number(server.bans_today), number(server.total_bans))}</dd>
            {server.description && (
              <>
                <dt>{t.description}</dt>
                <dd>
                  <Stranger text={server.description} most={1000} />
                </dd>
              </>
            )}
            <dt>{t.load}</dt>
            <dd>
              <Metrics of={server.metrics} />
            </dd>
          </dl>
          <dl className={parts.details}>
            <dt>{t.address}</dt>
            <dd className={parts.mono}>{server.ip_address ?? unknown}</dd>
            <dt>{t.system}</dt>
            <dd>
              <Stranger text={server.os ?? unknown} most={120} />
            </dd>
            <dt>{t.engine}</dt>
            <dd>
              <Stranger text={server.engine_version ?? unknown} most={60} />
            </dd>
            <dt>{t.agent}</dt>
            <dd>
              <Stranger text={server.agent_version ?? unknown} most={60} />
            </dd>
            {typeof uptime === 'number' && (
              <>
                <dt>{t.uptime}</dt>
                <dd>{duration(uptime)}</dd>
              </>
            )}
          </dl>
        </div>
      </div>
    </Panel>
  )
}

const Jails = ({ serverId }: { serverId: string }) => {
  const t = textsOf(serverTexts)
  const { none } = textsOf(commonTexts)
  const jails = useQuery(jailsQuery(serverId))
  const phone = usePhone()
  const rows = jails.data?.jails
  const rule = (retries: number | null, time: number | null) =>
    retries === null || time === null ? none : t.rule(retries, duration(time))
  return (
    <>
      <h2 className={parts.panelTitle}>{t.jails}</h2>
      <Trouble what={t.whatJails} query={jails} />
      {jails.isPending && <Waiting lines={3} />}
      {rows?.length === 0 && <p className={parts.muted}>{t.noJails}</p>}
      {rows && rows.length > 0 && phone && (
        <ul className={parts.cards}>
          {rows.map(jail => (
            <li key={jail.name} className={parts.card}>
              <div className={parts.cardTop}>
                <strong>
                  <Stranger text={jail.name} most={64} />
                </strong>
                <State is={jail.enabled ? 'enabled' : 'disabled'} />
              </div>
              <div className={parts.facts}>
                <span>
                  {t.columns.current}: {number(jail.current_bans)}
                </span>
                <span>
                  {t.columns.total}: {number(jail.total_bans)}
                </span>
                <span>{rule(jail.maxretry, jail.findtime)}</span>
                {jail.bantime !== null && (
                  <span>
                    {t.columns.bantime}: {duration(jail.bantime)}
                  </span>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      {rows && rows.length > 0 && !phone && (
        <div className={parts.frame} tabIndex={0} role="region" aria-label={t.jailsCaption}>
          <table className={parts.table}>
            <caption className={parts.hidden}>{t.jailsCaption}</caption>
            <thead>
              <tr>
                {Object.entries(t.columns).map(([key, name]) => (
                  <th key={key} scope="col" className={key === 'current' || key === 'total' ? parts.end : undefined}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(jail => (
                <tr key={jail.name}>
                  <td>
                    <Link to="/bans" search={{ server: serverId, jail: jail.name }}>
                      <Stranger text={jail.name} most={64} />
                    </Link>
                  </td>
                  <td>
                    <State is={jail.enabled ? 'enabled' : 'disabled'} />
                  </td>
                  <td className={parts.end}>{number(jail.current_bans)}</td>
                  <td className={parts.end}>{number(jail.total_bans)}</td>
                  <td className={parts.cut}>
                    <Stranger text={jail.filter ?? none} most={80} />
                  </td>
                  <td>{rule(jail.maxretry, jail.findtime)}</td>
                  <td>{jail.bantime === null ? none : duration(jail.bantime)}</td>
                  <td className={parts.cut} title={jail.logpath ?? undefined}>
                    <Stranger text={jail.logpath ?? none} most={200} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}
