import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { serverQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import identity from '../identity/identity.module.css'
import { CheckChain } from '../fleet/check-chain.tsx'
import { SelfTestPanel } from '../fleet/self-test.tsx'
import { Loading } from '../../kit/loading.tsx'
import { useKeys } from '../../kit/keys.ts'
import { GonePage } from '../../kit/gone-page.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { TimeSentence } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Forbidden } from '../navigation/lone-pages.tsx'
import { shellTexts } from '../navigation/shell.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { ago } from '../../lib/time.ts'
import { useSync } from '../fleet/sync.ts'
import { SyncRow } from '../whitelist/sync-panel.tsx'
import { Cloned, Quarantined } from './guard.tsx'
import { Facts } from './facts.tsx'
import { ServerHead, ServerHeadRoom } from './head.tsx'
import { Levels } from './levels.tsx'
import { Settings } from './settings.tsx'
import { Stats } from './stats.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'

/** One host: is it well, what does it guard, what was done to it. The frame; each tab is a page of its own. */
export const ServerPage = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const server = useQuery({ ...serverQuery(serverId), refetchInterval: every(30_000) })
  const { may } = useMay('admin')
  useTabKeys(serverId, may)
  const status = statusOf(server.error)
  if (status === 403) return <Forbidden />
  if (status === 404 || status === 400)
    return (
      <GonePage title={t.title} text={t.gone}>
        <div className={parts.row}>
          <Link to="/servers" search={{}}>
            {t.all}
          </Link>
          {status === 404 && (
            <Link to="/bans" search={{ server: serverId }}>
              {t.itsBans}
            </Link>
          )}
        </div>
      </GonePage>
    )
  const name = server.data ? nameOf(server.data.hostname) : t.title
  return (
    <Page title={name} heading={<bdi>{name}</bdi>} above={<Link to="/servers">{textsOf(shellTexts).servers}</Link>}>
      {server.data ? <ServerHead server={server.data} /> : server.isPending && <ServerHeadRoom />}
      <nav className={identity.sections} aria-label={t.sections}>
        {tabsFor(may).map(name => (
          <Link key={name} to={`/servers/$serverId/${name}`} params={{ serverId }}>
            {t.tabs[name]}
          </Link>
        ))}
      </nav>
      <Loading what={t.what} query={server} />
      {server.data && <Quarantined quarantined={server.data.quarantined} />}
      {server.data && <Cloned server={server.data} maySettle={may} />}
      {server.data?.status === 'offline' && <Away since={server.data.last_heartbeat} />}
      {/* The tabs ask for what is theirs: where the server itself was not read, they may be. */}
      {!server.isPending && <Outlet />}
    </Page>
  )
}

const tabs = ['overview', 'jails', 'bans', 'commands', 'settings'] as const
const tabsFor = (mayAdminister: boolean) => (mayAdminister ? tabs : tabs.slice(0, 4))
/** 1 to 5 lead to the tabs, in their order. */
const useTabKeys = (serverId: string, mayAdminister: boolean) => {
  const t = textsOf(serverTexts)
  const navigate = useNavigate()
  const keys = useMemo(
    () =>
      tabsFor(mayAdminister).map((name, index) => ({
        key: String(index + 1),
        text: t.toTab(t.tabs[name]),
        act: () => void navigate({ to: `/servers/$serverId/${name}`, params: { serverId } }),
      })),
    [serverId, mayAdminister, navigate, t],
  )
  useKeys(keys)
}

/** Since when it is away, and what that means for what is asked of it. */
const Away = ({ since }: { since: string | null }) => {
  const t = textsOf(serverTexts)
  const say = (at: string) => (time: string, now: number) => {
    const date = Date.parse(at)
    return now - date < 86_400_000 ? t.seenLately(time, ago(date, now)) : t.seen(time)
  }
  return (
    <p className={parts.warn}>
      {since !== null && <TimeSentence at={since} say={say(since)} />} {t.offline}
    </p>
  )
}

/** The server that the tabs are of; the frame asks for it. */
const useServer = () => {
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  return useQuery({ ...serverQuery(serverId), enabled: false }).data
}

export const OverviewTab = () => {
  const { may } = useMay('admin')
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const server = useServer()
  return (
    <>
      {server && <CheckChain server={server} />}
      {server && server.status !== 'pending' && <Levels server={server} />}
      <Stats serverId={serverId} />
      <div className={styles.top}>
        <div className={fleet.stack}>
          {server && <Facts server={server} mayAdminister={may} />}
          {server?.status === 'online' && <SelfTestPanel server={server} />}
        </div>
        <Holds serverId={serverId} />
      </div>
    </>
  )
}

export const SettingsTab = () => {
  const server = useServer()
  const { may } = useMay('admin')
  if (!may) return <Forbidden needed="Admin" />
  return server ? <Settings key={server.id} server={server} /> : null
}

/** Whether it holds the whitelist as it is now. */
const Holds = ({ serverId }: { serverId: string }) => {
  const t = textsOf(serverTexts)
  const sync = useSync()
  const row = sync.data?.servers.find(({ id }) => id === serverId)
  return (
    <Panel title={t.whitelist}>
      <Trouble what={t.whatWhitelist} query={sync} />
      {row && (
        <ul className={fleet.lines}>
          <SyncRow server={row} />
        </ul>
      )}
      <Link to="/whitelist" className={parts.link}>
        {t.toWhitelist}
      </Link>
    </Panel>
  )
}
