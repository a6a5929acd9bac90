import { useEffect, useRef } from 'react'
import type { ReactNode, RefObject } from 'react'
import { Button } from '@mantine/core'
import { textsOf } from '../lib/texts/catalogue.ts'
import type { FormState } from './form.ts'
import styles from './form.module.css'
import { formTexts } from './form.texts.ts'
import { useLeaveGuard } from './leave.ts'
import parts from './parts.module.css'
import { Refusal } from './trouble.tsx'

/**
 * The element of a form. Its bar appears with the first change, says what would be saved and saves it, by Ctrl S too;
 * a form in a dialog or with a button of its own has none. Leaving the page with changes asks first.
 */
export const Form = (props: {
  form: FormState
  bar?: boolean
  id?: string
  className?: string | undefined
  children: ReactNode
}) => {
  const { form, bar = true } = props
  const element = useRef<HTMLFormElement>(null)
  const isChanged = form.changes.length > 0
  // While it is saved nothing is lost any more, and some forms leave by themselves then.
  useLeaveGuard(isChanged && !form.isSaving)
  useSaveKey(isChanged, element)
  useEffect(() => {
    if (form.refusals > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [form.refusals])
  return (
    <form
      ref={element}
      id={props.id}
      className={[parts.form, bar ? styles.marked : '', props.className].filter(Boolean).join(' ')}
      onSubmit={form.submit}
      noValidate
    >
      {props.children}
      <Refusal error={form.refusal} />
      {bar && isChanged && <SaveBar form={form} />}
    </form>
  )
}

/** Ctrl S saves. */
const useSaveKey = (isOn: boolean, element: RefObject<HTMLFormElement | null>) =>
  useEffect(() => {
    if (!isOn) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      element.current?.requestSubmit()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn, element])

/** With so much room below the bar, in pixels, toasts stay at the bottom of the window; else they lie above the bar. */
const roomOfToasts = 320

/**
 * It lies over the page: what takes the focus rests above it, and so do the toasts. At the end of the page it rests where the
 * form ends, so its place is read again whenever the page moves.
 */
const useReservedHeight = (bar: RefObject<HTMLDivElement | null>) =>
  useEffect(() => {
    const { style } = document.documentElement
    const place = () => {
      if (!bar.current) return
      const { top, bottom, height } = bar.current.getBoundingClientRect()
      const end = innerHeight - parseFloat(getComputedStyle(bar.current).insetBlockEnd || '0')
      style.scrollPaddingBlockEnd = `calc(var(--bottom) + ${height + 16}px)`
      style.setProperty('--save-bar', `${end - bottom > roomOfToasts ? 0 : Math.max(0, end - top)}px`)
    }
    place()
    const watch = new ResizeObserver(place)
    watch.observe(document.body)
    if (bar.current) watch.observe(bar.current)
    addEventListener('scroll', place, { passive: true, capture: true })
    addEventListener('resize', place)
    return () => {
      watch.disconnect()
      removeEventListener('scroll', place, { capture: true })
      removeEventListener('resize', place)
      style.scrollPaddingBlockEnd = ''
      style.removeProperty('--save-bar')
    }
  }, [bar])

const SaveBar = ({ form }: { form: FormState }) => {
  const t = textsOf(formTexts)
  const bar = useRef<HTMLDivElement>(null)
  const { changes, overtaken } = form
  useReservedHeight(bar)
  return (
    <div className={styles.bar} role="group" aria-label={t.unsaved} ref={bar}>
      <div className={styles.changes}>
        {overtaken.length > 0 && (
          <p className={parts.warn} role="alert">
            {t.overtaken(overtaken.join(', '))}
          </p>
        )}
        {form.isHeldBack && (
          <p className={parts.error} role="alert">
            {t.fixFirst}
          </p>
        )}
        {/* A long list scrolls, so the keyboard has to reach it. */}
        <div
          className={styles.list}
          tabIndex={changes.length > 3 ? 0 : undefined}
          {...(changes.length > 3 ? { role: 'group', 'aria-label': t.changes(changes.length) } : {})}
        >
          <strong>{t.changes(changes.length)}</strong>
          <ul>
            {changes.map(({ name, from, to }) => (
              <li key={name}>
                {t.ofField(name)} {from} → <b>{to}</b>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <div className={styles.acts}>
        <Button variant="subtle" color="gray" onClick={form.discard}>
          {t.discard}
        </Button>
        <Button type="submit" loading={form.isSaving}>
          {t.saveChanges}
        </Button>
      </div>
    </div>
  )
}

/** The buttons of a form without a bar. A draft of an earlier visit can be discarded there. */
export const FormButtons = (props: { form: FormState; submit: string; children?: ReactNode }) => {
  const { form } = props
  const t = textsOf(formTexts)
  return (
    <div className={parts.row}>
      <Button type="submit" loading={form.isSaving}>
        {props.submit}
      </Button>
      {props.children}
      {form.changes.length > 0 && (
        <Button variant="subtle" color="gray" onClick={form.discard}>
          {t.discard}
        </Button>
      )}
      {form.isHeldBack && (
        <span className={parts.error} role="alert">
          {t.fixFirst}
        </span>
      )}
    </div>
  )
}
