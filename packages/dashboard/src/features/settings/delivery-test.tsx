import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { stepsOf } from '../../kit/step-list.ts'
import type { Step } from '../../kit/step-list.ts'
import { Steps } from '../../kit/steps.tsx'
import { Time } from '../../kit/time.tsx'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { settingsQuery } from '../identity/queries.ts'
import type { Chat, Email } from './notifications-form.ts'
import { notificationsTexts } from './notifications.texts.ts'
import styles from './settings.module.css'

/** How it went so far, in the other side's words. */
export const Delivery = ({ is }: { is: Pick<Chat | Email, 'last_sent' | 'last_error' | 'failing_since'> }) => {
  const t = textsOf(notificationsTexts)
  return (
    <dl className={parts.details}>
      <dt>{t.lastSent}</dt>
      <dd>{is.last_sent ? <Time at={is.last_sent} /> : t.nothingSent}</dd>
      {is.failing_since && (
        <>
          <dt>{t.failingSince}</dt>
          <dd>
            <Time at={is.failing_since} />
          </dd>
        </>
      )}
      {is.last_error && (
        <>
          <dt>{t.lastError}</dt>
          <dd className={styles.outcome}>
            <bdi>{is.last_error}</bdi>
          </dd>
        </>
      )}
    </dl>
  )
}

interface Outcome {
  readonly message: string
  readonly steps: readonly Step[]
}
const timed = async (send: () => Promise<Outcome>) => {
  const began = performance.now()
  const { message, steps } = await send()
  return { words: message, steps, seconds: ((performance.now() - began) / 1000).toFixed(1) }
}

/** Sends a test message, and shows each step of its way. */
export const DeliveryTest = (props: {
  channel: string
  unsaved: boolean
  says?: string
  send: () => Promise<Outcome>
}) => {
  const t = textsOf(notificationsTexts)
  const [early, setEarly] = useState(false)
  const run = useMutation({
    mutationFn: () => timed(props.send),
    onSettled: () => queries.invalidateQueries({ queryKey: settingsQuery.queryKey }),
  })
  const steps = stepsOf(run.error)
  const start = () => {
    setEarly(props.unsaved)
    if (!props.unsaved && !run.isPending) run.mutate()
  }
  return (
    <div className={parts.block}>
      <Button variant="default" aria-label={t.testOf(props.channel)} onClick={start} loading={run.isPending}>
        {t.test}
      </Button>
      {props.says && <p className={parts.help}>{props.says}</p>}
      <div role="status" className={styles.outcome}>
        {early && props.unsaved && <p className={parts.warn}>{t.testSaveFirst}</p>}
        {run.isPending && <p>{t.testing}</p>}
        {run.data && (
          <p>
            <Mark tone="ok">{t.testDone}</Mark> {t.testTook(run.data.words, run.data.seconds)}
          </p>
        )}
      </div>
      {run.data && <Steps done={run.data.steps} />}
      {run.error && (
        <div className={`${parts.refusal ?? ''} ${styles.outcome ?? ''}`} role="alert">
          <strong>{t.testFailed}</strong>
          <p>{sentenceOf(run.error)}</p>
        </div>
      )}
      {steps.length > 0 && <Steps done={steps} />}
    </div>
  )
}
