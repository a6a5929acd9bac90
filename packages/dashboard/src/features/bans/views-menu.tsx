import { useEffect, useMemo, useRef, useState } from 'react'
import { IconBookmark } from '@tabler/icons-react'
import { queryTerm } from '@stockade/contract/query/index.ts'
import { useMe } from '../../api/session.ts'
import { Views } from '../../kit/views.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { attackersTexts } from './attackers.texts.ts'
import { bansTexts } from './bans.texts.ts'
import styles from './views-menu.module.css'

const BuiltViews = () => {
  const t = textsOf(bansTexts).views
  const name = useMe()?.username
  const views = useMemo(() => {
    const of = (q: string) => new URLSearchParams({ q }).toString()
    return [
      { name: t.active, search: of('state:active') },
      { name: t.today, search: 'from=today' },
      { name: t.repeat, search: of('times:>=3') },
      ...(name === undefined ? [] : [{ name: t.mine, search: of(queryTerm('by', name)) }]),
      { name: t.manual, search: of('-by:engine') },
    ]
  }, [t, name])
  return <Views list="bans" path="/bans" builtIn={views} />
}

/** Views of the list by name, those that come along and those that were saved. */
export const ViewsMenu = () => {
  const t = textsOf(attackersTexts)
  const [open, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!open) return
    const away = (event: Event) => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) setOpen(false)
    }
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      setOpen(false)
      button.current?.focus()
    }
    addEventListener('pointerdown', away)
    addEventListener('keydown', press, true)
    return () => {
      removeEventListener('pointerdown', away)
      removeEventListener('keydown', press, true)
    }
  }, [open])
  return (
    <div className={styles.place} ref={place}>
      <button
        ref={button}
        type="button"
        className={`${parts.icon ?? ''} ${parts.edged ?? ''} ${styles.button ?? ''}`}
        aria-expanded={open}
        aria-label={t.views}
        title={t.views}
        onClick={() => setOpen(!open)}
      >
        <IconBookmark size={16} />
      </button>
      {open && (
        <div
          className={styles.menu}
          // A view that was chosen is shown at once; saving and renaming go on.
          onClick={event => event.target instanceof Element && event.target.closest('a') && setOpen(false)}
        >
          <BuiltViews />
        </div>
      )}
    </div>
  )
}
