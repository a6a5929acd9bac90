import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { CopyButton, CopyField } from '../../kit/copy.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { stepsOf } from '../../kit/step-list.ts'
import type { Step, StepName } from '../../kit/step-list.ts'
import { Steps } from '../../kit/steps.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { SiemSettings } from './queries.ts'
import { searchFor } from './samples.ts'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'
import { plannedSteps } from './steps.ts'

/** Proves that events arrive, or shows at which step they do not. */
export const TestEvent = ({ is, unsaved }: { is: SiemSettings; unsaved: boolean }) => {
  const t = textsOf(siemTexts)
  const [early, setEarly] = useState<string | null>(null)
  const run = useMutation({
    // Kept with the answer: settings may be changed while the result is read.
    mutationFn: async () => ({ ...(await api.call('POST /siem/test')), format: is.format }),
    onSuccess: () => announce(t.testDone),
    onSettled: () => queries.invalidateQueries({ queryKey: ['siem', 'status'] }),
  })
  const start = () => {
    const why = unsaved ? t.testSaveFirst : is.host === null ? t.testNoHost : null
    setEarly(why)
    if (why === null && !run.isPending) run.mutate()
  }
  const planned = plannedSteps(is)
  return (
    <Panel title={t.testTitle}>
      <div className={styles.outcome}>
        <p className={parts.muted}>{t.testAbout}</p>
        <div>
          <Button variant={unsaved ? 'default' : 'filled'} onClick={start} loading={run.isPending}>
            {t.test}
          </Button>
        </div>
        <div role="status">
          {early !== null && <p className={parts.warn}>{early}</p>}
          {run.isPending && <p>{t.testing}</p>}
        </div>
        {run.data && (
          <>
            <Mark tone="ok">{t.testDone}</Mark>
            <Steps done={run.data.steps} planned={planned} />
            <dl className={parts.details}>
              <dt>{t.eventId}</dt>
              <dd className={parts.mono}>{run.data.event_id}</dd>
            </dl>
            <div>
              <CopyButton text={run.data.event_id} label={t.copyId} />
            </div>
            <div>
              <p className={parts.muted}>{t.search}</p>
              <CopyField text={searchFor(run.data.format, run.data.event_id)} label={t.searchLabel} />
            </div>
            {!is.enabled && <StillOff />}
          </>
        )}
        {run.error && (
          <>
            <div className={parts.refusal} role="alert">
              <strong>{t.testFailed}</strong>
              <p>
                <Stranger text={sentenceOf(run.error)} most={600} />
              </p>
            </div>
            <Failure steps={stepsOf(run.error)} planned={planned} />
          </>
        )}
      </div>
    </Panel>
  )
}

const Failure = ({ steps, planned }: { steps: readonly Step[]; planned: readonly StepName[] }) => {
  const t = textsOf(siemTexts)
  const failed = steps.find(({ ok }) => !ok)
  return (
    <>
      {steps.length > 0 && <Steps done={steps} planned={planned} />}
      <p>{t.hints[failed && failed.name !== 'authenticate' ? failed.name : 'none']}</p>
    </>
  )
}

/** The next thing to do after a test that went well. */
const StillOff = () => {
  const t = textsOf(siemTexts)
  const turnOn = useMutation({
    mutationFn: async () => {
      await api.call('PATCH /siem/settings', { body: { enabled: true } })
      await queries.invalidateQueries({ queryKey: ['siem'] })
      announce(t.turnedOn)
    },
  })
  return (
    <div className={parts.note}>
      <div className={parts.row}>
        {t.stillOff}
        <Button variant="default" onClick={() => turnOn.mutate()} loading={turnOn.isPending}>
          {t.turnOn}
        </Button>
      </div>
      <Refusal error={turnOn.error} />
    </div>
  )
}
