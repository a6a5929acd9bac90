import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { IconBan, IconTerminal2 } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { Server } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { healthOf, healthTones } from '../fleet/health.ts'
import type { Health } from '../fleet/health.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Shape } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time, useSayMoment } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { exactTime } from '../../lib/time.ts'
import { serverTexts } from './server.texts.ts'
import parts from '../../kit/parts.module.css'
import styles from './head.module.css'

const RunDialog = lazy(() => import('../commands/run-dialog.tsx'))

/** As high as the answer mostly is, so that it pushes nothing down when it comes. */
export const ServerHeadRoom = () => <div className={styles.head} />

/** The answer on every tab of a server: its health since when and why, a line of facts, and what can be done. */
export const ServerHead = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts).head
  const health = healthOf({ status: server.status, protection: server.protection.level })
  return (
    <header className={styles.head}>
      <div className={styles.answer}>
        <p className={styles.say} data-tone={healthTones[health]}>
          <Shape tone={healthTones[health]} />
          <span>
            <Sentence server={server} health={health} />
          </span>
        </p>
        <p className={styles.facts}>
          {[server.description, server.ip_address, server.os, server.agent_version && t.agent(server.agent_version)]
            .filter(fact => fact)
            .map(fact => (
              <span key={fact}>
                <Stranger text={fact ?? ''} most={80} />
              </span>
            ))}
          {server.tags.map(tag => (
            <span key={`tag ${tag}`}>
              <Link to="/servers" search={{ q: `tag:${tag}` }}>
                {tag}
              </Link>
            </span>
          ))}
          {server.last_heartbeat && (
            <span>
              {t.seen} <Time at={server.last_heartbeat} />
            </span>
          )}
        </p>
      </div>
      <Actions server={server} />
    </header>
  )
}

/** `Degraded since 09:12: /var/log/nginx/error.log is silent` */
const Sentence = ({ server, health }: { server: Server; health: Health }) => {
  const t = textsOf(serverTexts).head
  const word = textsOf(fleetTexts).palisade.healths[health]
  const [now] = useState(() => Date.now())
  const say = useSayMoment()
  const { problem, since } = server.protection
  const from = health === 'offline' ? server.last_heartbeat : (problem?.since ?? since)
  const at = from === null ? null : Date.parse(from)
  const when = at === null ? null : say(at, now)
  const reason = health === 'degraded' || health === 'unprotected' ? problem?.detail : undefined
  return (
    <>
      {at === null || when === null || health === 'pending' ? (
        word
      ) : (
        <span title={exactTime(at)}>{t.since(word, when)}</span>
      )}
      {reason && (
        <>
          {': '}
          <Stranger text={reason} most={160} />
        </>
      )}
    </>
  )
}

const Actions = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts).head
  const { may } = useMay('write')
  const [open, setOpen] = useState<'jail-status' | 'ban-ip' | null>(null)
  if (!may || server.status === 'pending') return null
  return (
    <div className={`${styles.actions ?? ''} ${parts.atBottom ?? ''}`}>
      <Button variant="default" leftSection={<IconTerminal2 size={16} />} onClick={() => setOpen('jail-status')}>
        {t.run}
      </Button>
      <Button variant="default" leftSection={<IconBan size={16} />} onClick={() => setOpen('ban-ip')}>
        {t.ban}
      </Button>
      {open && (
        <Dialogs>
          <RunDialog type={open} servers={new Set([server.id])} onClose={() => setOpen(null)} />
        </Dialogs>
      )}
    </div>
  )
}
