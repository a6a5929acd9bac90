import { useEffect, useId, useRef, useState } from 'react'
import type { KeyboardEvent, RefObject } from 'react'
import { IconHelpCircle, IconSearch, IconX } from '@tabler/icons-react'
import { parseQuery, queryBounds } from '@stockade/contract/query/index.ts'
import type { QueryLanguage, QueryProblem } from '@stockade/contract/query/index.ts'
import parts from '../parts.module.css'
import { useTyped } from '../typed.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { plainText } from '../plain-text.ts'
import { choose, offersAt } from './completion.ts'
import type { Offer, Offers, ValuesOf } from './completion.ts'
import { SearchHelp } from './search-help.tsx'
import { searchTexts } from './search.texts.ts'
import { merged } from './terms.ts'
import styles from './search.module.css'

/** How long typing rests before it counts, in milliseconds. */
const pause = 400

interface SearchProps {
  readonly language: QueryLanguage
  readonly value: string
  readonly onApply: (query: string, replace: boolean) => void
  readonly valuesOf: ValuesOf
  readonly label: string
  readonly placeholder: string
}

/**
 * The search of a list in the grammar of `language`: completes fields and values, and says what is wrong where it is wrong.
 * `value` is what the address says; `onApply` takes what can be read, on Enter or when the typing rests. `replace`: it goes
 * on with what was applied since the field had the focus, so that Back leads to before all of it.
 */
export const SearchField = (props: SearchProps) => {
  const { language, label, placeholder } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  const typing = useTyping(props)
  const { typed, setTyped } = typing
  /** Writes, and leaves the caret where it belongs. */
  const write: Write = (text, at = text.length) => {
    setTyped(text)
    requestAnimationFrame(() => {
      input.current?.focus()
      input.current?.setSelectionRange(at, at)
    })
  }
  const completion = useCompletion(props, typed, write)
  const { offers, active, close } = completion
  const problem = offers ? null : typing.problem
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && (offers || help)) {
      // Not further: Escape also closes what stands beside the list.
      event.stopPropagation()
      if (!offers) setHelp(false)
      close()
    } else if (!completion.press(event.key, event.currentTarget.selectionStart)) return
    event.preventDefault()
  }
  return (
    <div className={styles.search}>
      <form
        className={styles.field}
        onSubmit={event => {
          event.preventDefault()
          close()
          typing.submit()
        }}
      >
        <Marked text={typed} problem={problem} input={input} />
        <IconSearch size={16} className={styles.glass} aria-hidden="true" />
        <input
          ref={input}
          className={`${parts.input} ${styles.input ?? ''}`}
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded={offers !== null}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={offers?.list[active] ? `${id}-${active}` : undefined}
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? `${id}-problem` : undefined}
          placeholder={placeholder}
          {...plainText}
          enterKeyHint="search"
          dir="ltr"
          maxLength={queryBounds.length}
          value={typed}
          onChange={event => {
            setTyped(event.currentTarget.value)
            completion.open(event.currentTarget.selectionStart)
          }}
          onKeyDown={onKey}
          onClick={close}
          onBlur={() => {
            close()
            typing.leave()
          }}
        />
        <Buttons id={id} isEmpty={typed === ''} onClear={() => write('')} help={help} onHelp={setHelp} />
        <OfferList id={id} offers={offers} active={active} onTake={completion.take} />
      </form>
      {problem && <Problem id={id} problem={problem} typed={typed} onWrite={write} />}
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

type Write = (text: string, caret?: number) => void

/** What is typed, sent when the typing rests, and what is wrong with it then. */
const useTyping = ({ language, value, onApply }: SearchProps) => {
  const going = useRef(false)
  const [calm, setCalm] = useState(value)
  const { typed, setTyped, apply } = useTyped(
    value,
    text => {
      onApply(text, going.current)
      going.current = true
    },
    {
      wait: pause,
      valid: text => parseQuery(text, language).ok,
      merge: (text, before, asked) => merged(text, before, asked, language),
    },
  )
  useEffect(() => {
    const timer = setTimeout(() => setCalm(typed), pause)
    return () => clearTimeout(timer)
  }, [typed])
  const parsed = parseQuery(typed, language)
  return {
    ...{ typed, setTyped },
    problem: !parsed.ok && calm === typed ? parsed.problem : null,
    submit() {
      setCalm(typed)
      if (parsed.ok) apply()
      going.current = false
    },
    /** What is typed from now on is a step of its own for Back. */
    leave() {
      going.current = false
    },
  }
}

