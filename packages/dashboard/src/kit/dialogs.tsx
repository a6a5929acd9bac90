import { Suspense } from 'react'
import type { ReactNode } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import styles from './dialogs.module.css'
import { useTypeAhead, useTypedAhead } from './type-ahead.ts'

/** The place of dialogs that are loaded when they open. What is typed meanwhile is for the dialog. */
export const Dialogs = ({ children }: { children: ReactNode }) => <Suspense fallback={<Opening />}>{children}</Suspense>

/** In sight only where loading takes long. */
const Opening = () => {
  useTypeAhead()
  const typed = useTypedAhead()
  return (
    <p className={styles.opening} role="status">
      {typed === '' ? textsOf(commonTexts).loading : <bdi>{typed}</bdi>}
    </p>
  )
}
