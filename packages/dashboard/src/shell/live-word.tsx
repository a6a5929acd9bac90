import { live, useLive } from '../api/live.ts'
import { Mark } from '../parts/state.tsx'
import parts from '../parts/parts.module.css'
import { textsOf } from '../texts/catalogue.ts'
import { clockTime } from '../words/time.ts'
import { shellTexts } from './shell.texts.ts'
import styles from './shell.module.css'

/** The state of the connection in words, and a way to try again. */
export const LiveWord = () => {
  const t = textsOf(shellTexts)
  const { phase, since } = useLive()
  return (
    <div className={styles.live} role="status" aria-label={t.connection}>
      {phase === 'live' && <Mark tone="ok">{t.live}</Mark>}
      {phase === 'catching-up' && <Mark tone="info">{t.catchingUp}</Mark>}
      {phase === 'starting' && <Mark tone="neutral">{t.connecting}</Mark>}
      {phase === 'polling' && <Mark tone="warn">{t.liveOff}</Mark>}
      {phase === 'offline' && (
        <>
          <Mark tone="danger">{t.offlineSince(clockTime(since))}</Mark>
          <button type="button" className={parts.quiet} onClick={live.retry}>
            {t.retry}
          </button>
        </>
      )}
    </div>
  )
}
