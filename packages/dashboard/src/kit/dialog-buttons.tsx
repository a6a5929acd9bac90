import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import parts from './parts.module.css'

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
    <Button variant="default" onClick={props.onCancel}>
      {textsOf(commonTexts).cancel}
    </Button>
  </div>
)
