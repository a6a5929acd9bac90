import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import parts from './parts.module.css'

interface Leaving {
  readonly onClick: () => void
  readonly focus?: boolean
}
/** Leaves a dialog without what it asks for. */
export const CancelButton = ({ onClick, focus }: Leaving) => (
  <Button variant="default" onClick={onClick} data-autofocus={focus || undefined}>
    {textsOf(commonTexts).cancel}
  </Button>
)
export const CloseButton = ({ onClick, focus }: Leaving) => (
  <Button variant="default" onClick={onClick} data-autofocus={focus || undefined}>
    {textsOf(commonTexts).close}
  </Button>
)

/** The end of a form in a dialog: what it does, what else can be done, and Cancel. */
export const DialogButtons = (props: {
  verb: string
  isRunning?: boolean
  onCancel: () => void
  children?: ReactNode
}) => (
  <div className={parts.row}>
    <Button type="submit" loading={props.isRunning ?? false}>
      {props.verb}
    </Button>
    {props.children}
    <CancelButton onClick={props.onCancel} />
  </div>
)
