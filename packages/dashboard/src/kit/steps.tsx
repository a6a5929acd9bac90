import { textsOf } from '../lib/texts/catalogue.ts'
import { number } from '../lib/numbers.ts'
import parts from './parts.module.css'
import { Mark } from './state.tsx'
import { notReached } from './step-list.ts'
import type { Step, StepName } from './step-list.ts'
import { stepsTexts } from './steps.texts.ts'
import styles from './steps.module.css'
import { Stranger } from './stranger.tsx'

/** What was done on the way to another side, each with its time; after a failure also what was not come to. */
export const Steps = ({ done, planned = [] }: { done: readonly Step[]; planned?: readonly StepName[] }) => {
  const t = textsOf(stepsTexts)
  return (
    <ol className={styles.steps} aria-label={t.label}>
      {done.map(({ name, ok, ms, detail }, index) => (
        <li key={index}>
          <span>{t.steps[name]}</span>
          <span className={parts.muted}>{t.ms(number(ms))}</span>
          <Mark tone={ok ? 'ok' : 'danger'}>{ok ? t.done : t.failed}</Mark>
          <span className={styles.detail}>
            <Stranger text={detail} most={600} />
          </span>
        </li>
      ))}
      {done.some(({ ok }) => !ok) &&
        notReached(planned, done).map(name => (
          <li key={name}>
            <span>{t.steps[name]}</span>
            <span />
            <Mark tone="neutral">{t.notReached}</Mark>
          </li>
        ))}
    </ol>
  )
}
