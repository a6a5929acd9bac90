import '@mantine/core/styles/CloseButton.css'
import '@mantine/core/styles/ScrollArea.css'
import '@mantine/core/styles/Paper.css'
import '@mantine/core/styles/Overlay.css'
import '@mantine/core/styles/ModalBase.css'
import '@mantine/core/styles/Modal.css'
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { Modal } from '@mantine/core'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import styles from './modal.module.css'
import { useTypeAhead } from './type-ahead.ts'
import { usePhone } from './width.ts'

/** A dialog; the whole screen on phones. Loaded when the first one opens. */
export const Dialog = (props: { title: string; wide?: boolean; onClose: () => void; children: ReactNode }) => {
  const phone = usePhone()
  useTypeAhead()
  // It is there only while it is open, so it gives the focus back itself.
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      setTimeout(() => opener instanceof HTMLElement && opener.isConnected && opener.focus())
    },
    [opener],
  )
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={props.title}
      fullScreen={phone}
      size={props.wide ? 640 : 480}
      overlayProps={{ backgroundOpacity: 0.45 }}
      returnFocus={false}
      classNames={{ content: styles.content ?? '', header: styles.header ?? '', title: styles.title ?? '' }}
      // Within a dialog it is no banner of the page.
      attributes={{ header: { role: 'presentation' } }}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': textsOf(commonTexts).close, size: phone ? 44 : 32 }}
    >
      {props.children}
    </Modal>
  )
}
