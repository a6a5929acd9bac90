import { useEffect, useRef, useState } from 'react'
import { IconX } from '@tabler/icons-react'
import { PathLink } from '../../kit/path-link.tsx'
import { toasts, useShownToasts } from '../../kit/toasts.ts'
import type { Toast } from '../../kit/toasts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { toastsTexts } from './toasts.texts.ts'
import styles from './toasts.module.css'

/** What was told lately, at the bottom. While the pointer or the focus is on them, their time stands still. */
export const Toasts = () => {
  const all = useShownToasts()
  const [over, setOver] = useState(false)
  const [focused, setFocused] = useState(false)
  // One that went takes the pointer and the focus with it, and no browser says so.
  if (all.length === 0 && (over || focused)) {
    setOver(false)
    setFocused(false)
  }
  const show = (toast: Toast) => <One key={toast.id} toast={toast} still={over || focused} />
  return (
    <section
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

const One = ({ toast, still }: { toast: Toast; still: boolean }) => {
  const t = textsOf(toastsTexts)
  const { id, lasts, undo } = toast
  const left = useRef(lasts)
  useEffect(() => {
    if (still || left.current === null) return
    const began = Date.now()
    const before = left.current
    const timer = setTimeout(() => toasts.close(id), before)
    return () => {
      clearTimeout(timer)
      left.current = Math.max(1000, before - (Date.now() - began))
    }
  }, [id, still])
  return (
    <div className={styles.toast} data-error={toast.error || undefined}>
      <p>
        <bdi>{toast.text}</bdi>{' '}
        {toast.link && (
          <PathLink path={toast.link.path} onGo={() => toasts.close(id)}>
            {toast.link.text}
          </PathLink>
        )}
      </p>
      {undo && (
        <button
          type="button"
          className={styles.undo}
          onClick={() => {
            toasts.close(id)
            undo()
          }}
        >
          {t.undo}
        </button>
      )}
      <button type="button" className={styles.close} aria-label={t.close} onClick={() => toasts.close(id)}>
        <IconX size={16} />
      </button>
    </div>
  )
}
