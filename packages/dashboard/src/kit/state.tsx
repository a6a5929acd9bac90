import type { ReactNode } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import styles from './state.module.css'

export type StateWord = keyof (typeof commonTexts)['en']['states']
export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'neutral' | 'allow' | 'ban'

const tones: Record<StateWord, Tone> = {
  pending: 'neutral',
  online: 'ok',
  offline: 'danger',
  running: 'info',
  completed: 'ok',
  failed: 'danger',
  timeout: 'danger',
  cancelled: 'neutral',
  banned: 'ban',
  expired: 'neutral',
  unbanned: 'neutral',
  next: 'neutral',
  waiting: 'info',
  done: 'ok',
  enabled: 'ok',
  disabled: 'neutral',
  synced: 'ok',
  never: 'neutral',
  whitelisted: 'allow',
  deployed: 'ok',
}

export const toneOf = (state: StateWord): Tone => tones[state]

/** The shape that goes with a tone; always beside a word or a number. */
export const Shape = ({ tone, turning = false }: { tone: Tone; turning?: boolean }) => (
  <svg className={`${styles.shape} ${turning ? styles.turning : ''}`} viewBox="0 0 10 10" aria-hidden="true">
    {tone === 'ok' && <circle cx="5" cy="5" r="4.5" />}
    {tone === 'warn' && <path d="M5 .5 9.8 9.5H.2z" />}
    {tone === 'danger' && <rect x=".75" y=".75" width="8.5" height="8.5" rx="1" />}
    {tone === 'info' && <path className={styles.line} d="M5 1.2A3.8 3.8 0 1 1 1.2 5" />}
    {tone === 'allow' && <path d="M5 .4 9.2 1.9V5.2C9.2 7.4 7.4 9 5 9.7 2.6 9 .8 7.4.8 5.2V1.9z" />}
    {tone === 'ban' && (
      <path className={styles.line} d="M2.3 2.3l5.4 5.4M8.8 5A3.8 3.8 0 1 1 1.2 5a3.8 3.8 0 0 1 7.6 0z" />
    )}
    {tone === 'neutral' && <circle className={styles.line} cx="5" cy="5" r="3.6" />}
  </svg>
)

/** A state is always a shape, a word and a colour: none of them alone has to be understood. */
export const State = (props: { is: StateWord; word?: string; tinted?: boolean; tone?: Tone }) => {
  const { is, word, tinted = false, tone = tones[is] } = props
  return (
    <span className={`${styles.state} ${styles[tone] ?? ''} ${tinted ? styles.tinted : ''}`}>
      <Shape tone={tone} turning={is === 'running'} />
      {word ?? textsOf(commonTexts).states[is]}
    </span>
  )
}

/** The same for words that are not a state of something, such as that of the connection. */
export const Mark = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={`${styles.state} ${styles[tone] ?? ''}`}>
    <Shape tone={tone} turning={false} />
    {children}
  </span>
)
