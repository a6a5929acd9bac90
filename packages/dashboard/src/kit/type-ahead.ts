import { useLayoutEffect } from 'react'
import { createShared } from '../lib/shared.ts'

/*
 * Keys that are typed between the command that opens a dialog and the moment its field has the focus. They are meant for that field:
 * none may be lost, and none may act on the page below.
 */

const typed = createShared('')
let isEntered = false
let isListening = false
/** Dialogs that are on their way, or there without a focus. */
let expected = 0

const isOfDialog = (target: EventTarget | null): target is Element =>
  target instanceof Element && target.closest('[role=dialog]') !== null

const catchKey = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isOfDialog(event.target)) return
  if (event.key.length === 1) typed.set(typed.get() + event.key)
  else if (event.key === 'Backspace') typed.set(typed.get().slice(0, -1))
  else if (event.key === 'Enter') isEntered = true
  else return
  event.preventDefault()
  event.stopImmediatePropagation()
}

/** Puts text in place of the selection, so that React hears of it as of typing. */
const insert = (field: HTMLInputElement | HTMLTextAreaElement, text: string): void => {
  const from = field.selectionStart ?? field.value.length
  const to = field.selectionEnd ?? field.value.length
  const whole = field.value.slice(0, from) + text + field.value.slice(to)
  const prototype: unknown = Object.getPrototypeOf(field)
  Object.getOwnPropertyDescriptor(prototype, 'value')?.set?.call(
    field,
    field.maxLength < 0 ? whole : whole.slice(0, field.maxLength),
  )
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

/** The field has it from here on. What has no text, such as a question with two buttons, gets nothing: it is to be read first. */
const handOver = ({ target }: FocusEvent): void => {
  if (!isOfDialog(target)) return
  const [text, enters] = [typed.get(), isEntered]
  stop()
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return
  if (text !== '') insert(target, text)
  // React has taken the text by then.
  if (enters)
    setTimeout(() => {
      const isFree = target.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }),
      )
      if (isFree) target.form?.requestSubmit()
    })
}

const stop = (): void => {
  isListening = false
  typed.set('')
  isEntered = false
  removeEventListener('keydown', catchKey, true)
  removeEventListener('focusin', handOver)
}

const expectField = () => {
  expected++
  if (!isListening) {
    isListening = true
    addEventListener('keydown', catchKey, true)
    addEventListener('focusin', handOver)
  }
  return () => {
    expected--
    // What loads makes room for the dialog in the same moment.
    setTimeout(() => {
      if (expected === 0 && isListening) stop()
    })
  }
}

/** Keeps what is typed for the field that gets the focus in a dialog, for as long as the component is there or until then. */
export const useTypeAhead = (): void => useLayoutEffect(expectField, [])
/** What was typed so far. */
export const useTypedAhead = typed.use