/** What is offered at the caret, and which offer the keys have reached. */
const useCompletion = ({ language, valuesOf }: SearchProps, typed: string, write: Write) => {
  const [caret, setCaret] = useState<number | null>(null)
  const [asked, setAsked] = useState(false)
  const [active, setActive] = useState(-1)
  const offers = caret === null ? null : offersAt(typed, caret, language, valuesOf, asked)
  const chosen = offers?.list[active]
  const take = (given: Offers, offer: Offer) => {
    const next = choose(typed, given, offer)
    write(next.text, next.caret)
    setActive(-1)
    setAsked(false)
    setCaret(offer.whole ? null : next.caret)
  }
  const step = (by: 1 | -1, count: number) => setActive((active + by + count + (active < 0 && by < 0 ? 1 : 0)) % count)
  return {
    ...{ offers, active, take },
    open(at: number | null) {
      setCaret(at)
      setAsked(false)
      setActive(-1)
    },
    close() {
      setCaret(null)
      setAsked(false)
      setActive(-1)
    },
    /** Whether the key meant an offer. */
    press(key: string, at: number | null): boolean {
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        if (offers) step(key === 'ArrowDown' ? 1 : -1, offers.list.length)
        else {
          setAsked(true)
          setCaret(at ?? typed.length)
          setActive(0)
        }
        return true
      }
      if ((key !== 'Enter' && key !== 'Tab') || !offers || !chosen) return false
      take(offers, chosen)
      return true
    },
  }
}

/** The same text under the field, with what is wrong marked; it scrolls with the field. */
const Marked = (props: { text: string; problem: QueryProblem | null; input: RefObject<HTMLInputElement | null> }) => {
  const { text, problem, input } = props
  const under = useRef<HTMLDivElement>(null)
  // What is typed may move the text of the field without a scroll of its own.
  useEffect(() => {
    if (under.current && input.current) under.current.scrollLeft = input.current.scrollLeft
  })
  useEffect(() => {
    const field = input.current
    const follow = () => {
      if (under.current && field) under.current.scrollLeft = field.scrollLeft
    }
    field?.addEventListener('scroll', follow)
    return () => field?.removeEventListener('scroll', follow)
  }, [input])
  return (
    <div className={styles.under} ref={under} aria-hidden="true" dir="ltr">
      {problem && (
        <>
          {text.slice(0, problem.at)}
          <span data-wrong>{text.slice(problem.at, problem.at + problem.length) || ' '}</span>
          {text.slice(problem.at + problem.length)}
        </>
      )}
    </div>
  )
}

const Buttons = (props: {
  id: string
  isEmpty: boolean
  onClear: () => void
  help: boolean
  onHelp: (help: boolean) => void
}) => {
  const t = textsOf(searchTexts)
  const { help } = props
  return (
    <span className={styles.buttons}>
      {!props.isEmpty && (
        <button
          type="button"
          className={`${parts.icon ?? ''} ${styles.button ?? ''}`}
          aria-label={t.clear}
          onClick={props.onClear}
        >
          <IconX size={16} />
        </button>
      )}
      <button
        type="button"
        className={`${parts.icon ?? ''} ${styles.button ?? ''}`}
        aria-label={t.help}
        aria-expanded={help}
        aria-controls={`${props.id}-help`}
        onClick={() => props.onHelp(!help)}
      >
        <IconHelpCircle size={18} />
      </button>
    </span>
  )
}

const OfferList = (props: {
  id: string
  offers: Offers | null
  active: number
  onTake: (offers: Offers, offer: Offer) => void
}) => {
  const t = textsOf(searchTexts)
  const { id, offers, active, onTake } = props
  return (
    <>
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
              onClick={() => onTake(offers, offer)}
            >
              <bdi>{offer.text}</bdi>
              <span>{offer.meaning}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const Problem = (props: { id: string; problem: QueryProblem; typed: string; onWrite: Write }) => {
  const t = textsOf(searchTexts)
  const { typed, onWrite } = props
  const { at, length, message, nearest } = props.problem
  return (
    <p className={styles.problem} id={`${props.id}-problem`} role="status">
      <span className={parts.error}>{message}</span>
      {nearest !== undefined && (
        <button
          type="button"
          className={parts.chip}
          onClick={() => onWrite(typed.slice(0, at) + nearest + typed.slice(at + length), at + nearest.length)}
        >
          {t.use(nearest)}
        </button>
      )}
    </p>
  )
}
