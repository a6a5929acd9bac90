import { Suspense, lazy, useEffect, useSyncExternalStore } from 'react'
import { IconSearch } from '@tabler/icons-react'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { findTexts } from './find.texts.ts'
import styles from './find.module.css'

const FindDialog = lazy(() => import('./find-dialog.tsx'))
const mac = /Mac|iP(hone|ad|od)/.test(navigator.platform)

let opened = false
const watchers = new Set<() => void>()
const setOpen = (is: boolean) => {
  opened = is
  for (const tell of watchers) tell()
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

/** What looks like the box and opens it; there may be several on a page. */
export const FindButton = () => {
  const t = textsOf(findTexts)
  return (
    <button type="button" className={styles.box} onClick={() => setOpen(true)} aria-keyshortcuts="Control+K Meta+K">
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
  const open = useSyncExternalStore(watch, () => opened)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', press)
    return () => {
      removeEventListener('keydown', press)
      opened = false
    }
  }, [])
  return (
    <>
      <FindButton />
      {open && (
        <Suspense>
          <FindDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
