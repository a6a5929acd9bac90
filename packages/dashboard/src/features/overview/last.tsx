import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Ban } from '../../api/queries.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { stateOf } from '../bans/ban-state.ts'
import { PartValue } from '../bans/part-value.tsx'
import { overviewTexts } from './overview.texts.ts'
import { lastQuery, useLastLive } from './queries.ts'
import styles from './overview.module.css'

const Where = ({ ban: { jail, server } }: { ban: Ban }) => {
  const navigate = useNavigate()
  const open = () => void navigate({ to: '/servers/$serverId', params: { serverId: server.id } })
  return (
    <>
      <PartValue field="jail" value={jail} shown={clip(jail, 64).shown} only={{ jail }}>
        <Stranger text={jail} most={64} />
      </PartValue>
      <span>·</span>
      <PartValue
        field="server"
        value={server.hostname}
        shown={nameOf(server.hostname)}
        only={{ server: server.id }}
        open={open}
      >
        <Stranger text={server.hostname} most={60} />
      </PartValue>
    </>
  )
}

/** What happened last, as it happens. */
export const Last = () => {
  const t = textsOf(overviewTexts)
  const query = useQuery(lastQuery)
  useLastLive()
  // On a phone a line is one target.
  const phone = usePhone()
  return (
    <Panel title={t.last}>
      <Trouble what={t.whatLast} query={query} />
      {query.data?.bans.length === 0 && <p className={parts.muted}>{t.none}</p>}
      <ul className={styles.last}>
        {/* By their place: a new one changes what the lines say, and moves none of them. */}
        {query.data?.bans.map((ban, place) => (
          <li key={place}>
            <Link to="/ip/$addr" params={{ addr: ban.ip }} search={{}} className={parts.mono} preload={false}>
              {ban.ip}
            </Link>
            <span className={styles.where}>
              {phone ? (
                <>
                  <Stranger text={ban.jail} most={64} /> · <Stranger text={ban.server.hostname} most={60} />
                </>
              ) : (
                <Where ban={ban} />
              )}
            </span>
            <span className={styles.when}>
              {phone ? (
                <Time at={ban.banned_at} />
              ) : (
                <Link to="/bans/$banId" params={{ banId: String(ban.id) }} search={{}} preload={false}>
                  <Time at={ban.banned_at} />
                </Link>
              )}
            </span>
            <State is={stateOf(ban)} />
          </li>
        ))}
      </ul>
      <Link to="/bans" search={{}} className={parts.link}>
        {t.allBans}
      </Link>
    </Panel>
  )
}
