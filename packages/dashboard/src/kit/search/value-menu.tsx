import { useEffect, useRef, useState } from 'react'
import type { KeyboardEvent, PointerEvent, ReactNode } from 'react'
import { IconArrowRight, IconCopy, IconDotsVertical, IconFilter, IconFilterOff } from '@tabler/icons-react'
import { announce } from '../announce.tsx'
import { copyText } from '../copy.tsx'
import parts from '../parts.module.css'
import { toasts } from '../toasts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { searchTexts } from './search.texts.ts'
import styles from './search.module.css'

/** What can be done with a value. Without `filter` the list has no field for it. */
export interface ValueActs {
  /** As it is shown and copied. */
  readonly value: string
  readonly filter?: () => void
  readonly exclude?: () => void
  /** Where the value has a page. */
  readonly open?: () => void
  readonly more?: readonly Act[]
}
export interface Act {
  readonly text: string
  readonly icon?: ReactNode
  readonly act: () => void
}

/** Works on plain http too, by way of a field. `said`: the announcement for a text that is too long to repeat. */
export const copyValue = async (text: string, said?: string): Promise<void> => {
  const t = textsOf(searchTexts)
  const done = said ?? t.copied(text)
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.className = parts.hidden ?? ''
  field.value = text
  document.querySelector('main')?.append(field)
  const copied = await copyText(text, field)
  field.remove()
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  if (copied) announce(done)
  toasts.show(copied ? { text: done } : { text: t.notCopied, error: true })
}

type Opened = 'pointer' | 'focus' | null
const times = { hover: 550, leave: 250, press: 500 } as const

/**
 * A value that opens a menu: by a click, a tap or Enter, and by a pointer that rests on it. `link` is for values that lead
 * somewhere themselves: these open it by a long press, or by the button beside them; `quiet`: it is seen with the focus only.
 */
export const Value = (props: {
  acts: ValueActs
  children?: ReactNode
  link?: ReactNode
  quiet?: boolean
  dotKey?: string
  /** For a button that shows something else than the value, such as three dots. */
  label?: string
  className?: string | undefined
}) => {
  const t = textsOf(searchTexts)
  const { acts } = props
  const [opened, setOpened] = useState<Opened>(null)
  const place = useRef<HTMLSpanElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const pressed = useRef(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  const later = (wait: number, act: () => void) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(act, wait)
  }
  const close = (back: boolean) => {
    clearTimeout(timer.current)
    setOpened(null)
    if (back) button.current?.focus()
  }
  const onMove = (event: PointerEvent) => {
    // A page that scrolls under a resting pointer is not what the pointer asked for.
    if (event.pointerType !== 'mouse' || (event.movementX === 0 && event.movementY === 0)) return
    if (opened === null && event.buttons === 0) later(times.hover, () => setOpened('pointer'))
    else clearTimeout(timer.current)
  }
  const onDown = (event: PointerEvent) => {
    pressed.current = false
    if (event.pointerType === 'mouse') clearTimeout(timer.current)
    else if (opened === null)
      later(times.press, () => {
        pressed.current = true
        setOpened('focus')
      })
  }
  return (
    <span
      ref={place}
      className={styles.place}
      onPointerMove={onMove}
      onPointerLeave={event => {
        if (event.pointerType !== 'mouse') return
        if (opened === 'pointer') later(times.leave, () => setOpened(null))
        else clearTimeout(timer.current)
      }}
      onPointerDown={onDown}
      onPointerUp={event => {
        if (event.pointerType !== 'mouse') clearTimeout(timer.current)
      }}
      onPointerCancel={() => clearTimeout(timer.current)}
      onClickCapture={event => {
        // The click that ends a long press.
        if (!pressed.current) return
        pressed.current = false
        event.preventDefault()
        event.stopPropagation()
      }}
      onContextMenu={event => {
        if (opened === 'focus') event.preventDefault()
      }}
    >
      {props.link ?? null}
      <button
        ref={button}
        type="button"
        className={
          props.className ??
          (props.link ? `${parts.icon} ${styles.dots ?? ''}` : `${parts.value} ${styles.value ?? ''}`)
        }
        aria-haspopup="menu"
        aria-expanded={opened !== null}
        {...(props.link ? { 'aria-label': t.menu(acts.value), 'data-quiet': props.quiet || undefined } : {})}
        {...(props.label ? { 'aria-label': props.label } : {})}
        {...(props.dotKey ? { 'data-key': props.dotKey } : {})}
        onClick={() => (opened === 'focus' ? close(true) : setOpened('focus'))}
      >
        {props.link ? <IconDotsVertical size={14} /> : props.children}
      </button>
      {opened && <Menu acts={acts} by={opened} place={place} onClose={close} />}
    </span>
  )
}

