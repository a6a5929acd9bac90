import type { ReactNode } from 'react'
import { Dialog } from './modal.tsx'
import { PlainForm } from './plain-form.tsx'

/** A dialog that is one form. */
export const FormDialog = (props: {
  title: string
  wide?: boolean
  onClose: () => void
  onSubmit: () => void
  children: ReactNode
}) => {
  const { onSubmit, children, ...dialog } = props
  return (
    <Dialog {...dialog}>
      <PlainForm onSubmit={onSubmit}>{children}</PlainForm>
    </Dialog>
  )
}
