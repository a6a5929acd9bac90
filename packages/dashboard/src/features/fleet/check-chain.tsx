import type { ReactNode } from 'react'
import { valueAt } from '@stockade/contract/records.ts'
import type { Server } from '../../api/queries.ts'
import { Panel } from '../../kit/page.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { MomentTime, Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { CheckMark, markNames } from './check-strip.tsx'
import { nameOfCheck } from './protection.tsx'
import { protectionTexts } from './protection.texts.ts'
import styles from './check-chain.module.css'

type MarkName = (typeof markNames)[number]
type MarkState = Server['protection']['marks'][MarkName]
type Check = Server['protection']['checks'][number]

const markOfCheck: Readonly<Record<string, MarkName>> = {
  engine: 'engine',
  agent: 'engine',
  config: 'engine',
  database: 'engine',
  clock: 'engine',
  jail: 'jails',
  ignore: 'jails',
  log: 'logs',
  journal: 'logs',
  enforced: 'firewall',
  shield: 'firewall',
  published: 'containers',
  keep: 'whitelist',
}

/** Protection step by step: how a log line becomes a ban that holds, and where that breaks. */
export const CheckChain = ({ server, aside }: { server: Server; aside?: ReactNode }) => {
  const t = textsOf(protectionTexts)
  const { marks, checks, reported_at, counted } = server.protection
  if (server.status === 'pending') return null
  return (
    <Panel
      title={t.chain}
      aside={
        <>
          {reported_at && (
            <span>
              {t.checked} <Time at={reported_at} />
            </span>
          )}
          {aside}
        </>
      }
    >
      {reported_at === null ? (
        <p>{t.never}</p>
      ) : (
        <ol className={styles.chain}>
          {markNames.map(name => (
            <Step
              key={name}
              name={name}
              state={marks[name]}
              checks={checks.filter(({ id }) => markOfCheck[id] === name)}
            />
          ))}
        </ol>
      )}
      {checks.length > 0 && (
        <ul className={styles.causes} aria-label={t.reasons}>
          {checks.map((check, index) => (
            <Cause key={index} check={check} />
          ))}
        </ul>
      )}
      {counted && checks.length > 0 && (
        <p className={styles.counts}>{t.counts(counted.ok, counted.not_ok, counted.unknown)}</p>
      )}
    </Panel>
  )
}

/** What was found: of a check that passed, what holds. */
const foundOf = (state: MarkState, name: MarkName) => {
  const { findings, proofs } = textsOf(protectionTexts)
  return state === 'passed' ? proofs[name] : findings[state]
}

const Step = (props: { name: MarkName; state: MarkState; checks: readonly Check[] }) => {
  const { name, state, checks } = props
  const t = textsOf(protectionTexts)
  const first = checks[0]
  return (
    <li data-state={state}>
      <span className={styles.node}>
        <CheckMark state={state} />
      </span>
      <span className={styles.label}>{t.markNames[name]}</span>
      <b>{first?.subject ? <Stranger text={first.subject} most={60} /> : foundOf(state, name)}</b>
      {first && (
        <span className={styles.proof}>
          {t.since} <MomentTime at={first.since} />
        </span>
      )}
    </li>
  )
}

const tones = { bad: 'crit', warning: 'warn', unknown: 'idle' } as const
const Cause = ({ check }: { check: Check }) => {
  const t = textsOf(protectionTexts)
  const name = nameOfCheck(check.id)
  // A detail that begins with the name says it already.
  const isNamed = check.subject !== null || !check.detail.startsWith(name)
  const remedy = valueAt(t.remedies, check.id)
  return (
    <li data-tone={tones[check.state]}>
      <CheckMark state={check.state === 'bad' ? 'failed' : 'doubtful'} />
      <p>
        {isNamed && (
          <b>
            {name}
            {check.subject && (
              <>
                {' '}
                <Stranger text={check.subject} most={100} />
              </>
            )}{' '}
          </b>
        )}
        <Stranger text={check.detail} most={500} /> {remedy}
      </p>
    </li>
  )
}
