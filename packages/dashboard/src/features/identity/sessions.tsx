import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { meQuery, queries } from '../../api/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { announce } from '../../kit/announce.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { browserWords } from './browser-words.ts'
import { Confirm } from './dialogs.ts'
import { identityTexts } from './identity.texts.ts'
import { sessionsQuery } from './queries.ts'
import type { Session } from './queries.ts'
import styles from './identity.module.css'

const useSessions = (userId: number) => {
  const t = textsOf(identityTexts).sessions
  const sessions = useQuery(sessionsQuery(userId))
  const refetch = () => {
    // The reply contains the addresses of the user's own sessions.
    void queries.invalidateQueries({ queryKey: meQuery.queryKey })
    return queries.invalidateQueries({ queryKey: sessionsQuery(userId).queryKey })
  }
  const end = useMutation({
    mutationFn: (sessionId: string) =>
      api.call('DELETE /users/{userId}/sessions/{sessionId}', { params: { userId, sessionId } }),
    onSuccess: () => announce(t.ended),
    onSettled: refetch,
  })
  const endAll = async () => {
    const { terminated_count } = await api.call('DELETE /users/{userId}/sessions', { params: { userId } })
    announce(t.endedMany(terminated_count))
    await refetch()
  }
  return { sessions, end, endAll }
}

/** Where a user is signed in, and the ways to end that. */
export const Sessions = (props: {
  userId: number
  /** What ending all of them does, for the dialog. */
  endAllText: string
}) => {
  const t = textsOf(identityTexts).sessions
  const { userId } = props
  const { sessions, end, endAll } = useSessions(userId)
  const [asking, setAsking] = useState(false)
  const rows = sessions.data?.sessions
  const hasOwn = rows?.some(({ current }) => current) ?? false
  const others = rows?.filter(({ current }) => !current).length ?? 0
  const words = hasOwn ? t.endOthers : t.endAll
  return (
    <Panel title={t.title}>
      <Loading what={t.what} query={sessions} lines={2} />
      {rows?.length === 0 && <p className={parts.muted}>{t.none}</p>}
      <Refusal error={end.error} />
      {rows && rows.length > 0 && <Rows rows={rows} end={end} />}
      {others > 0 && (
        <div className={styles.foot}>
          <Button variant="default" onClick={() => setAsking(true)}>
            {words}
          </Button>
        </div>
      )}
      {asking && (
        <Dialogs>
          <Confirm title={words} text={props.endAllText} verb={words} act={endAll} onClose={() => setAsking(false)} />
        </Dialogs>
      )}
    </Panel>
  )
}

const Rows = ({ rows, end }: { rows: readonly Session[]; end: ReturnType<typeof useSessions>['end'] }) => (
  <ul className={styles.rows} aria-label={textsOf(identityTexts).sessions.title}>
    {[...rows]
      .sort((a, b) => Number(b.current) - Number(a.current))
      .map(session => (
        <Line
          key={session.id}
          session={session}
          ending={end.isPending && end.variables === session.id}
          onEnd={() => end.mutate(session.id)}
        />
      ))}
  </ul>
)

const Line = ({ session, ending, onEnd }: { session: Session; ending: boolean; onEnd: () => void }) => {
  const t = textsOf(identityTexts).sessions
  const browser = browserWords(session.user_agent)
  return (
    <li className={styles.line}>
      <div>
        <strong title={session.user_agent.slice(0, 300)}>
          <bdi>{browser}</bdi>
        </strong>{' '}
        {t.from}{' '}
        <Link
          to="/bans"
          search={{ ip: session.ip_address }}
          className={parts.mono}
          aria-label={t.bansOf(session.ip_address)}
        >
          {session.ip_address}
        </Link>
        <div className={parts.facts}>
          <span>
            {t.signedIn} <Time at={session.created_at} />
          </span>
          <span>
            {t.lastActive} <Time at={session.last_activity} />
          </span>
        </div>
      </div>
      {session.current ? (
        <Mark tone="ok">{t.thisOne}</Mark>
      ) : (
        <SmallButton loading={ending} aria-label={t.endOf(browser, session.ip_address)} onClick={onEnd}>
          {t.end}
        </SmallButton>
      )}
    </li>
  )
}
