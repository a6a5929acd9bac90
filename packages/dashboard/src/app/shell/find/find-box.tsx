import { lazy, useEffect } from 'react'
import { IconSearch } from '@tabler/icons-react'
import { createShared } from '../../../lib/shared.ts'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { Dialogs } from '../../../kit/dialogs.tsx'
import { findTexts } from './find.texts.ts'
import styles from './find.module.css'

const load = () => import('./find-dialog.tsx')
const FindDialog = lazy(load)
const mac = /Mac|iP(hone|ad|od)/.test(navigator.platform)

const opened = createShared(false)
/** In milliseconds. */
const preloadAfter = 3000

/** What looks like the box and opens it; there may be several on a page. */
export const FindButton = () => {
  const t = textsOf(findTexts)
  return (
    <button type="button" className={styles.box} onClick={() => opened.set(true)} aria-keyshortcuts="Control+K Meta+K">
      <IconSearch size={16} />
      <span className={styles.words}>{t.label}</span>
      <kbd className={styles.key} aria-hidden="true">
        {mac ? t.shortcutMac : t.shortcut}
      </kbd>
    </button>
  )
}

/** The one box for everything: an address, a name, a page, an action. Ctrl K opens it from anywhere. */
export const FindBox = () => {
  const open = opened.use()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      opened.set(true)
    }
    addEventListener('keydown', press)
    // Once the page has what it needs, so that the box opens at once, however slow the line is by then.
    const idle = setTimeout(() => void load().catch(() => undefined), preloadAfter)
    return () => {
      clearTimeout(idle)
      removeEventListener('keydown', press)
      opened.set(false)
    }
  }, [])
  return (
    <>
      <FindButton />
      {open && (
        <Dialogs>
          <FindDialog onClose={() => opened.set(false)} />
        </Dialogs>
      )}
    </>
  )
}
