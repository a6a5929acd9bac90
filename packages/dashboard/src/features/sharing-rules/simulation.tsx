import { useEffect, useRef } from 'react'
import { Spark } from '../../kit/charts/spark.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { MomentTime, TimeSentence } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { RuleMatch, Simulation } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'
import styles from './rules.module.css'

const day = 86_400_000
const mostListed = 10

/** What a rule would have done: the sentence, its days, and whom it would have met. */
export const SimulationResult = (props: { days: number; running: boolean; simulation: Simulation | undefined }) => {
  const t = textsOf(rulesTexts).simulation
  const { days, running, simulation } = props
  const place = useRef<HTMLElement>(null)
  // It stands below a long form.
  useEffect(() => {
    if (simulation) place.current?.scrollIntoView({ block: 'nearest' })
  }, [simulation])
  return (
    <section ref={place} className={styles.simulation} aria-label={t.title(days)} aria-busy={running}>
      <p role="status" className={styles.answer}>
        {running ? t.running : simulation && <Answer simulation={simulation} />}
      </p>
      {simulation && !running && <Details simulation={simulation} />}
    </section>
  )
}

const Answer = ({ simulation }: { simulation: Simulation }) => {
  const t = textsOf(rulesTexts).simulation
  return simulation.banned === 0 ? t.none : t.would(simulation.addresses)
}

const Details = ({ simulation }: { simulation: Simulation }) => {
  const t = textsOf(rulesTexts).simulation
  const { returned, spared, refused, tripped_at: trippedAt, complete, matches } = simulation
  const banned = matches.filter(({ outcome }) => outcome === 'banned')
  const never = matches.filter(({ outcome }) => outcome === 'refused')
  return (
    <>
      {simulation.banned > 0 && <Spark counts={countsByDay(simulation)} label={t.perDay} width={300} height={36} />}
      {returned > 0 && <p>{t.returned(returned, spared)}</p>}
      {trippedAt !== null && (
        <p className={parts.error}>
          <TimeSentence at={trippedAt} say={t.trips} />
        </p>
      )}
      {!complete && (
        <p className={parts.help}>
          <TimeSentence at={simulation.from} say={t.partial} />
        </p>
      )}
      {never.length > 0 && (
        <>
          <p>{t.refused(refused)}</p>
          <Matches label={t.never} matches={never} />
        </>
      )}
      {banned.length > 0 && <Matches label={t.banned} matches={banned} />}
    </>
  )
}

const countsByDay = ({ from, to, days }: Simulation): number[] => {
  const first = Math.floor(Date.parse(from) / day)
  const counts = Array.from({ length: Math.floor(Date.parse(to) / day) - first + 1 }, () => 0)
  for (const one of days) counts[Math.floor(Date.parse(one.day) / day) - first] = one.bans
  return counts
}

export const Matches = ({ label, matches }: { label: string; matches: readonly RuleMatch[] }) => {
  const t = textsOf(rulesTexts)
  return (
    <ul className={styles.matches} aria-label={label}>
      {matches.slice(0, mostListed).map(match => (
        <MatchRow key={`${match.entry} ${match.at}`} match={match} />
      ))}
      {matches.length > mostListed && <li className={parts.muted}>{t.history.more(matches.length - mostListed)}</li>}
    </ul>
  )
}

const tones = { banned: 'ban', refused: 'allow', tripped: 'danger' } as const

const MatchRow = ({ match }: { match: RuleMatch }) => {
  const t = textsOf(rulesTexts)
  return (
    <li>
      <Mark tone={tones[match.outcome]}>{t.history.outcomes[match.outcome]}</Mark>
      <bdi>{match.entry}</bdi>
      <span className={parts.muted}>
        <MomentTime at={match.at} /> · {t.simulation.onServers(match.server_count)}
        {match.outcome === 'banned' && match.until !== null && (
          <>
            {' · '}
            <TimeSentence at={match.until} say={t.history.until} />
          </>
        )}
        {match.times > 1 && ` · ${t.history.times(match.times)}`}
      </span>
      {match.cause && <Stranger text={match.cause} most={200} />}
    </li>
  )
}
