import { Suspense, lazy, useEffect } from 'react'
import { IconSearch } from '@tabler/icons-react'
import { createShared } from '../../../lib/shared.ts'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { findTexts } from './find.texts.ts'
import styles from './find.module.css'

const FindDialog = lazy(() => import('./find-dialog.tsx'))
const mac = /Mac|iP(hone|ad|od)/.test(navigator.platform)

const opened = createShared(false)

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
    return () => {
      removeEventListener('keydown', press)
      opened.set(false)
    }
  }, [])
  return (
    <>
      <FindButton />
      {open && (
        <Suspense>
          <FindDialog onClose={() => opened.set(false)} />
        </Suspense>
      )}
    </>
  )
}
