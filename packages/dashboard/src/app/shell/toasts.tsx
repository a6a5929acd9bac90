import { useCallback, useEffect, useRef, useState } from 'react'
import { IconX } from '@tabler/icons-react'
import { dropReceipt, keptReceipts } from '../../features/fleet/kept-receipts.ts'
import { NamedReceipt } from '../../features/fleet/receipts.tsx'
import { PathLink } from '../../kit/path-link.tsx'
import type { ReceiptPhase } from '../../kit/receipt-state.ts'
import { toasts, useShownToasts } from '../../kit/toasts.ts'
import type { Toast } from '../../kit/toasts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { toastsTexts } from './toasts.texts.ts'
import styles from './toasts.module.css'

/** What was told lately, at the bottom. While the pointer or the focus is on them, their time stands still. */
export const Toasts = () => {
  const all = useShownToasts()
  useEffect(showKept, [])
  const [over, setOver] = useState(false)
  const [focused, setFocused] = useState(false)
  const section = useRef<HTMLElement>(null)
  // One that went takes the pointer and the focus with it, and no browser says so.
  useEffect(() => {
    if (!section.current?.matches(':hover')) setOver(false)
    if (!section.current?.contains(document.activeElement)) setFocused(false)
  }, [all])
  const show = (toast: Toast) => <One key={toast.id} toast={toast} still={over || focused} />
  return (
    <section
      ref={section}
      className={styles.toasts}
      aria-label={textsOf(toastsTexts).label}
      onPointerEnter={() => setOver(true)}
      onPointerLeave={() => setOver(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      {/* Both are there before there is anything to say: only then is it said. */}
      <div role="alert">{all.filter(({ error }) => error).map(show)}</div>
      <div role="status">{all.filter(({ error }) => !error).map(show)}</div>
    </section>
  )
}

/** What had not settled when the page was left is shown again; what this page asked before the toasts loaded has one already. */
const showKept = () => {
  const left = keptReceipts(Date.now()).filter(({ askedAt }) => askedAt < performance.timeOrigin)
  for (const { of, text } of left) toasts.show({ text, receipt: of })
}

/** A receipt that ended well, or is gone, needs no action; a failed one stays until it is closed. */
const isWell = (phase: ReceiptPhase | 'missing') =>
  phase === 'done' || phase === 'rest-later' || phase === 'cancelled' || phase === 'missing'

const One = ({ toast, still }: { toast: Toast; still: boolean }) => {
  const t = textsOf(toastsTexts)
  const { id, lasts, undo, receipt } = toast
  const [stays, setStays] = useState(false)
  // While servers take their time, the toast makes room for the page below it; the top bar counts on. It returns with the end.
  const [isRunning, setRunning] = useState(receipt !== undefined)
  const [isHidden, setHidden] = useState(false)
  const left = useRef(lasts)
  // A fleet ban is changed and lifted later on: that is no news of this toast any more.
  const hasSettled = useRef(false)
  const onPhase = useCallback(
    (phase: ReceiptPhase | 'missing') => {
      const runs = phase === 'asked' || phase === 'running'
      if (receipt && 'fleetBanId' in receipt) {
        if (hasSettled.current) return
        hasSettled.current = !runs
        if (phase === 'missing') toasts.close(id)
      }
      setRunning(runs)
      setStays(!runs && !isWell(phase))
      if (runs) return
      left.current = lasts
      // The whitelist changes often: that it has arrived is seen in the top bar, only what failed is shown again.
      const isQuiet = receipt !== undefined && 'whitelistSince' in receipt && isWell(phase)
      setHidden(wasHidden => wasHidden && isQuiet)
      if (receipt) dropReceipt(receipt)
    },
    [id, receipt, lasts],
  )
  const close = () => {
    toasts.close(id)
    // A closed batch is still followed in the top bar.
    if (receipt && !('batchId' in receipt)) dropReceipt(receipt)
  }
  useEffect(() => {
    if (still || stays || left.current === null) return
    const began = Date.now()
    const before = left.current
    const timer = setTimeout(() => (isRunning ? setHidden(true) : toasts.close(id)), before)
    return () => {
      clearTimeout(timer)
      left.current = Math.max(1000, before - (Date.now() - began))
    }
  }, [id, still, stays, isRunning])
  return (
    <div className={styles.toast} data-error={toast.error || undefined} hidden={isHidden}>
      <div className={styles.told}>
        {receipt ? <NamedReceipt of={receipt} going={toast.text} onPhase={onPhase} /> : <bdi>{toast.text}</bdi>}{' '}
        {toast.link && (
          <PathLink path={toast.link.path} onGo={close}>
            {toast.link.text}
          </PathLink>
        )}
      </div>
      {undo && (
        <button
          type="button"
          className={styles.undo}
          onClick={() => {
            close()
            if (receipt) dropReceipt(receipt)
            undo()
          }}
        >
          {t.undo}
        </button>
      )}
      <button type="button" className={styles.close} aria-label={t.close} onClick={close}>
        <IconX size={16} />
      </button>
    </div>
  )
}
