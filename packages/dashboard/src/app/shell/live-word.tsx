import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { live, useLive } from '../../api/live.ts'
import type { Live } from '../../api/live.ts'
import { Mark } from '../../kit/state.tsx'
import { usePreferences } from '../../kit/preferences.ts'
import { TimeSentence } from '../../kit/time.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'
import styles from './shell.module.css'

/** The state of the connection in words, with a way to stop the news and a way to try again. */
export const LiveWord = () => {
  const t = textsOf(shellTexts)
  const is = useLive()
  const [Icon, words] = is.paused ? [IconPlayerPlay, t.resume] : [IconPlayerPause, t.pause]
  return (
    <div className={styles.live} role="status" aria-label={t.connection}>
      <Word is={is} />
      {is.phase === 'offline' ? (
        <button type="button" className={parts.quiet} onClick={live.retry}>
          {t.retry}
        </button>
      ) : (
        <button
          type="button"
          className={`${parts.icon ?? ''} ${styles.pause ?? ''}`}
          data-paused={is.paused || undefined}
          aria-label={words}
          title={words}
          onClick={() => live.pause(!is.paused)}
        >
          <Icon size={16} />
        </button>
      )}
    </div>
  )
}

const Word = ({ is: { phase, since, paused } }: { is: Live }) => {
  const t = textsOf(shellTexts)
  const { reduced } = usePreferences()
  if (phase === 'offline')
    return (
      <Mark tone="danger">
        <TimeSentence at={new Date(since).toISOString()} say={t.offlineSince} />
      </Mark>
    )
  if (paused) return <Mark tone="warn">{t.paused}</Mark>
  switch (phase) {
    case 'live':
      return <Mark tone="ok">{t.live}</Mark>
    case 'catching-up':
      return <Mark tone="info">{t.catchingUp}</Mark>
    case 'starting':
      return <Mark tone="neutral">{t.connecting}</Mark>
    case 'polling':
      return <Mark tone="warn">{reduced ? t.liveNone : t.liveOff}</Mark>
  }
}
