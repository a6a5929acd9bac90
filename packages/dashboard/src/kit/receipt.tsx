import type { ReactNode } from 'react'
import { IconCheck } from '@tabler/icons-react'
import { isSettled, phaseOf, segmentsOf } from './receipt-state.ts'
import type { ReceiptCounts, ReceiptPhase } from './receipt-state.ts'
import styles from './receipt.module.css'
import { Shape } from './state.tsx'
import type { Tone } from './state.tsx'

const tones: Record<ReceiptPhase, Tone> = {
  asked: 'info',
  running: 'info',
  done: 'ok',
  'rest-later': 'ok',
  'partly-failed': 'warn',
  failed: 'danger',
  cancelled: 'neutral',
}

/** One segment a server, in the order of what became of them. */
export const ReceiptBar = ({ counts, label, most }: { counts: ReceiptCounts; label: string; most?: number }) => (
  <span
    className={styles.bar}
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={Math.max(1, counts.total)}
    aria-valuenow={counts.done + counts.failed + counts.cancelled}
  >
    {segmentsOf(counts, most).map((is, index) => (
      <i key={index} data-is={is} />
    ))}
  </span>
)

/** What went well has a tick, everything else its shape. */
export const ToneMark = ({ tone, turning = false }: { tone: Tone; turning?: boolean }) =>
  tone === 'ok' ? <IconCheck size={14} stroke={2.5} aria-hidden="true" /> : <Shape tone={tone} turning={turning} />

/** What was asked, how far it is, what failed and what follows later: the same in dialogs, toasts and the activity. */
export const Receipt = (props: {
  counts: ReceiptCounts
  label: string
  sentence: string
  /** What follows later and what failed, a line each. */
  notes: readonly string[]
  acts?: ReactNode
  /** The servers, where there is room for them. */
  children?: ReactNode
}) => {
  const { counts, label, sentence, notes, acts, children } = props
  const phase = phaseOf(counts)
  return (
    <div className={styles.receipt} data-receipt={phase}>
      <span className={styles.node} data-tone={tones[phase]}>
        <ToneMark tone={tones[phase]} turning={!isSettled(phase)} />
      </span>
      <div className={styles.body}>
        <p className={styles.sentence}>
          <bdi>{sentence}</bdi>
        </p>
        {counts.total > 1 && <ReceiptBar counts={counts} label={label} />}
        {notes.map(note => (
          <p key={note} className={styles.note}>
            <bdi>{note}</bdi>
          </p>
        ))}
        {children}
      </div>
      {acts && <div className={styles.acts}>{acts}</div>}
    </div>
  )
}
