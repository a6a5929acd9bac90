import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useKeptState } from '../../kit/draft.ts'
import { announce } from '../../kit/announce.tsx'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { State } from '../../kit/state.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Waiting, isFirstRead } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { Check, Choices } from '../identity/choices.tsx'
import identity from '../identity/identity.module.css'
import { pollReplay, replayQuery, typesQuery } from './queries.ts'
import type { EventType, Replay as ReplayJob, SiemSettings } from './queries.ts'
import { rangeOf } from './replay-range.ts'
import type { Range } from './replay-range.ts'
import { SiemPage, ToDestination } from './siem-page.tsx'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'

/** The URL names the watched replay: it runs on without the page, and a link leads back to it. */
export const Replay = () => {
  const { job } = useSearch({ from: '/inside/siem/replay' })
  return <SiemPage section="replay">{is => (job ? <Progress jobId={job} /> : <Start is={is} />)}</SiemPage>
}

const ranges = ['hour', 'day', 'week', 'month', 'between'] as const

const Start = ({ is }: { is: SiemSettings | undefined }) => {
  const t = textsOf(siemTexts)
  const navigate = useNavigate()
  const types = useQuery(typesQuery)
  const [range, setRange] = useKeptState<Range>('replay/range', 'day')
  const [between, setBetween] = useKeptState('replay/between', { from: '', to: '' })
  const [left, setLeft] = useKeptState<ReadonlySet<EventType['id']>>('replay/types', new Set())
  const [wrong, setWrong] = useState<'range' | 'types' | null>(null)
  const all = types.data ?? []
  const start = useMutation({
    mutationFn: async (span: { from: string; to: string }) => {
      const chosen = all.map(({ id }) => id).filter(id => !left.has(id))
      const body = { ...span, ...(left.size === 0 ? {} : { event_types: chosen }) }
      const { job_id, message } = await api.call('POST /siem/replay', { body })
      announce(message)
      await navigate({ to: '/siem/replay', search: { job: job_id } })
    },
  })
  const submit = () => {
    const span = rangeOf(range, between, Date.now())
    const why = span === null ? 'range' : all.length > 0 && left.size === all.length ? 'types' : null
    setWrong(why)
    if (span !== null && why === null && !start.isPending) start.mutate(span)
  }
  const turn = (id: EventType['id'], on: boolean) => {
    const next = new Set(left)
    if (on) next.delete(id)
    else next.add(id)
    setLeft(next)
  }
  return (
    <PlainForm className={`${parts.form ?? ''} ${identity.narrow ?? ''}`} onSubmit={submit}>
      <p className={parts.muted}>{t.replayAbout}</p>
      {is?.enabled === false && (
        <p className={parts.warn}>
          {t.replayOff} <ToDestination />
        </p>
      )}
      <Panel>
        <div className={parts.form}>
          <Choices
            legend={t.range}
            options={ranges.map(value => ({ value, label: t.ranges[value] }))}
            value={range}
            onValue={setRange}
          />
          {range === 'between' && (
            <div className={styles.pair}>
              {(['from', 'to'] as const).map(edge => (
                <Field key={edge} label={t[edge]} error={wrong === 'range' ? t.rangeWrong : undefined}>
                  {ids => (
                    <input
                      {...ids}
                      className={parts.input}
                      type="datetime-local"
                      step={1}
                      value={between[edge]}
                      onChange={event => setBetween({ ...between, [edge]: event.currentTarget.value })}
                    />
                  )}
                </Field>
              ))}
            </div>
          )}
          <Trouble what={t.what.types} query={types} />
          {all.length > 0 && (
            <fieldset className={parts.group}>
              <legend>{t.types}</legend>
              {all.map(({ id, name }) => (
                <Check key={id} label={name} checked={!left.has(id)} onChecked={on => turn(id, on)} />
              ))}
              {wrong === 'types' && (
                <p className={parts.error} role="alert">
                  {t.typesNone}
                </p>
              )}
            </fieldset>
          )}
          <Refusal error={start.error} />
          {isFirstRead(types) ? <Waiting /> : <Submit isPending={start.isPending} />}
        </div>
      </Panel>
    </PlainForm>
  )
}

/** It comes with the types of events, which would push it down. */
const Submit = ({ isPending }: { isPending: boolean }) => (
  <div>
    <Button type="submit" loading={isPending}>
      {textsOf(siemTexts).replayNow}
    </Button>
  </div>
)

const Progress = ({ jobId }: { jobId: string }) => {
  const t = textsOf(siemTexts)
  const job = useQuery({
    ...replayQuery(jobId),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? pollReplay : false),
  })
  const gone = [400, 404].includes(statusOf(job.error) ?? 0)
  const is = job.data
  return (
    <>
      {gone ? <p className={parts.empty}>{t.jobGone}</p> : <Trouble what={t.what.replay} query={job} />}
      {job.isPending && <Waiting lines={3} />}
      {is && !gone && <Job job={is} />}
      <div>
        <ButtonLink
          to="/siem/replay"
          search={{}}
          variant="default"
          onClick={() => void queries.invalidateQueries({ queryKey: ['siem', 'status'] })}
        >
          {t.jobAnother}
        </ButtonLink>
      </div>
    </>
  )
}

const Job = ({ job }: { job: ReplayJob }) => {
  const t = textsOf(siemTexts)
  return (
    <Panel title={t.job}>
      <div className={styles.outcome}>
        <div role="status">
          <State is={job.status} />
        </div>
        {job.total_events === 0 ? (
          <p>{t.jobNothing}</p>
        ) : (
          <div>
            <progress className={styles.progress} aria-label={t.jobProgress} max={100} value={job.progress_percent} />
            <p>{t.jobOf(number(job.events_sent), number(job.total_events))}</p>
          </div>
        )}
        <dl className={styles.figures}>
          <Figure name={t.jobTotal}>{number(job.total_events)}</Figure>
          <Figure name={t.jobSent}>{number(job.events_sent)}</Figure>
          <Figure name={t.jobFailed}>{number(job.events_failed)}</Figure>
          <Figure name={t.jobStarted}>
            <Time at={job.started_at} />
          </Figure>
        </dl>
        {job.status === 'running' && <p className={parts.muted}>{t.jobGoesOn}</p>}
        <Link to="/siem/delivery" className={parts.link}>
          {t.toDelivery}
        </Link>
      </div>
    </Panel>
  )
}
const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
