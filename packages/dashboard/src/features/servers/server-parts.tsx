import { lazy, useState } from 'react'
import { IconArrowUp } from '@tabler/icons-react'
import { Link, useSearch } from '@tanstack/react-router'
import type { ServerRow } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { healthOf, healthTones } from '../fleet/health.ts'
import { guardTexts } from '../server/guard.texts.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import type { Term } from '../../kit/search/narrowing.tsx'
import { Mark, Shape } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { clip, nameOf } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { isOlder } from './groups.ts'
import { ServerValue } from './narrowing.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

const RunDialog = lazy(() => import('../commands/run-dialog.tsx'))

const healthOfRow = ({ status, protection }: ServerRow) => healthOf({ status, protection: protection.level })

/** The shape of the server's health with its word for screen readers; the word is in sight where something is wrong. */
export const HealthShape = ({ server }: { server: ServerRow }) => {
  const health = healthOfRow(server)
  const word = textsOf(fleetTexts).palisade.healths[health]
  return (
    <span className={styles.health} data-tone={healthTones[health]} title={word}>
      <Shape tone={healthTones[health]} />
      <span className={parts.hidden}>{word}</span>
    </span>
  )
}

/** Leads to the server; its menu holds all that the list can be narrowed to. */
export const Name = ({ server, marked = false }: { server: ServerRow; marked?: boolean }) => {
  const { states } = textsOf(commonTexts)
  const { status, ip_address: ip, engine_version: engine, agent_version: agent } = server
  const t = textsOf(serversTexts).terms
  const others: readonly Term[] = [
    { field: 'status', value: status, shown: states[status] },
    ...(ip ? [{ field: 'ip', value: ip }] : []),
    ...(engine ? [{ field: 'engine', value: engine, shown: `${t.engine} ${clip(engine, 16).shown}` }] : []),
    ...server.tags.map(tag => ({ field: 'tag', value: tag, shown: tag })),
    ...(agent ? [{ field: 'agent', value: agent, shown: `${t.agent} ${clip(agent, 16).shown}` }] : []),
  ]
  return (
    <ServerValue
      field="name"
      value={server.hostname}
      shown={nameOf(server.hostname)}
      others={others}
      marked={marked}
      link={
        <Link to="/servers/$serverId" params={{ serverId: server.id }} className={styles.name} data-open>
          <Stranger text={server.hostname} most={60} />
        </Link>
      }
    />
  )
}

/** The reason where a server is not protected, else its role in the operator's words; and what else is to know. */
export const RoleOrProblem = ({ server }: { server: ServerRow }) => {
  const t = textsOf(serversTexts)
  const health = healthOfRow(server)
  const newest = useMe()?.version ?? ''
  const problem = health === 'unprotected' || health === 'degraded' ? server.protection.problem?.detail : null
  return (
    <span className={styles.about}>
      {server.quarantined && <Mark tone="warn">{textsOf(guardTexts).badge}</Mark>}
      {server.clone && <Mark tone="danger">{t.cloned}</Mark>}
      {problem ? (
        <span className={styles.problem} data-tone={healthTones[health]}>
          <Stranger text={problem} most={300} />
        </span>
      ) : health === 'offline' ? (
        <span className={styles.problem}>{t.offline}</span>
      ) : (
        <span className={styles.role}>
          <Stranger text={server.description ?? ''} most={200} />
        </span>
      )}
      {isOlder(server.agent_version, newest) && (
        <span className={styles.update} title={t.update}>
          <IconArrowUp size={14} aria-hidden="true" />
          <span className={parts.hidden}>{t.update}</span>
        </span>
      )}
    </span>
  )
}

/** Tags that a row shows; its hint, its menu and the page of the server have the others. */
const mostTags = 2

/** Each narrows the list to its servers. */
export const Tags = ({ tags }: { tags: readonly string[] }) => {
  // Where a tag is searched, each row shows it.
  const { q = '' } = useSearch({ strict: false })
  const searched = q.split(/[\s,:]+/)
  const sorted = tags.toSorted((a, b) => Number(searched.includes(b)) - Number(searched.includes(a)))
  return (
    <span className={styles.tags} title={tags.join(', ')}>
      {sorted.slice(0, mostTags).map(tag => (
        <Link key={tag} to="/servers" search={{ q: `tag:${tag}` }} className={styles.tag}>
          {tag}
        </Link>
      ))}
      {tags.length > mostTags && <span className={styles.moreTags}>+{tags.length - mostTags}</span>}
    </span>
  )
}

/** The last sign of life; an installation that was begun can be continued. */
export const Seen = ({ server }: { server: ServerRow }) => {
  const t = textsOf(serversTexts)
  const { may } = useMay('admin')
  if (server.last_heartbeat) return <Time at={server.last_heartbeat} />
  return may && server.status === 'pending' ? (
    <Link to="/servers/new" search={{ id: server.id }} aria-label={t.continueWith(nameOf(server.hostname))}>
      {t.continue}
    </Link>
  ) : (
    <>{t.never}</>
  )
}

/** What can be done with one server. */
export const RowActions = ({ server }: { server: ServerRow }) => {
  const t = textsOf(serversTexts)
  const [open, setOpen] = useState<'reload-all' | 'ban-ip' | null>(null)
  const name = nameOf(server.hostname)
  return (
    <>
      <SmallButton aria-label={t.rowActions.reloadOn(name)} onClick={() => setOpen('reload-all')}>
        {t.rowActions.reload}
      </SmallButton>
      <SmallButton aria-label={t.rowActions.banOn(name)} onClick={() => setOpen('ban-ip')}>
        {t.rowActions.ban}
      </SmallButton>
      {open && (
        <Dialogs>
          <RunDialog type={open} servers={new Set([server.id])} onClose={() => setOpen(null)} />
        </Dialogs>
      )}
    </>
  )
}
