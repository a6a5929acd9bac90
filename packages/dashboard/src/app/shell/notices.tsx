import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { optionsQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay, useMe } from '../../api/session.ts'
import { licenceQuery } from '../../features/identity/queries.ts'
import { statusQuery } from '../../features/siem/queries.ts'
import { announce } from '../../kit/announce.tsx'
import parts from '../../kit/parts.module.css'
import { Shape } from '../../kit/state.tsx'
import { builtVersion, ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { noticesTexts } from './notices.texts.ts'
import { noticesOf } from './weight.ts'
import type { Notice, Situation } from './weight.ts'
import sheet from './activity.module.css'
import styles from './notices.module.css'
import { readStored } from '../../lib/stored.ts'

/** What is not part of a page is asked for when the page has had its turn; forwarding when somebody has stayed on it. */
const later = 1500
const muchLater = 15_000
/** The live feed tells nothing of forwarding. */
const pollSiem = 120_000

const useLater = (pause: number): boolean => {
  const [is, setIs] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIs(true), pause)
    return () => clearTimeout(timer)
  }, [pause])
  return is
}

const useSituation = (): Situation => {
  const due = useLater(later)
  const isSiemDue = useLater(muchLater)
  const isAdmin = useMay('admin').may
  const licence = useQuery({ ...licenceQuery, enabled: due && isAdmin, staleTime: 60 * 60_000 }).data
  const siem = useQuery({
    ...statusQuery,
    enabled: isSiemDue && isAdmin && licence?.features.siem === true,
    staleTime: pollSiem,
    refetchInterval: every(pollSiem),
  })
  return {
    opened: ownAddress,
    base: useQuery({ ...optionsQuery, enabled: due }).data?.base_url,
    licence: isAdmin ? licence : undefined,
    // What is shown elsewhere may be of a time when one was an admin, or had a licence.
    siem: isAdmin && licence?.features.siem ? siem.data : undefined,
    version: useMe()?.version,
    built: builtVersion,
  }
}

const place = 'stockade-dismissed'
const readDismissed = (): readonly string[] => {
  const storedNotices = readStored('sessionStorage', place)
  return Array.isArray(storedNotices) ? storedNotices.filter(name => typeof name === 'string') : []
}

/** What of it this session has not dismissed, and how to dismiss one. */
const useNotices = () => {
  const situation = useSituation()
  const [dismissed, setDismissed] = useState(readDismissed)
  const notices = noticesOf(situation).filter(notice => !dismissed.includes(notice.kind))
  const dismiss = (notice: Notice) => {
    const all = [...dismissed, notice.kind].slice(-20)
    setDismissed(all)
    try {
      sessionStorage.setItem(place, JSON.stringify(all))
    } catch {
      // Then it comes back with the next reload.
    }
  }
  return { notices, dismiss }
}

/**
 * What needs attention and is no part of a page: a shape with a count in the top bar, which opens the list. It stands
 * left of all that is there already, so that nothing moves when it comes.
 */
export const Notices = ({ place }: { place: HTMLElement }) => {
  const t = textsOf(noticesTexts)
  const { notices, dismiss } = useNotices()
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const [heaviest] = notices
  const words = heaviest && wordsOf(heaviest)
  useEffect(() => {
    if (words !== undefined) announce(words)
  }, [words])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  if (!heaviest) return null
  const label = t.count(notices.length)
  const drop = (notice: Notice) => {
    dismiss(notice)
    if (notices.length > 1) return
    setOpen(false)
    document.querySelector<HTMLElement>('main')?.focus()
  }
  return createPortal(
    <div className={styles.notices}>
      <button
        ref={button}
        type="button"
        className={styles.button}
        data-tone={toneOf(heaviest)}
        aria-label={label}
        aria-expanded={open}
        title={words}
        onClick={() => setOpen(!open)}
      >
        <Shape tone={toneOf(heaviest)} />
        {notices.length}
      </button>
      {open && <Sheet notices={notices} onDismiss={drop} onClose={close} onGone={() => setOpen(false)} />}
    </div>,
    place,
  )
}

const Sheet = (props: {
  notices: readonly Notice[]
  onDismiss: (notice: Notice) => void
  onClose: () => void
  onGone: () => void
}) => {
  const { notices, onDismiss, onClose, onGone } = props
  const t = textsOf(noticesTexts)
  const heading = useRef<HTMLHeadingElement>(null)
  // Also when one is dismissed, since its button goes with it.
  useEffect(() => heading.current?.focus(), [notices.length])
  return (
    <section
      className={`${sheet.sheet} ${styles.sheet}`}
      aria-label={t.title}
      onKeyDown={event => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <header className={sheet.top}>
        <h2 className={parts.panelTitle} tabIndex={-1} ref={heading}>
          {t.title}
        </h2>
        <button type="button" className={sheet.close} aria-label={t.close} onClick={onClose}>
          <IconX size={16} />
        </button>
      </header>
      <ul className={styles.list}>
        {notices.map(notice => (
          <li key={notice.kind} data-notice={notice.kind}>
            <span className={styles.shape} data-tone={toneOf(notice)}>
              <Shape tone={toneOf(notice)} />
            </span>
            <p>
              <bdi>{wordsOf(notice)}</bdi> <Remedy notice={notice} onGone={onGone} />
            </p>
            <button
              type="button"
              className={sheet.close}
              aria-label={t.dismiss}
              title={t.dismiss}
              onClick={() => onDismiss(notice)}
            >
              <IconX size={16} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

const toneOf = (notice: Notice) => (notice.kind === 'version' ? 'info' : 'warn')

const wordsOf = (notice: Notice): string => {
  const t = textsOf(noticesTexts)
  switch (notice.kind) {
    case 'elsewhere':
      return t.elsewhere(ownAddress)
    case 'licence':
      return t.licence(number(notice.used), number(notice.limit))
    case 'siem':
      return t.siem(number(notice.waiting))
    case 'version':
      return t.version
  }
}

/** The way to what ends it. */
const Remedy = ({ notice, onGone }: { notice: Notice; onGone: () => void }): ReactNode => {
  const t = textsOf(noticesTexts)
  switch (notice.kind) {
    case 'elsewhere':
      return <a href={notice.address}>{notice.address}</a>
    case 'licence':
      return (
        <Link to="/settings/licence" onClick={onGone}>
          {t.toLicence}
        </Link>
      )
    case 'siem':
      return (
        <Link to="/siem/delivery" onClick={onGone}>
          {t.toSiem}
        </Link>
      )
    case 'version':
      return (
        <button type="button" className={parts.quiet} onClick={() => location.reload()}>
          {t.reload}
        </button>
      )
  }
}
