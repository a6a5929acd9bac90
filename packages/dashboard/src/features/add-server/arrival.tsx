import { useId, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { IconCheck } from '@tabler/icons-react'
import { api } from '../../api/client.ts'
import { optionsQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { useWords } from '../../kit/now.ts'
import { TimeSentence } from '../../kit/time.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { nameOf } from '../../lib/clip.ts'
import { ownAddress } from '../../lib/place.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ReasonText } from '../bans/reason.tsx'
import { addServerTexts } from './add-server.texts.ts'
import { lines, progressOf, stallOf } from './progress.ts'
import type { Line, LineState } from './progress.ts'
import styles from './add-server.module.css'

/** The five steps from the command to the first ban, each with its proof, its remedy or what it waits for. */
export const Arrival = ({ server }: { server: Server }) => {
  const t = textsOf(addServerTexts)
  const [since] = useState(() => Date.now())
  const heading = useId()
  const progress = progressOf(server)
  const stall = useWords(now => stallOf(server, since, now) ?? '')
  const done = progress.ban === 'done'
  return (
    <>
      <section className={styles.steps} aria-labelledby={heading}>
        <h2 id={heading} className={styles.stepsTitle}>
          {done ? t.arrived(nameOf(server.hostname)) : t.waitingFor(nameOf(server.hostname))}
        </h2>
        <ol className={styles.lines} aria-live="polite">
          {lines.map(line => (
            <li key={line} className={styles.line} data-line={line} data-state={progress[line]}>
              <Node is={progress[line]} />
              <div className={styles.body}>
                <h3>{t.lines[line]}</h3>
                <LineBody line={line} server={server} state={progress[line]} stall={stall} />
              </div>
            </li>
          ))}
        </ol>
      </section>
      {done ? (
        <div className={parts.row}>
          <ButtonLink to="/" search={{}}>
            {t.toOverview}
          </ButtonLink>
          <ButtonLink to="/bans" search={{ server: server.id }} variant="default">
            {t.toBans}
          </ButtonLink>
          <ButtonLink to="/servers/$serverId" params={{ serverId: server.id }} variant="default">
            {t.toServer}
          </ButtonLink>
          <ButtonLink to="/servers/new" search={{}} variant="default">
            {t.another}
          </ButtonLink>
        </div>
      ) : (
        <p className={parts.help}>
          {t.leaving}{' '}
          <Link to="/servers/$serverId" params={{ serverId: server.id }}>
            {t.toServer}
          </Link>
        </p>
      )}
    </>
  )
}

/** A tick, an arc that turns, or a ring; the word is for those who do not see it. */
const Node = ({ is }: { is: LineState }) => (
  <span className={styles.node} data-state={is}>
    {is === 'done' ? <IconCheck size={14} stroke={2} aria-hidden="true" /> : <i aria-hidden="true" />}
    <span className={parts.hidden}>{textsOf(commonTexts).states[is]}</span>
  </span>
)

interface LineProps {
  readonly server: Server
  readonly state: LineState
  readonly stall: string
}
const LineBody = (props: LineProps & { line: Line }) => {
  const { line, ...rest } = props
  if (line === 'called') return <Called {...rest} />
  if (line === 'heartbeat') return <Heartbeat {...rest} />
  if (line === 'jails') return <JailsRead {...rest} />
  if (line === 'protected') return <Protected {...rest} />
  return <FirstBan {...rest} />
}

const Called = ({ server: { install }, state, stall }: LineProps) => {
  const t = textsOf(addServerTexts)
  const baseUrl = useQuery(optionsQuery).data?.base_url ?? ownAddress
  return (
    <>
      {state === 'waiting' && (
        <p>
          {install.script_fetched_at ? (
            <TimeSentence at={install.script_fetched_at} say={t.scriptFetched} />
          ) : (
            t.calledWaiting
          )}
        </p>
      )}
      {install.token_used_at && (
        <p>
          <TimeSentence at={install.token_used_at} say={time => t.tokenUsed(install.token_used_from ?? '', time)} />
        </p>
      )}
      {stall === 'no call' && (
        <div className={styles.stall} role="status">
          <p>{t.stalledCall}</p>
          <ol>
            {t.stalledCallCauses(baseUrl).map(cause => (
              <li key={cause}>{cause}</li>
            ))}
          </ol>
        </div>
      )}
    </>
  )
}

const Heartbeat = ({ server, state, stall }: LineProps) => {
  const t = textsOf(addServerTexts)
  return (
    <>
      {state === 'done' ? (
        <p>
          <Stranger
            text={t.heartbeatDone(server.hostname, server.os ?? t.unknownOs, server.engine_version ?? t.noEngine)}
            most={200}
          />
        </p>
      ) : (
        <p>{t.heartbeatNext}</p>
      )}
      {stall === 'no heartbeat' && (
        <div className={styles.stall} role="status">
          <p>{t.stalledHeartbeat}</p>
          <CopyField text={t.journal} label={t.journalLabel} />
        </div>
      )}
      {stall === 'no engine' && (
        <div className={styles.stall} role="status">
          <p>{t.noEngineHelp}</p>
          <CopyField text={t.engineInstall} label={t.engineInstallLabel} />
        </div>
      )}
    </>
  )
}

const JailsRead = ({ server, state, stall }: LineProps) => {
  const t = textsOf(addServerTexts)
  return (
    <>
      {state === 'done' && <Jails names={server.jails.filter(jail => jail.enabled).map(jail => jail.name)} />}
      {stall === 'no jails' && (
        <div className={styles.stall} role="status">
          <p>{t.jailsNone}</p>
          <p>{t.noJailsHelp}</p>
          <CopyField text={t.jailConfig} label={t.jailConfigLabel} />
        </div>
      )}
    </>
  )
}

const Protected = ({ server, state }: LineProps) => {
  const t = textsOf(addServerTexts)
  return <p>{state === 'done' ? t.protectedDone[server.protection.level] : t.protectedNext}</p>
}

const FirstBan = ({ server, state }: LineProps) => {
  const t = textsOf(addServerTexts)
  const { first_ban_at } = server.install
  return (
    <>
      {state === 'waiting' && <p>{t.banWaiting}</p>}
      {state === 'waiting' && <TestBan serverId={server.id} />}
      {first_ban_at && (
        <>
          <FirstAttacker serverId={server.id} />
          <p>
            <TimeSentence at={first_ban_at} say={t.banDone} />
          </p>
        </>
      )}
    </>
  )
}

/** Who was banned first, and why. */
const FirstAttacker = ({ serverId }: { serverId: string }) => {
  const ban = useQuery({
    queryKey: ['bans', 'first', serverId],
    queryFn: ({ signal }) => api.call('GET /bans', { query: { server_id: serverId, limit: 1 }, signal }),
  }).data?.bans[0]
  return ban ? (
    <p>
      <Link to="/ip/$addr" params={{ addr: ban.ip }}>
        <bdi>{ban.ip}</bdi>
      </Link>
      {': '}
      <ReasonText reason={ban.reason} strong />
    </p>
  ) : null
}

const Jails = ({ names }: { names: readonly string[] }) => (
  <p>
    {names.slice(0, 30).map((name, index) => (
      <span key={name}>
        {index > 0 && ', '}
        <Stranger text={name} most={64} />
      </span>
    ))}
    {names.length > 30 && ` +${names.length - 30}`}
  </p>
)

/** Runs every step without waiting for an attacker. 192.0.2.1 is reserved for documentation (RFC 5737). */
const TestBan = ({ serverId }: { serverId: string }) => {
  const t = textsOf(addServerTexts)
  const ban = useMutation({
    mutationFn: () =>
      api.call('POST /servers/{serverId}/bans', {
        params: { serverId },
        body: { ip: '192.0.2.1', duration: 60, reason: t.testReason },
      }),
  })
  return ban.isSuccess ? (
    <p role="status">{t.testBanSent}</p>
  ) : (
    <>
      <Button variant="default" onClick={() => ban.mutate()} loading={ban.isPending}>
        {t.testBan}
      </Button>
      <p className={parts.help}>{t.testBanHelp}</p>
      <Refusal error={ban.error} />
    </>
  )
}
