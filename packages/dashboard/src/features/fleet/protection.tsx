import type { Reply } from '@stockade/client'
import type { ProtectionLevel } from '@stockade/contract'
import type { Server, ServerRow } from '../../api/queries.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark, State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import fleet from './fleet.module.css'
import { protectionTexts } from './protection.texts.ts'

export const levelTones = { protected: 'ok', degraded: 'warn', unprotected: 'danger', unknown: 'neutral' } as const
const checkTones = { bad: 'danger', warning: 'warn', unknown: 'neutral' } as const

interface Attention {
  readonly count: number
  readonly tone: 'danger' | 'warn'
}
/** The servers of a fleet that need a person, and how bad the worst of them is; null when all is well. */
export const worstOf = (summary: Reply<'GET /servers/summary'> | undefined): Attention | null => {
  if (!summary) return null
  const { unprotected, degraded } = summary.protection
  const count = unprotected + degraded + summary.counts.offline
  if (count === 0) return null
  return { count, tone: unprotected + summary.counts.offline > 0 ? 'danger' : 'warn' }
}

const Level = ({ level }: { level: ProtectionLevel }) => (
  <Mark tone={levelTones[level]}>{textsOf(protectionTexts).levels[level]}</Mark>
)

/** Online and protected are two things: only a server that is both has a green mark for being online. */
export const ServerState = ({ server, tinted = false }: { server: ServerRow | Server; tinted?: boolean }) => {
  const { status, protection } = server
  const isWell = protection.level === 'protected'
  return <State is={status} tinted={tinted} {...(status === 'online' && !isWell ? { tone: 'neutral' } : {})} />
}

/** The level of an online server. What is offline or pending says enough by that. */
export const ProtectionMark = ({ server }: { server: ServerRow | Server }) =>
  server.status === 'online' ? <Level level={server.protection.level} /> : null

/** The level with its reasons, in the order in which the host sent them: the worst first. */
export const ProtectionPanel = ({ server: { status, protection } }: { server: Server }) => {
  const t = textsOf(protectionTexts)
  const { level, since, summary, reported_level, reported_at, checks, counted } = protection
  if (status === 'pending') return null
  return (
    <Panel title={t.title}>
      <div className={fleet.stack}>
        <p>
          <Level level={level} />{' '}
          {since && (
            <span className={parts.muted}>
              {t.since} <Time at={since} />
            </span>
          )}
        </p>
        <p className={parts.help}>{reported_level === null ? t.never : t.means[level]}</p>
        {level === 'unknown' && reported_level !== null && reported_at !== null && (
          <p className={parts.help}>
            {t.last(t.levels[reported_level])}, <Time at={reported_at} />
          </p>
        )}
        {checks.length > 0 ? (
          <ul className={fleet.lines} aria-label={t.reasons}>
            {checks.map((check, index) => (
              <li key={index}>
                <span>
                  <strong>{nameOfCheck(check.id)}</strong>{' '}
                  {check.subject && <Stranger text={check.subject} most={100} />}
                  <p className={parts.help}>
                    <Stranger text={check.detail} most={500} /> · {t.since} <Time at={check.since} />
                  </p>
                </span>
                <Mark tone={checkTones[check.state]}>{t.states[check.state]}</Mark>
              </li>
            ))}
          </ul>
        ) : (
          summary &&
          level !== 'protected' && (
            <p>
              <Stranger text={summary} most={500} />
            </p>
          )
        )}
        {counted && <p className={parts.help}>{t.counts(counted.ok, counted.not_ok, counted.unknown)}</p>}
      </div>
    </Panel>
  )
}

/** A newer agent may know checks that this page does not. */
const nameOfCheck = (id: string): string => {
  const names: Readonly<Record<string, string>> = textsOf(protectionTexts).checks
  return Object.hasOwn(names, id) ? (names[id] ?? id) : id
}