const Menu = (props: {
  acts: ValueActs
  by: Exclude<Opened, null>
  place: React.RefObject<HTMLElement | null>
  onClose: (back: boolean) => void
}) => {
  const t = textsOf(searchTexts)
  const { acts, by, place, onClose } = props
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = menu.current
    if (!box) return
    // In the top layer nothing cuts it off. Where the page moves under it, it stays with its value.
    box.showPopover()
    const put = () => {
      const at = place.current?.getBoundingClientRect()
      if (!at || at.bottom < 0 || at.top > innerHeight) return onClose(false)
      const { width, height } = box.getBoundingClientRect()
      const below = at.bottom + height + 8 < innerHeight
      box.style.insetBlockStart = `${below ? at.bottom : Math.max(8, at.top - height)}px`
      box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`
    }
    put()
    const away = (event: Event) => {
      if (event.target instanceof Node && place.current?.contains(event.target)) return
      onClose(false)
    }
    addEventListener('pointerdown', away)
    addEventListener('scroll', put, true)
    return () => {
      removeEventListener('pointerdown', away)
      removeEventListener('scroll', put, true)
    }
  }, [place, onClose])
  useEffect(() => {
    if (by === 'focus') menu.current?.querySelector<HTMLElement>('button')?.focus()
  }, [by])
  const onKey = (event: KeyboardEvent) => {
    const all = [...(menu.current?.querySelectorAll<HTMLElement>('button') ?? [])]
    const at = all.findIndex(one => one === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (to !== undefined) all.at(to % all.length)?.focus()
    else if (event.key === 'Escape') onClose(true)
    else if (event.key === 'Tab') return onClose(true)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const items = [
    ...(acts.filter ? [{ text: t.filter, icon: <IconFilter size={16} />, act: acts.filter }] : []),
    ...(acts.exclude ? [{ text: t.exclude, icon: <IconFilterOff size={16} />, act: acts.exclude }] : []),
    ...(acts.open ? [{ text: t.open, icon: <IconArrowRight size={16} />, act: acts.open }] : []),
    ...(acts.more ?? []),
    { text: t.copy, icon: <IconCopy size={16} />, act: () => void copyValue(acts.value) },
  ]
  return (
    <div
      ref={menu}
      popover="manual"
      className={styles.menu}
      role={by === 'focus' ? 'menu' : 'group'}
      aria-label={t.menu(acts.value)}
      onKeyDown={onKey}
      onBlur={event => {
        if (by === 'focus' && event.relatedTarget && !place.current?.contains(event.relatedTarget)) onClose(false)
      }}
    >
      <p className={styles.whole} role="presentation">
        <bdi>{acts.value}</bdi>
      </p>
      {items.map(({ text, icon, act }) => (
        <button
          key={text}
          type="button"
          role={by === 'focus' ? 'menuitem' : undefined}
          tabIndex={by === 'focus' ? -1 : 0}
          onClick={() => {
            onClose(true)
            act()
          }}
        >
          {icon}
          {text}
        </button>
      ))}
    </div>
  )
}
