import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import type { Server } from '../../api/queries.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { clip } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { duration } from '../../lib/time.ts'
import { ProtectionMark, ServerState } from '../fleet/protection.tsx'
import { ServerValue } from '../servers/narrowing.tsx'
import { SealedFact } from './guard.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'

/** What a server is: its state, and what the agent says of it. */
export const Facts = ({ server, mayAdminister }: { server: Server; mayAdminister: boolean }) => {
  const t = textsOf(serverTexts)
  return (
    <Panel>
      <div className={parts.form}>
        <State server={server} />
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
        <div className={styles.columns}>
          <dl className={parts.details}>
            <Fact name={t.bans}>{t.bansSaid(number(server.bans_today), number(server.total_bans))}</Fact>
            {server.description && (
              <Fact name={t.description}>
                <Stranger text={server.description} most={1000} />
              </Fact>
            )}
          </dl>
          <Machine server={server} />
        </div>
      </div>
    </Panel>
  )
}

const State = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts)
  return (
    <div className={parts.row}>
      <ServerValue field="status" value={server.status} shown={textsOf(commonTexts).states[server.status]}>
        <ServerState server={server} tinted />
      </ServerValue>
      <ProtectionMark server={server} />
      <span className={parts.muted}>
        {server.last_heartbeat ? t.heard : t.added} <Time at={server.last_heartbeat ?? server.created_at} />
      </span>
    </div>
  )
}

const Machine = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts)
  const uptime = server.metrics?.uptime
  return (
    <dl className={parts.details}>
      <dt>{t.address}</dt>
      <dd className={parts.mono}>
        <Address ip={server.ip_address} />
      </dd>
      <Fact name={t.system}>
        <SameValue field="os" value={server.os} />
      </Fact>
      <Fact name={t.engine}>
        <SameValue field="engine" value={server.engine_version} />
      </Fact>
      <Fact name={t.agent}>
        <SameValue field="agent" value={server.agent_version} />
      </Fact>
      {server.policy?.state === 'unreadable' && (
        <Fact name={t.policy}>{t.policyUnreadable(server.policy.error ?? '')}</Fact>
      )}
      <SealedFact sealed={server.sealed} />
      {typeof uptime === 'number' && <Fact name={t.uptime}>{duration(uptime)}</Fact>}
    </dl>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const Address = ({ ip }: { ip: string | null }) => {
  if (!ip) return textsOf(commonTexts).unknown
  const link = (
    <Link to="/ip/$addr" params={{ addr: ip }} search={{}}>
      {ip}
    </Link>
  )
  return <ServerValue field="ip" value={ip} link={link} />
}

/** Asks for all servers that have the same. */
const SameValue = ({ field, value }: { field: 'os' | 'engine' | 'agent'; value: string | null }) =>
  value === null ? (
    textsOf(commonTexts).unknown
  ) : (
    <ServerValue field={field} value={value} shown={clip(value, 120).shown}>
      <Stranger text={value} most={120} />
    </ServerValue>
  )
