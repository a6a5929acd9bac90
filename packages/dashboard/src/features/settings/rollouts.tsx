import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Coverage } from '../../kit/coverage.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { agentsTexts } from './agents.texts.ts'
import { failedQuery, isOpen, rolloutsQuery } from './rollout-queries.ts'
import type { Rollout } from './rollout-queries.ts'
import styles from './settings.module.css'

type Verb = 'pause' | 'resume' | 'abort' | 'rollback'

/** The newest upgrade with its waves, and a line for each earlier one. */
export const Rollouts = () => {
  const t = textsOf(agentsTexts)
  const query = useQuery(rolloutsQuery)
  const [latest, ...earlier] = query.data?.rollouts ?? []
  return (
    <>
      <Trouble what={t.whatRollouts} query={query} />
      {query.data && !latest && <p className={parts.help}>{t.calm}</p>}
      {latest && <Latest is={latest} />}
      {earlier.length > 0 && (
        <Panel title={t.earlier}>
          <ul className={parts.apart}>
            {earlier.map(rollout => (
              <li key={rollout.id}>
                <Head is={rollout} />
                <Counts of={rollout.counts} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

const tones: Readonly<Record<Rollout['state'], Tone>> = {
  running: 'info',
  paused: 'warn',
  finished: 'ok',
  aborted: 'neutral',
}
const Head = ({ is }: { is: Rollout }) => {
  const t = textsOf(agentsTexts)
  return (
    <p className={styles.head}>
      <Mark tone={tones[is.state]}>{t.states[is.state]}</Mark> <strong>{t.kinds[is.kind](is.version)}</strong>{' '}
      <span className={parts.muted}>
        <Time at={is.created_at} /> {t.startedBy(is.created_by)}
      </span>
    </p>
  )
}
const order = ['failed', 'done', 'watched', 'ordered', 'waiting', 'skipped'] as const
const Counts = ({ of }: { of: Rollout['counts'] }) => {
  const t = textsOf(agentsTexts)
  const words = order.flatMap(state => (of[state] > 0 ? [t.counts[state](of[state], number(of[state]))] : []))
  return <span className={parts.muted}>{words.join(', ')}</span>
}

const Latest = ({ is }: { is: Rollout }) => {
  const t = textsOf(agentsTexts)
  return (
    <Panel title={t.latest}>
      <div className={styles.main}>
        <div role="status">
          <Head is={is} />
          {is.reason && <p>{is.reason}</p>}
        </div>
        <ol className={parts.apart}>
          {is.waves.map((wave, index) => (
            <li key={index}>
              <span>{t.wave(index + 1)}</span>{' '}
              <Coverage
                held={wave.counts.done}
                running={wave.servers - wave.counts.done - wave.counts.failed}
                failed={wave.counts.failed}
              />{' '}
              <Counts of={wave.counts} />
            </li>
          ))}
        </ol>
        {is.counts.failed > 0 && <Failed id={is.id} />}
        <Acts is={is} />
      </div>
    </Panel>
  )
}

const Failed = ({ id }: { id: number }) => {
  const t = textsOf(agentsTexts)
  const query = useQuery(failedQuery(id))
  const rows = query.data?.servers ?? []
  const rest = (query.data?.total ?? 0) - rows.length
  return (
    <section aria-label={t.problems}>
      <h3 className={styles.subhead}>{t.problems}</h3>
      <Trouble what={t.whatRollouts} query={query} />
      <ul className={parts.apart}>
        {rows.map(({ server, problem }) => (
          <li key={server.id}>
            <Link to="/servers/$serverId" params={{ serverId: server.id }}>
              <Stranger text={server.hostname} most={60} />
            </Link>{' '}
            <Stranger text={problem ?? ''} most={300} />
          </li>
        ))}
        {rest > 0 && <li className={parts.muted}>{t.more(rest, number(rest))}</li>}
      </ul>
    </section>
  )
}

const Acts = ({ is }: { is: Rollout }) => {
  const t = textsOf(agentsTexts)
  const [asked, setAsked] = useState<'abort' | 'rollback' | null>(null)
  const act = useMutation({
    mutationFn: (verb: Verb) => api.call(`POST /agents/rollouts/{id}/${verb}`, { params: { id: is.id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  })
  const canReturn = is.kind === 'upgrade' && is.counts.done + is.counts.watched > 0
  return (
    <>
      <Refusal error={act.error} />
      <div className={parts.row}>
        {is.state === 'running' && (
          <Button variant="default" loading={act.isPending} onClick={() => act.mutate('pause')}>
            {t.pause}
          </Button>
        )}
        {is.state === 'paused' && (
          <Button loading={act.isPending} onClick={() => act.mutate('resume')}>
            {t.resume}
          </Button>
        )}
        {isOpen(is) && (
          <Button variant="default" onClick={() => setAsked('abort')}>
            {t.abort}
          </Button>
        )}
        {canReturn && (
          <Button variant="default" onClick={() => setAsked('rollback')}>
            {t.rollBack}
          </Button>
        )}
      </div>
      {asked && (
        <Dialogs>
          <Confirm
            title={asked === 'abort' ? t.abortTitle : t.rollBackTitle}
            text={asked === 'abort' ? t.abortText : t.rollBackText}
            verb={asked === 'abort' ? t.abort : t.rollBack}
            act={() => act.mutateAsync(asked)}
            onClose={() => setAsked(null)}
          />
        </Dialogs>
      )}
    </>
  )
}
