import { useId, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { Field } from './field.tsx'
import type { Bound } from './form.ts'
import styles from './form.module.css'
import { formTexts } from './form.texts.ts'
import parts from './parts.module.css'

/** With more lines nobody reads them, and typing narrows. */
const most = 50

/** One of many values: typing narrows the list, arrows and Enter choose. */
export const ChoiceField = (props: Bound<string> & { options: readonly string[]; help?: ReactNode }) => {
  const listId = useId()
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState<string>()
  const [at, setAt] = useState(-1)
  const searchText = (typed ?? '').trim().toLowerCase().replaceAll(' ', '_')
  const matches = props.options.filter(option => option.toLowerCase().includes(searchText)).slice(0, most)
  const close = () => {
    setOpen(false)
    setTyped(undefined)
    setAt(-1)
  }
  const choose = (option: string) => {
    props.onValue(option)
    close()
  }
  const move = (step: number) => {
    setOpen(true)
    setAt(matches.length === 0 ? -1 : (Math.max(at, step < 0 ? 0 : -1) + step + matches.length) % matches.length)
  }
  const onKey = (event: KeyboardEvent) => {
    const option = isOpen ? matches[at] : undefined
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event.key === 'ArrowDown' ? 1 : -1)
    else if (event.key === 'Enter' && option !== undefined) choose(option)
    else if (event.key === 'Escape' && isOpen) close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <Field label={props.label} help={props.help} error={props.error} isChanged={props.isChanged}>
      {ids => (
        <div className={styles.choice} data-control>
          <input
            {...ids}
            className={parts.input}
            role="combobox"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && at >= 0 ? `${listId}-${at}` : undefined}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={64}
            value={typed ?? props.value}
            onClick={() => setOpen(true)}
            onFocus={event => event.currentTarget.select()}
            onBlur={close}
            onKeyDown={onKey}
            onChange={event => {
              setTyped(event.currentTarget.value)
              setAt(-1)
              setOpen(true)
              props.onValue(event.currentTarget.value)
            }}
          />
          <ul id={listId} role="listbox" aria-label={props.label} className={styles.options} hidden={!isOpen}>
            {isOpen &&
              matches.map((option, index) => (
                <li
                  key={option}
                  id={`${listId}-${index}`}
                  role="option"
                  aria-selected={option === props.value}
                  data-at={index === at || undefined}
                  ref={line => {
                    if (index === at) line?.scrollIntoView({ block: 'nearest' })
                  }}
                  // Before the field loses the focus and closes the list.
                  onPointerDown={event => event.preventDefault()}
                  onClick={() => choose(option)}
                >
                  {option.replaceAll('_', ' ')}
                </li>
              ))}
            {isOpen && matches.length === 0 && (
              <li role="option" aria-selected={false} aria-disabled="true" className={parts.muted}>
                {textsOf(formTexts).noMatch}
              </li>
            )}
          </ul>
        </div>
      )}
    </Field>
  )
}
