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
import { siemSettingsQuery } from './queries.ts'
import type { SiemSettings } from './queries.ts'
import { searchFor } from './samples.ts'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'
import { plannedSteps } from './steps.ts'

/** The target of a saved destination: a test result belongs to one and disappears with it. */
const targetKey = ({
  format,
  host,
  port,
  protocol,
  framing,
  tls_enabled,
  tls_verify,
  ca_cert,
  path,
  token_set,
}: SiemSettings) =>
  JSON.stringify([format, host, port, protocol, framing, tls_enabled, tls_verify, ca_cert, path, token_set])

/** Tests what is saved, so changes are saved first; nothing is tested if that is refused. */
const useTest = (is: SiemSettings, save: () => Promise<boolean>) => {
  const [target, setTarget] = useState('')
  const run = useMutation({
    mutationFn: async () => {
      if (!(await save())) return null
      const saved = await queries.ensureQueryData(siemSettingsQuery)
      setTarget(targetKey(saved))
      // Kept with the answer: settings may be changed while the result is read.
      return { ...(await api.call('POST /siem/test')), format: saved.format }
    },
    onSuccess: answer => {
      if (answer) announce(textsOf(siemTexts).testDone)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['siem', 'status'] }),
  })
  const isOfTarget = target === targetKey(is)
  return { run, answer: isOfTarget ? run.data : null, error: isOfTarget ? run.error : null }
}

/** Proves that events arrive, or shows at which step they do not. */
export const TestEvent = (props: { is: SiemSettings; unsaved: boolean; save: () => Promise<boolean> }) => {
  const { is, unsaved, save } = props
  const t = textsOf(siemTexts)
  const [isWithoutHost, setWithoutHost] = useState(false)
  const { run, answer, error } = useTest(is, save)
  const start = () => {
    const has = unsaved || is.host !== null
    setWithoutHost(!has)
    if (has && !run.isPending) run.mutate()
  }
  const planned = plannedSteps(is)
  return (
    <Panel title={t.testTitle}>
      <div className={styles.outcome}>
        <p className={parts.muted}>{t.testAbout}</p>
        <div>
          <Button onClick={start} loading={run.isPending}>
            {unsaved ? t.saveAndTest : t.test}
          </Button>
        </div>
        <div role="status">
          {isWithoutHost && <p className={parts.warn}>{t.testNoHost}</p>}
          {run.isPending && <p>{t.testing}</p>}
        </div>
        {answer && (
          <>
            <Mark tone="ok">{t.testDone}</Mark>
            <Steps done={answer.steps} planned={planned} />
            <dl className={parts.details}>
              <dt>{t.eventId}</dt>
              <dd className={parts.mono}>{answer.event_id}</dd>
            </dl>
            <div>
              <CopyButton text={answer.event_id} label={t.copyId} />
            </div>
            <div>
              <p className={parts.muted}>{t.search}</p>
              <CopyField text={searchFor(answer.format, answer.event_id)} label={t.searchLabel} />
            </div>
            {!is.enabled && <StillOff />}
          </>
        )}
        {error && (
          <>
            <div className={parts.refusal} role="alert">
              <strong>{t.testFailed}</strong>
              <p>
                <Stranger text={sentenceOf(error)} most={600} />
              </p>
            </div>
            <Failure steps={stepsOf(error)} planned={planned} />
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
