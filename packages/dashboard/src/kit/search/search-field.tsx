import { useEffect, useId, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { IconHelpCircle, IconSearch, IconX } from '@tabler/icons-react'
import { parseQuery, queryBounds } from '@stockade/contract/query/index.ts'
import type { QueryLanguage, QueryProblem } from '@stockade/contract/query/index.ts'
import parts from '../parts.module.css'
import { useTyped } from '../typed.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { choose, offersAt } from './completion.ts'
import type { Offer, Offers, ValuesOf } from './completion.ts'
import { SearchHelp } from './search-help.tsx'
import { searchTexts } from './search.texts.ts'
import styles from './search.module.css'

/** How long typing rests before it counts, in milliseconds. */
const pause = 400

/**
 * The search of a list in the grammar of `language`: completes fields and values, and says what is wrong where it is wrong.
 * `value` is what the address says; `onApply` takes what can be read, on Enter or when the typing rests. `replace`: it goes
 * on with what was applied since the field had the focus, so that Back leads to before all of it.
 */
export const SearchField = (props: {
  language: QueryLanguage
  value: string
  onApply: (query: string, replace: boolean) => void
  valuesOf: ValuesOf
  label: string
  placeholder: string
}) => {
  const t = textsOf(searchTexts)
  const { language, value, valuesOf } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const under = useRef<HTMLDivElement>(null)
  const going = useRef(false)
  const [caret, setCaret] = useState<number | null>(null)
  const [asked, setAsked] = useState(false)
  const [active, setActive] = useState(-1)
  const [calm, setCalm] = useState(value)
  const [help, setHelp] = useState(false)
  const readable = (text: string) => parseQuery(text, language).ok
  const { typed, setTyped, apply } = useTyped(
    value,
    text => {
      props.onApply(text, going.current)
      going.current = true
    },
    { wait: pause, valid: readable },
  )
  useEffect(() => {
    const timer = setTimeout(() => setCalm(typed), pause)
    return () => clearTimeout(timer)
  }, [typed])
  useEffect(() => {
    if (under.current && input.current) under.current.scrollLeft = input.current.scrollLeft
  })

  const offers = caret === null ? null : offersAt(typed, caret, language, valuesOf, asked)
  const chosen = offers?.list[active]
  const parsed = parseQuery(typed, language)
  const problem = !parsed.ok && calm === typed && !offers ? parsed.problem : null
  const close = () => {
    setCaret(null)
    setAsked(false)
    setActive(-1)
  }
  /** Writes, and leaves the caret where it belongs. */
  const write = (text: string, at = text.length) => {
    setTyped(text)
    requestAnimationFrame(() => {
      input.current?.focus()
      input.current?.setSelectionRange(at, at)
    })
  }
  const take = (given: Offers, offer: Offer) => {
    const next = choose(typed, given, offer)
    write(next.text, next.caret)
    setActive(-1)
    setAsked(false)
    setCaret(offer.whole ? null : next.caret)
  }
  const step = (by: 1 | -1, count: number) => setActive((active + by + count + (active < 0 && by < 0 ? 1 : 0)) % count)
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (offers) return step(event.key === 'ArrowDown' ? 1 : -1, offers.list.length)
      setAsked(true)
      setCaret(event.currentTarget.selectionStart ?? typed.length)
      setActive(0)
    } else if (event.key === 'Escape' && (offers || help)) {
      // Not further: Escape also closes what stands beside the list.
      event.preventDefault()
      event.stopPropagation()
      if (!offers) setHelp(false)
      close()
    } else if ((event.key === 'Enter' || event.key === 'Tab') && offers && chosen) {
      event.preventDefault()
      take(offers, chosen)
    }
  }
  const use = ({ at, length, nearest }: QueryProblem) =>
    nearest !== undefined && write(typed.slice(0, at) + nearest + typed.slice(at + length), at + nearest.length)

  return (
    <div className={styles.search}>
      <form
        className={styles.field}
        onSubmit={event => {
          event.preventDefault()
          close()
          setCalm(typed)
          if (parsed.ok) apply()
          going.current = false
        }}
      >
        <div className={styles.under} ref={under} aria-hidden="true" dir="ltr">
          {problem && (
            <>
              {typed.slice(0, problem.at)}
              <span data-wrong>{typed.slice(problem.at, problem.at + problem.length) || ' '}</span>
              {typed.slice(problem.at + problem.length)}
            </>
          )}
        </div>
        <IconSearch size={16} className={styles.glass} aria-hidden="true" />
        <input
          ref={input}
          className={`${parts.input} ${styles.input ?? ''}`}
          type="text"
          role="combobox"
          aria-label={props.label}
          aria-expanded={offers !== null}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={chosen ? `${id}-${active}` : undefined}
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? `${id}-problem` : undefined}
          placeholder={props.placeholder}
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          enterKeyHint="search"
          dir="ltr"
          maxLength={queryBounds.length}
          value={typed}
          onChange={event => {
            setTyped(event.currentTarget.value)
            setCaret(event.currentTarget.selectionStart)
            setAsked(false)
            setActive(-1)
          }}
          onKeyDown={onKey}
          onClick={close}
          onBlur={() => {
            close()
            going.current = false
          }}
          onScroll={event => {
            if (under.current) under.current.scrollLeft = event.currentTarget.scrollLeft
          }}
        />
        <span className={styles.buttons}>
          {typed !== '' && (
            <button type="button" className={styles.button} aria-label={t.clear} onClick={() => write('')}>
              <IconX size={16} />
            </button>
          )}
          <button
            type="button"
            className={styles.button}
            aria-label={t.help}
            aria-expanded={help}
            aria-controls={`${id}-help`}
            onClick={() => setHelp(!help)}
          >
            <IconHelpCircle size={18} />
          </button>
        </span>
        <span className={parts.hidden} role="status">
          {offers ? t.found(offers.list.length) : ''}
        </span>
        {offers && (
          <ul className={styles.offers} role="listbox" id={`${id}-list`} aria-label={t.suggestions}>
            {offers.list.map((offer, index) => (
              <li
                key={offer.text}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active}
                ref={element => {
                  if (index === active) element?.scrollIntoView({ block: 'nearest' })
                }}
                // The field keeps the focus.
                onPointerDown={event => event.preventDefault()}
                onClick={() => take(offers, offer)}
              >
                <bdi>{offer.text}</bdi>
                <span>{offer.meaning}</span>
              </li>
            ))}
          </ul>
        )}
      </form>
      {problem && (
        <p className={styles.problem} id={`${id}-problem`} role="status">
          <span className={parts.error}>{problem.message}</span>
          {problem.nearest !== undefined && (
            <button type="button" className={parts.chip} onClick={() => use(problem)}>
              {t.use(problem.nearest)}
            </button>
          )}
        </p>
      )}
      {help && (
        <SearchHelp
          id={`${id}-help`}
          language={language}
          onInsert={example => write(typed.trim() === '' ? example : `${typed.trimEnd()} ${example}`)}
        />
      )}
    </div>
  )
}
